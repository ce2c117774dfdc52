#include "server/shared_memory/region_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

constexpr size_t kIdBytes = 16;

absl::Status Refused(std::string_view parameter, std::string want, std::string got) {
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = std::string(parameter),
                    .want = std::move(want),
                    .got = std::move(got)});
}

absl::Status RefusedBySystem(const char* what) {
  return Refused("size_bytes", "memory that the system has",
                 absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::StatusOr<UniqueFd> MakeSealedFile(size_t bytes) {
  UniqueFd fd(::memfd_create("opserve", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return RefusedBySystem("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return RefusedBySystem("ftruncate");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return RefusedBySystem("F_ADD_SEALS");
  return fd;
}

absl::StatusOr<std::string> MakeId() {
  std::string id(kIdBytes, '\0');
  if (::getrandom(id.data(), id.size(), 0) != static_cast<ssize_t>(id.size()))
    return RefusedBySystem("getrandom");
  return id;
}

// Of a size up to `limit`; nullopt where it overflows.
std::optional<int64_t> InWholePages(int64_t bytes) {
  const auto page = static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
  int64_t rounded = 0;
  if (__builtin_add_overflow(bytes, page - 1, &rounded)) return std::nullopt;
  return rounded / page * page;
}

}  // namespace

// What is booked on the limit.
struct SharedRegion::Ledger {
  explicit Ledger(int64_t limit) : limit_bytes(limit) {}

  absl::Status Book(int64_t more) {
    const MutexLock lock(mutex);
    if (regions >= kMaxRegions) {
      return Refused("regions", absl::StrCat("at most ", kMaxRegions, " of all clients"),
                     "one more");
    }
    if (more > limit_bytes - bytes) {
      return Refused("size_bytes",
                     absl::StrCat("at most ", limit_bytes, " bytes of shared memory, of which ",
                                  limit_bytes - bytes, " are free"),
                     absl::StrCat(more));
    }
    bytes += more;
    ++regions;
    return absl::OkStatus();
  }

  void Return(int64_t returned) {
    const MutexLock lock(mutex);
    bytes -= returned;
    --regions;
  }

  const int64_t limit_bytes;
  Mutex mutex;
  int64_t regions ABSL_GUARDED_BY(mutex) = 0;
  int64_t bytes ABSL_GUARDED_BY(mutex) = 0;
  std::atomic<int64_t> allocated = 0;
  std::atomic<int64_t> refused = 0;
};

// Its bytes are booked already.
SharedRegion::SharedRegion(std::shared_ptr<Ledger> ledger, size_t mapped_bytes)
    : ledger_(std::move(ledger)), mapped_bytes_(mapped_bytes) {}

SharedRegion::~SharedRegion() {
  if (bytes_.data() != nullptr) {
    if (is_discarded_) ::madvise(bytes_.data(), mapped_bytes_, MADV_REMOVE);
    ::munmap(bytes_.data(), mapped_bytes_);
  }
  ledger_->Return(static_cast<int64_t>(mapped_bytes_));
}

RegionTable::RegionTable(int64_t limit_bytes)
    : ledger_(std::make_shared<SharedRegion::Ledger>(limit_bytes)) {}
RegionTable::~RegionTable() = default;

absl::StatusOr<RegionTable::NewRegion> RegionTable::Make(int64_t size_bytes) {
  if (size_bytes <= 0) return OutOfRange("size_bytes", "> 0", absl::StrCat(size_bytes));
  const std::optional<int64_t> rounded = InWholePages(size_bytes);
  if (!rounded.has_value())
    return Refused("size_bytes", absl::StrCat("at most ", ledger_->limit_bytes, " bytes"),
                   absl::StrCat(size_bytes));
  OPSERVE_RETURN_IF_ERROR(ledger_->Book(*rounded));
  const auto mapped = static_cast<size_t>(*rounded);
  NewRegion made;
  made.region.reset(new SharedRegion(ledger_, mapped));
  OPSERVE_ASSIGN_OR_RETURN(made.region->id_, MakeId());
  OPSERVE_ASSIGN_OR_RETURN(made.fd, MakeSealedFile(mapped));
  void* address = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, made.fd.get(), 0);
  if (address == MAP_FAILED) return RefusedBySystem("mmap");
  ::madvise(address, mapped, MADV_HUGEPAGE);  // where the system gives them
  made.region->bytes_ = {static_cast<std::byte*>(address), static_cast<size_t>(size_bytes)};
  return made;
}

absl::StatusOr<RegionTable::NewRegion> RegionTable::Allocate(int64_t size_bytes) {
  absl::StatusOr<NewRegion> made = Make(size_bytes);
  if (!made.ok()) {
    ++ledger_->refused;
    return made;
  }
  ++ledger_->allocated;
  const MutexLock lock(mutex_);
  regions_[made->region->id()] = made->region;
  return made;
}

std::shared_ptr<SharedRegion> RegionTable::Find(std::string_view id) const {
  const MutexLock lock(mutex_);
  const auto found = regions_.find(ToAbsl(id));
  return found == regions_.end() ? nullptr : found->second;
}

void RegionTable::Release(std::string_view id, Contents contents) {
  std::shared_ptr<SharedRegion> region;  // goes without the lock
  const MutexLock lock(mutex_);
  const auto found = regions_.find(ToAbsl(id));
  if (found == regions_.end()) return;
  region = std::move(found->second);
  region->is_discarded_ = contents == Contents::kDiscarded;
  regions_.erase(found);
}

RegionTable::Stats RegionTable::stats() const {
  const MutexLock lock(ledger_->mutex);
  return {.regions = ledger_->regions,
          .bytes = ledger_->bytes,
          .limit_bytes = ledger_->limit_bytes,
          .allocated = ledger_->allocated,
          .refused = ledger_->refused};
}

}  // namespace opserve::server
