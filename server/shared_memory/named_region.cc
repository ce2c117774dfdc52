#include "server/shared_memory/named_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

absl::Status Denied(std::string want, std::string got) {
  return MakeError({.reason = ErrorReason::kPermissionDenied,
                    .op = {},
                    .parameter = "key",
                    .want = std::move(want),
                    .got = std::move(got)});
}

// The object's name as shm_open takes it.
absl::StatusOr<std::string> ObjectName(std::string_view key) {
  const std::string_view name = key.starts_with('/') ? key.substr(1) : key;
  const bool is_name = !name.empty() && name.size() <= kMaxRegionName && name != "." &&
                       name.find("..") == std::string_view::npos &&
                       name.find('/') == std::string_view::npos &&
                       name.find('\0') == std::string_view::npos;
  if (is_name) return absl::StrCat("/", ToAbsl(name));
  return InvalidParameter(
      "key",
      absl::StrCat("the name of a shared memory object: at most ", kMaxRegionName,
                   " bytes, one slash or none before it, "
                   "neither slashes nor \"..\" in it"),
      name.size() > kMaxRegionName ? absl::StrCat(name.size(), " bytes") : Quoted(key));
}

absl::Status NotOpened(const std::string& object, int error) {
  if (error == ENOENT) return InvalidParameter("key", "a shared memory object that exists", object);
  if (error == EACCES || error == EPERM) {
    return Denied("an object that the server's user may read and write",
                  absl::StrCat(object, ", which it may not"));
  }
  return InvalidParameter("key", "a shared memory object that can be opened",
                          absl::StrCat(object, ", ", std::strerror(error)));
}

// What may be written to without a signal.
uint64_t MostFileBytes() {
  rlimit limit = {};
  const bool is_bound = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_bound ? limit.rlim_cur : std::numeric_limits<off_t>::max();
}

absl::Status CheckBytes(const NamedRegionSpec& spec, uint64_t object_bytes) {
  if (spec.offset > object_bytes) {
    return OutOfRange("offset", absl::StrCat("at most the object's ", object_bytes, " bytes"),
                      absl::StrCat(spec.offset));
  }
  const uint64_t most = object_bytes - spec.offset;
  if (spec.byte_size > 0 && spec.byte_size <= most) return absl::OkStatus();
  return OutOfRange(
      "byte_size",
      absl::StrCat("from 1 to ", most, ", what the object has from offset ", spec.offset, " on"),
      absl::StrCat(spec.byte_size));
}

absl::Status CheckObject(int object, const NamedRegionSpec& spec, uid_t user) {
  struct stat about = {};
  if (::fstat(object, &about) != 0 || !S_ISREG(about.st_mode))
    return InvalidParameter("key", "a shared memory object", Quoted(spec.key));
  if (about.st_uid != user) {
    return Denied(absl::StrCat("an object of the client's user, ", user),
                  absl::StrCat("one of user ", about.st_uid));
  }
  return CheckBytes(spec, std::min(static_cast<uint64_t>(about.st_size), MostFileBytes()));
}

absl::Status TooShort(std::string_view tensor, const NamedRegionSpec& spec) {
  return OutOfRange(tensor,
                    absl::StrCat("a shared memory object as long as when region ",
                                 Quoted(spec.name), " was registered"),
                    "a shorter one");
}

absl::Status Failed(std::string_view tensor, const NamedRegionSpec& spec, int error) {
  return InvalidParameter(
      tensor, absl::StrCat("bytes that can be copied to and from region ", Quoted(spec.name)),
      std::strerror(error));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const NamedRegion>> NamedRegion::Open(NamedRegionSpec spec,
                                                                     uid_t user) {
  if (spec.name.empty() || spec.name.size() > kMaxRegionName) {
    return InvalidParameter("name", absl::StrCat("1 to ", kMaxRegionName, " bytes"),
                            absl::StrCat(spec.name.size()));
  }
  OPSERVE_ASSIGN_OR_RETURN(const std::string name, ObjectName(spec.key));
  // What is no object must not make this thread wait.
  UniqueFd object(::shm_open(name.c_str(), O_RDWR | O_NONBLOCK, 0));
  if (!object.is_open()) return NotOpened(Quoted(spec.key), errno);
  OPSERVE_RETURN_IF_ERROR(CheckObject(object.get(), spec, user));
  return std::shared_ptr<const NamedRegion>(new NamedRegion(std::move(spec), std::move(object)));
}

absl::Status NamedRegion::CheckInside(uint64_t offset, uint64_t bytes,
                                      std::string_view tensor) const {
  if (offset > spec_.byte_size) {
    return OutOfRange(tensor,
                      absl::StrCat("a shared_memory_offset of at most ", spec_.byte_size,
                                   ", the bytes of region ", Quoted(spec_.name)),
                      absl::StrCat(offset));
  }
  if (bytes <= spec_.byte_size - offset) return absl::OkStatus();
  return OutOfRange(
      tensor,
      absl::StrCat("a shared_memory_byte_size of at most ", spec_.byte_size - offset,
                   ", what region ", Quoted(spec_.name), " has from offset ", offset, " on"),
      absl::StrCat(bytes));
}

std::unique_ptr<const GuardedMapping> NamedRegion::Map(uint64_t offset, uint64_t bytes) const {
  constexpr uint64_t kBlockBytes = 512;  // stat's unit
  struct stat about = {};
  if (bytes == 0 || ::fstat(object_.get(), &about) != 0) return nullptr;
  const auto size = static_cast<uint64_t>(about.st_size);
  const bool is_whole = static_cast<uint64_t>(about.st_blocks) >= size / kBlockBytes;
  if (!is_whole || size < spec_.offset + spec_.byte_size) return nullptr;
  return GuardedMapping::Map(object_.get(), static_cast<off_t>(spec_.offset + offset),
                             static_cast<size_t>(bytes));
}

absl::Status NamedRegion::CheckUncut(const GuardedMapping& mapping, std::string_view tensor) const {
  return mapping.was_cut() ? TooShort(tensor, spec_) : absl::OkStatus();
}

absl::Status NamedRegion::Read(uint64_t offset, std::span<std::byte> out,
                               std::string_view tensor) const {
  auto at = static_cast<off_t>(spec_.offset + offset);
  while (!out.empty()) {
    const ssize_t count = ::pread(object_.get(), out.data(), out.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed(tensor, spec_, errno);
    if (count == 0) return TooShort(tensor, spec_);
    out = out.subspan(static_cast<size_t>(count));
    at += count;
  }
  return absl::OkStatus();
}

absl::Status NamedRegion::Write(uint64_t offset, std::span<const std::byte> bytes,
                                std::string_view tensor) const {
  auto at = static_cast<off_t>(spec_.offset + offset);
  // Beyond its end, writing would make it longer.
  struct stat about = {};
  if (::fstat(object_.get(), &about) != 0) return Failed(tensor, spec_, errno);
  if (about.st_size < at + static_cast<off_t>(bytes.size())) return TooShort(tensor, spec_);
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(object_.get(), bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Failed(tensor, spec_, errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
    at += count;
  }
  return absl::OkStatus();
}

}  // namespace opserve::server
