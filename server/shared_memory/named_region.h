// Shared memory objects of clients (shm_open), as the Open Inference Protocol registers them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/unique_fd.h"
#include "server/shared_memory/guarded_mapping.h"

namespace opserve::server {

// Of an object's name after its slash, and of a region's name.
inline constexpr size_t kMaxRegionName = 255;

// What a client registers: so many bytes of an object, from `offset` on.
struct NamedRegionSpec {
  std::string name;
  std::string key;  // the object's name, with a slash at its beginning or without
  uint64_t offset = 0;
  uint64_t byte_size = 0;
};

// A region of an object that is open here. Its client may write the object, make it shorter and
// longer at any time. Thread-safe.
class NamedRegion {
 public:
  // Opens the object, which must be the user's own and have the bytes now. Errors: 161002 naming
  // `name`, `key`, `offset` or `byte_size`; PERMISSION_DENIED for an object of another user, or one
  // that this process may not open.
  static absl::StatusOr<std::shared_ptr<const NamedRegion>> Open(NamedRegionSpec spec, uid_t user);
  NamedRegion(const NamedRegion&) = delete;
  NamedRegion& operator=(const NamedRegion&) = delete;

  const NamedRegionSpec& spec() const { return spec_; }

  // Whether it has `bytes` from `offset` on. 161002 naming `tensor`.
  absl::Status CheckInside(uint64_t offset, uint64_t bytes, std::string_view tensor) const;

  // Of what CheckInside allows, to be read where they are. nullptr where they must be copied: the
  // object has pages that nobody wrote (reading would make them, at this process' cost), or is
  // shorter now.
  std::unique_ptr<const GuardedMapping> Map(uint64_t offset, uint64_t bytes) const;
  // 161002 naming `tensor` when the object became shorter while they were read.
  absl::Status CheckUncut(const GuardedMapping& mapping, std::string_view tensor) const;

  // Of what CheckInside allows; 161002 naming `tensor` where the object has become shorter.
  absl::Status Read(uint64_t offset, std::span<std::byte> out, std::string_view tensor) const;
  absl::Status Write(uint64_t offset, std::span<const std::byte> bytes,
                     std::string_view tensor) const;

 private:
  NamedRegion(NamedRegionSpec spec, UniqueFd object)
      : spec_(std::move(spec)), object_(std::move(object)) {}

  const NamedRegionSpec spec_;
  const UniqueFd object_;
};

}  // namespace opserve::server
