// One client of shared memory: its requests, and the regions that are its own.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "core/base/unique_fd.h"
#include "opserve/v1/shared_memory.pb.h"
#include "server/shared_memory/region_table.h"

namespace opserve::server {

inline constexpr size_t kMaxMemoryRequestBytes = 4096;

// An answer for the wire.
struct MemoryAnswer {
  std::string bytes;     // a SharedMemoryResponse
  UniqueFd fd;           // goes with it, if it is open
  bool is_last = false;  // the connection is to be closed
};

// The answer that tells of an error.
MemoryAnswer RefuseMemory(const absl::Status& status, bool is_last);

// Its regions are released with it. Not thread-safe.
class RegionOwner {
 public:
  // `table` must outlive it.
  explicit RegionOwner(RegionTable& table) : table_(table) {}
  ~RegionOwner();
  RegionOwner(const RegionOwner&) = delete;
  RegionOwner& operator=(const RegionOwner&) = delete;

  // Handles one packet, of any bytes.
  MemoryAnswer Handle(std::span<const std::byte> packet);

  // When it goes, what its regions hold stays for those that map them.
  void KeepContents() { contents_ = RegionTable::Contents::kKept; }

 private:
  MemoryAnswer Allocate(const v1::AllocateRegionCommand& request);
  MemoryAnswer Release(const v1::ReleaseRegionCommand& request);

  RegionTable& table_;
  RegionTable::Contents contents_ = RegionTable::Contents::kDiscarded;
  absl::flat_hash_set<std::string> ids_;
};

}  // namespace opserve::server
