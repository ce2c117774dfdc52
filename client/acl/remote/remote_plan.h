// Phase one on a server.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "client/acl/provider.h"
#include "client/acl/remote/server_session.h"
#include "client/cpp/session.h"
#include "core/base/mutex.h"

namespace opserve::acl {

class RemotePlan final : public ProvidedPlan {
 public:
  // What a tensor of the call reaches.
  struct Reach {
    std::string_view name;
    MemoryView storage;
    int64_t bytes = 0;
  };

  RemotePlan(ServerSession& session, client::Executor executor, int64_t workspace_bytes,
             std::vector<Reach> tensors)
      : session_(session),
        executor_(std::move(executor)),
        workspace_bytes_(workspace_bytes),
        tensors_(std::move(tensors)) {}

  int64_t workspace_bytes() const override { return workspace_bytes_; }
  absl::Status SetStorages(
      std::span<const std::pair<std::string_view, MemoryView>> storages) override;

  // 161002 when it is too small, not aligned, or overlaps a tensor.
  absl::Status CheckWorkspace(const MemoryView& workspace) const;

  const client::Executor& executor() const { return executor_; }

 private:
  ServerSession& session_;
  client::Executor executor_;
  const int64_t workspace_bytes_;
  mutable Mutex mutex_;
  std::vector<Reach> tensors_ ABSL_GUARDED_BY(mutex_);
};

// Asks the server, once. `nothing`: a buffer for tensors without elements.
absl::StatusOr<std::shared_ptr<ProvidedPlan>> MakeRemotePlan(ServerSession& session,
                                                             client::Context context,
                                                             const client::DeviceBuffer& nothing,
                                                             const OperatorCall& call);

}  // namespace opserve::acl
