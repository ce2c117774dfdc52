// The objects of one kind that a session has, by the ids that its client chose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::server {

// What became of an object that could not be made.
struct FailedObject {
  uint64_t command = 0;
  std::string cause;  // empty where it is not kept
};

// Not thread-safe.
template <typename T>
class ObjectTable {
 public:
  // Errors name `kind` as the parameter: "stream".
  explicit ObjectTable(std::string_view kind) : kind_(kind) {}

  size_t size() const { return objects_.size(); }
  std::string_view kind() const { return kind_; }

  // 161001 for id 0, 161002 for one that is in use.
  absl::Status CheckNew(uint64_t id) const {
    if (id == 0) return MissingParameter(kind_, "an id > 0");
    if (!objects_.contains(id)) return absl::OkStatus();
    return Refusal(ErrorReason::kIdInUse, "an id that is not in use",
                   absl::StrCat(id, ", which is in use"));
  }

  void Add(uint64_t id, T object) {
    failed_.erase(id);
    objects_.emplace(id, std::move(object));
  }

  // Remembers that `command` could not make it, among the last kMaxFailed; and why, of the first
  // few of these, which others follow from.
  void AddFailed(uint64_t id, uint64_t command, const absl::Status& status) {
    if (id == 0 || objects_.contains(id)) return;
    if (failed_.size() >= kMaxFailed) failed_.clear();
    const std::string_view message = ToStd(status.message());
    const bool is_told = failed_.size() < kMaxCauses && message.size() <= kMaxCauseBytes;
    failed_[id] = {command, std::string(is_told ? message : "")};
  }

  // 161001 for id 0, 161002 for one that is not there. Valid until the next Add or Erase.
  absl::StatusOr<T*> Find(uint64_t id) {
    if (id == 0) return MissingParameter(kind_, "an id > 0");
    const auto at = objects_.find(id);
    if (at != objects_.end()) return &at->second;
    std::string want =
        absl::StrCat("the id of one that is there (", static_cast<std::string>(kind_), ")");
    const auto failed = failed_.find(id);
    if (failed == failed_.end()) {
      return Refusal(ErrorReason::kObjectNotFound, std::move(want),
                     absl::StrCat(id, ", which was never made or is gone"));
    }
    const auto& [command, cause] = failed->second;
    return Refusal(ErrorReason::kObjectNotFound, std::move(want),
                   absl::StrCat(id, ", which command ", command, " failed to make",
                                cause.empty() ? "" : ": ", cause));
  }

  // Of one that failed to be made: nothing is left to destroy.
  absl::Status Erase(uint64_t id) {
    if (failed_.erase(id) > 0) return absl::OkStatus();
    const absl::StatusOr<T*> found = Find(id);
    if (found.ok()) objects_.erase(id);
    return found.status();
  }

  template <typename Predicate>
  void EraseIf(Predicate predicate) {
    absl::erase_if(objects_, [&](const auto& entry) { return predicate(entry.second); });
  }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [id, object] : objects_) visit(object);
  }

  void Clear() { objects_.clear(); }

 private:
  absl::Status Refusal(ErrorReason reason, std::string want, std::string got) const {
    return MakeError({.reason = reason,
                      .op = {},
                      .parameter = static_cast<std::string>(kind_),
                      .want = std::move(want),
                      .got = std::move(got)});
  }

  static constexpr size_t kMaxFailed = 1024;
  static constexpr size_t kMaxCauses = 32;
  static constexpr size_t kMaxCauseBytes = 512;

  const std::string_view kind_;
  absl::flat_hash_map<uint64_t, T> objects_;
  absl::flat_hash_map<uint64_t, FailedObject> failed_;
};

}  // namespace opserve::server
