// A session that is opened again if its server stops or is lost, and whose contents are rebuilt.
//
//   struct Model { Context context; Stream stream; DeviceTensor weights; };
//   std::optional<Model> model;
//   std::vector<float> saved = …;  // of the weights, in this program
//   auto resident = ResidentSession::Open(*client, [&](Session& session) {
//     Context c = session.CreateContext();
//     model.emplace(Model{c, c.CreateStream(), c.NewTensor(DType::kFloat32, {n})});
//     return model->stream.Upload(model->weights, TensorView::Of(saved, {n}));
//   });
//   if (!resident.ok()) return resident.status();
//   for (…) RETURN_IF_ERROR(resident->Run([&](Session&) { return Step(*model, saved); }));
//
// A server keeps nothing of a session that has ended. So the program says how to rebuild the
// contents of a session from its own data (Rebuild). It gives its work in pieces (Run), each of
// which can be repeated from the last state that the program saved.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <opserve/client.h>
#include <opserve/session.h>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace opserve::client {

struct ReconnectOptions {
  // How long one Open, Run or Reconnect may search for a server that takes the session, the first
  // try included. After that the call fails with the error of the last try. The waits between two
  // tries are those of ConnectOptions::tries.
  absl::Duration timeout = absl::Minutes(1);
  // How often Run does its work if sessions keep ending, the first time included; at least 1. It is
  // for work that itself ends the server, which would otherwise repeat without a limit.
  int tries = 10;
  // Makes the options of each session; empty: the defaults. A timeout counts for each session.
  std::function<SessionOptions()> session = {};
};

// Movable. One thread uses it at a time; its session is as thread-safe as any.
class ResidentSession {
 public:
  // Makes the contents of a new session: contexts, streams, tensors and their values. Called by
  // Open, Run and Reconnect, on their thread. Handles of the session before are invalid here, so
  // replace them. If it fails because the session has ended, another session is tried; any other
  // error ends the call.
  using Rebuild = absl::AnyInvocable<absl::Status(Session& session)>;
  // A piece of work. It must fail if the session ends, so it waits for the commands that it has
  // sent (Synchronize, Download) before it returns OK.
  using Work = absl::FunctionRef<absl::Status(Session& session)>;

  // Opens the first session and builds its contents. 161002 for options that make no sense.
  static absl::StatusOr<ResidentSession> Open(Client client, Rebuild rebuild,
                                              ReconnectOptions options = {});

  // Does the work. If the session ends because its server stops or is lost (UNAVAILABLE), or the
  // server has said that it is stopping, a new session is opened on any server of the target. Its
  // contents are built, and the work is done again from its beginning.
  // Any other failure of the work is returned as it is. So is the end of a session for another
  // reason: its deadline, Cancel, or a server that breaks the protocol. Call Reconnect to go on
  // after that.
  absl::Status Run(Work work);

  // Opens a new session now and builds its contents. The session before ends, if it has not ended
  // yet.
  absl::Status Reconnect();

  // The session now. After a failure to find a server, the one that has ended.
  Session& session() { return *session_; }
  // How many sessions came after the first.
  int64_t reconnects() const { return reconnects_; }

 private:
  ResidentSession(Client client, Rebuild rebuild, ReconnectOptions options)
      : client_(std::move(client)), rebuild_(std::move(rebuild)), options_(std::move(options)) {}

  // One session, opened and built by `deadline`.
  absl::StatusOr<Session> TryOnce(absl::Time deadline);
  // The first that comes about.
  absl::Status OpenAnew();

  Client client_;
  Rebuild rebuild_;
  ReconnectOptions options_;
  std::optional<Session> session_;
  int64_t reconnects_ = 0;
};

}  // namespace opserve::client
