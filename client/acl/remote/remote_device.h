// One device of a server, as the C interface sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <opserve/session.h>

#include "absl/time/time.h"
#include "client/acl/provider/provider.h"
#include "client/acl/remote/known_plans.h"
#include "client/acl/remote/server_session.h"
#include "client/acl/remote/transfers.h"

namespace opserve::acl {

class RemoteDevice final : public ProvidedDevice {
 public:
  static absl::StatusOr<std::unique_ptr<RemoteDevice>> Open(ServerSession& session,
                                                            const std::string& name,
                                                            absl::Time deadline);

  RemoteDevice(ServerSession& session, client::Context context, client::DeviceBuffer nothing,
               client::Stream transfers, client::Event transfers_end)
      : session_(session),
        context_(std::move(context)),
        nothing_(std::move(nothing)),
        transfers_(session, std::move(transfers), std::move(transfers_end)) {}

  // Waits for the server's answer, as do CreateStream and CreateEvent: the program is told here
  // when there is no room.
  absl::StatusOr<std::shared_ptr<ProvidedMemory>> Allocate(int64_t bytes) override;
  // Of the session's limit and the device's the one that leaves less.
  absl::StatusOr<MemoryState> QueryMemory() override;

  absl::Status Upload(const MemoryView& to, std::span<const std::byte> from) override;
  absl::Status Download(const MemoryView& from, std::span<std::byte> to) override;
  absl::Status Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) override;
  absl::Status Fill(const MemoryView& to, std::byte value, int64_t bytes) override;

  absl::StatusOr<std::shared_ptr<ProvidedStream>> CreateStream() override;
  absl::StatusOr<std::shared_ptr<ProvidedEvent>> CreateEvent() override;
  absl::StatusOr<std::shared_ptr<ProvidedPlan>> MakePlan(const OperatorCall& call) override;

 private:
  ServerSession& session_;
  client::Context context_;
  const client::DeviceBuffer nothing_;
  Transfers transfers_;
  KnownPlans known_plans_;
};

}  // namespace opserve::acl
