#include "server/shared_memory/named_region_table.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

// As limits count clients; 0 is ClientId::kNone.
ClientId HolderOf(const LocalUser& who) {
  return ClientId{std::max<uint64_t>(1, absl::HashOf(who))};
}

// Clients of Triton's know a name that is taken by the code.
absl::Status NameInUse(const std::string& name) {
  const absl::Status status =
      MakeError({.reason = ErrorReason::kIdInUse,
                 .op = {},
                 .parameter = "name",
                 .want = "a name that no region of the client has (unregister that region first)",
                 .got = Quoted(name)});
  absl::Status exists(absl::StatusCode::kAlreadyExists, status.message());
  status.ForEachPayload([&exists](absl::string_view type, const absl::Cord& payload) {
    exists.SetPayload(type, payload);
  });
  return exists;
}

}  // namespace

absl::Status NamedRegionTable::Register(const LocalUser& who, NamedRegionSpec spec) {
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<const NamedRegion> region,
                           NamedRegion::Open(std::move(spec), who.user));
  const MutexLock lock(mutex_);
  ByName& own = regions_[who];
  const std::string& name = region->spec().name;
  if (own.contains(name)) return NameInUse(name);
  if (places_.Take(HolderOf(who), 1) != SharedLimit::Verdict::kGranted) {
    const int64_t most = places_.MostOf(HolderOf(who));
    if (own.empty()) regions_.erase(who);
    return MakeError({.reason = ErrorReason::kResourceLimit,
                      .op = {},
                      .parameter = "regions",
                      .want = absl::StrCat("at most ", kMaxNamedRegions, ", and of them ", most,
                                           " of one client now"),
                      .got = "one more"});
  }
  own.emplace(name, std::move(region));
  return absl::OkStatus();
}

void NamedRegionTable::Unregister(const LocalUser& who, std::string_view name) {
  ByName gone;  // closes descriptors without the lock
  const MutexLock lock(mutex_);
  const auto found = regions_.find(who);
  if (found == regions_.end()) return;
  if (name.empty()) {
    gone.swap(found->second);
  } else if (auto node = found->second.extract(ToAbsl(name)); !node.empty()) {
    gone.insert(std::move(node));
  }
  places_.Return(HolderOf(who), static_cast<int64_t>(gone.size()));
  if (found->second.empty()) regions_.erase(found);
}

std::shared_ptr<const NamedRegion> NamedRegionTable::Find(const LocalUser& who,
                                                          std::string_view name) const {
  const MutexLock lock(mutex_);
  const auto own = regions_.find(who);
  if (own == regions_.end()) return nullptr;
  const auto found = own->second.find(ToAbsl(name));
  return found == own->second.end() ? nullptr : found->second;
}

NamedRegionTable::Regions NamedRegionTable::List(const LocalUser& who) const {
  Regions all;
  const MutexLock lock(mutex_);
  const auto own = regions_.find(who);
  if (own == regions_.end()) return all;
  for (const auto& [name, region] : own->second) all.push_back(region);
  return all;
}

NamedRegionTable::Stats NamedRegionTable::stats() const {
  Stats stats;
  const MutexLock lock(mutex_);
  for (const auto& [who, own] : regions_) {
    for (const auto& [name, region] : own) {
      ++stats.regions;
      stats.bytes += static_cast<double>(region->spec().byte_size);
    }
  }
  return stats;
}

}  // namespace opserve::server
