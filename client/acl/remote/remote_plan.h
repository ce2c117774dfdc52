// Phase one on a server.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <opserve/session.h>

#include "client/acl/provider/provider.h"
#include "client/acl/remote/known_plans.h"
#include "client/acl/remote/server_session.h"

namespace opserve::acl {

class RemotePlan final : public ProvidedPlan {
 public:
  // Whether the server has said that it has made the executor, or is believed to.
  enum class Made : uint8_t { kSaid, kBelieved };

  RemotePlan(ServerSession& session, client::Executor executor, int64_t workspace_bytes, Made made)
      : session_(session),
        executor_(std::move(executor)),
        workspace_bytes_(workspace_bytes),
        made_(made) {}

  int64_t workspace_bytes() const override { return workspace_bytes_; }
  absl::Status SetStorages(
      std::span<const std::pair<std::string_view, MemoryView>> storages) override;

  const client::Executor& executor() const { return executor_; }
  Made made() const { return made_; }

 private:
  ServerSession& session_;
  client::Executor executor_;
  const int64_t workspace_bytes_;
  const Made made_;
};

// Waits for the server's answer, unless it is one of `known`; for two where the operator writes
// outputs that the program leaves out. `nothing`: a buffer for tensors without elements.
absl::StatusOr<std::shared_ptr<ProvidedPlan>> MakeRemotePlan(ServerSession& session,
                                                             client::Context context,
                                                             const client::DeviceBuffer& nothing,
                                                             const OperatorCall& call,
                                                             KnownPlans& known);

}  // namespace opserve::acl
