#include "client/acl/operator_executor.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::acl {

absl::Status OperatorExecutor::SetStorage(size_t tensor, MemoryView storage) {
  if (!repeatable_)
    return WithOperator(InvalidParameter("executor", "a repeatable one", "another"), op_);
  if (tensor >= tensors_.size()) {
    return WithOperator(
        InvalidParameter("index", absl::StrCat("one of ", tensors_.size(), " tensors"),
                         absl::StrCat(tensor)),
        op_);
  }
  const std::string_view name = tensors_[tensor];
  MutexLock lock(mutex_);
  const auto same = std::find_if(new_storages_.begin(), new_storages_.end(),
                                 [&](const auto& entry) { return entry.first == name; });
  if (same != new_storages_.end()) {
    same->second = std::move(storage);
  } else {
    new_storages_.emplace_back(name, std::move(storage));
  }
  return absl::OkStatus();
}

absl::Status OperatorExecutor::Execute(ProvidedStream& stream, const MemoryView& workspace) {
  MutexLock lock(mutex_);
  if (!new_storages_.empty()) {
    OPSERVE_RETURN_IF_ERROR(plan_->SetStorages(new_storages_));
    new_storages_.clear();
  }
  return stream.Execute(*plan_, workspace);
}

}  // namespace opserve::acl
