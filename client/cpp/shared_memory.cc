#include <opserve/shared_memory.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "client/cpp/memory/memory_socket.h"
#include "client/cpp/values/shared_region.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"

namespace opserve::client {

absl::StatusOr<SharedMemory> SharedMemory::Create(std::string_view socket_path, int64_t size_bytes,
                                                  absl::Duration timeout) {
  const absl::Time deadline = Clock::Real().Now() + std::min(timeout, kMemoryPatience);
  MemorySocket socket(socket_path);
  OPSERVE_RETURN_IF_ERROR(socket.Connect(deadline));
  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<SharedRegion> region,
                           socket.Allocate(size_bytes, deadline));
  return SharedMemory(std::move(region));
}

std::span<std::byte> SharedMemory::bytes() const { return region_->bytes; }
const std::string& SharedMemory::id() const { return region_->id; }

SharedTensorView SharedMemory::View(DType dtype, std::span<const int64_t> shape,
                                    int64_t offset_bytes) const {
  SharedTensorView view;
  view.dtype = dtype;
  view.shape.assign(shape.begin(), shape.end());
  view.shared = {.region = region_, .offset_bytes = offset_bytes, .size_bytes = 0};
  // What cannot be said of a sound tensor is left to the server to refuse.
  const TensorDesc desc = view.Desc();
  if (!CheckDesc(desc, {}).ok()) return view;
  const int64_t bytes = desc.size_bytes();
  const auto size = static_cast<int64_t>(region_->bytes.size());
  view.shared.size_bytes = bytes;
  if (offset_bytes >= 0 && offset_bytes <= size && bytes <= size - offset_bytes) {
    view.storage =
        region_->bytes.subspan(static_cast<size_t>(offset_bytes), static_cast<size_t>(bytes));
  }
  return view;
}

std::byte* SharedMemory::Part(size_t offset_bytes, size_t count, size_t element_bytes) const {
  size_t size = 0;
  const bool fits = !__builtin_mul_overflow(count, element_bytes, &size) &&
                    offset_bytes <= region_->bytes.size() &&
                    size <= region_->bytes.size() - offset_bytes &&
                    offset_bytes % element_bytes == 0;
  if (fits) return region_->bytes.data() + offset_bytes;
  std::fprintf(stderr,
               "opserve::client::SharedMemory::As: asked for %zu elements of %zu bytes at byte %zu "
               "of %zu\n",
               count, element_bytes, offset_bytes, region_->bytes.size());
  std::abort();
}

}  // namespace opserve::client
