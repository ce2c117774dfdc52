// A session that is opened anew where its server stops or is lost, with what lay on it made again.
//
//   struct Model { Context context; Stream stream; DeviceTensor weights; };
//   std::optional<Model> model;
//   std::vector<float> saved = …;  // of the weights, in this program
//   auto resident = ResidentSession::Open(*client, [&](Session& session) {
//     Context context = session.CreateContext();
//     model.emplace(Model{context, context.CreateStream(), context.NewTensor(DType::kFloat32,
//     {n})}); return model->stream.Upload(model->weights, TensorView::Of(saved, {n}));
//   });
//   if (!resident.ok()) return resident.status();
//   for (…) RETURN_IF_ERROR(resident->Run([&](Session&) { return Step(*model, saved); }));
//
// A server keeps nothing of a session that has ended. So the program says how to make what is to
// lie there (Rebuild), from what it has itself, and gives its work in pieces (Run) of which each
// can be done again from the last state that the program saved.
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
  // How long one Open, Run or Reconnect may look for a server that takes the session, the first
  // included; beyond it the call fails with what the last try ended with. Between two tries it
  // waits as long as ConnectOptions::tries has it.
  absl::Duration timeout = absl::Minutes(1);
  // How often Run does its work, the first time included, where session after session ends; 1 or
  // more. A work that itself ends the server would go on for ever.
  int tries = 10;
  // The options of each session; the defaults where it is empty. Its time-out counts for each anew.
  std::function<SessionOptions()> session = {};
};

// Movable. One thread uses it at a time; its session is as thread-safe as any.
class ResidentSession {
 public:
  // Makes on a new session all that is to lie there: contexts, streams, tensors and what is in
  // them. Called by Open, Run and Reconnect, on their thread. Handles of the session before mean
  // nothing on this one: let go of them. Where it fails as the session has ended another one is
  // tried; any other error ends the call.
  using Rebuild = absl::AnyInvocable<absl::Status(Session& session)>;
  // A piece of work, which ends with an error of the session's where the session has ended: so it
  // waits for what it has begun (Synchronize, Download) before it says OK.
  using Work = absl::FunctionRef<absl::Status(Session& session)>;

  // Opens the first session and builds what is to lie there. 161002 for options that make no sense.
  static absl::StatusOr<ResidentSession> Open(Client client, Rebuild rebuild,
                                              ReconnectOptions options = {});

  // Does the work. Where the session ends meanwhile because its server stops or is lost
  // (UNAVAILABLE), and where its server has said that it is stopping, the session is opened anew,
  // on whatever server of the target takes it, everything is built, and the work is done again from
  // its beginning. Any other failure is the work's own and comes back as it is; so does the end of
  // a session for another reason (its deadline, Cancel, a server that talks nonsense), after which
  // Reconnect begins anew.
  absl::Status Run(Work work);

  // Opens another session now, and builds everything there. The one before ends, if it has not
  // ended.
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
