#include "client/acl/objects/operator_executor.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/in_place.h"
#include "core/op/op_table.h"

namespace opserve::acl {

absl::Status OperatorExecutor::SetStorage(size_t tensor, MemoryView storage) {
  if (!repeatable_)
    return WithOperator(InvalidParameter("executor", "a repeatable one", "another"), op_);
  MutexLock lock(mutex_);
  if (tensor >= tensors_.size()) {
    return WithOperator(
        InvalidParameter("index", absl::StrCat("one of ", tensors_.size(), " tensors"),
                         absl::StrCat(tensor)),
        op_);
  }
  const std::string_view name = tensors_[tensor].name;
  const auto same = std::find_if(new_storages_.begin(), new_storages_.end(),
                                 [&](const auto& entry) { return entry.first == name; });
  if (same != new_storages_.end()) {
    same->second = std::move(storage);
  } else {
    new_storages_.emplace_back(name, std::move(storage));
  }
  return absl::OkStatus();
}

absl::Status OperatorExecutor::TakeNewStorages() {
  if (new_storages_.empty()) return absl::OkStatus();
  OPSERVE_ASSIGN_OR_RETURN(const Operator* const op, FindOperator(op_));
  std::vector<std::pair<std::string_view, MemoryView>> all = new_storages_;
  // What is written over an input goes where that is.
  for (const auto& [name, storage] : new_storages_) {
    const int output = OutputInPlaceOf(*op, op->FindInput(name));
    if (output >= 0) all.emplace_back(op->outputs[static_cast<size_t>(output)].name, storage);
  }
  OPSERVE_RETURN_IF_ERROR(plan_->SetStorages(all));
  for (BoundTensor& tensor : tensors_) {
    for (auto& [name, storage] : new_storages_) {
      if (name == tensor.name) tensor.storage = std::move(storage);
    }
  }
  new_storages_.clear();
  return absl::OkStatus();
}

absl::Status OperatorExecutor::CheckApart(const MemoryView& workspace) const {
  if (workspace.memory == nullptr) return absl::OkStatus();
  const int64_t end = workspace.offset_bytes + workspace_bytes();
  for (const BoundTensor& tensor : tensors_) {
    const int64_t start = tensor.storage.offset_bytes;
    if (tensor.storage.memory != workspace.memory || start >= end ||
        workspace.offset_bytes >= start + tensor.bytes)
      continue;
    return InvalidParameter("workspace",
                            absl::StrCat("memory apart from that of ", std::string(tensor.name)),
                            "memory that overlaps it");
  }
  return absl::OkStatus();
}

absl::Status OperatorExecutor::Execute(ProvidedStream& stream, const MemoryView& workspace) {
  MutexLock lock(mutex_);
  OPSERVE_RETURN_IF_ERROR(TakeNewStorages());
  OPSERVE_RETURN_IF_ERROR(CheckApart(workspace));
  return stream.Execute(*plan_, workspace);
}

}  // namespace opserve::acl
