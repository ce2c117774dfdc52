// Memory that this program and a server on the same host share: tensors in it are not sent, the
// server reads and writes them where they lie.
//
//   auto memory = client->CreateSharedMemory(4 * kBytes);  // needs a server that allows it
//   if (!memory.ok()) return memory.status();
//   const auto at = [&](int64_t i) { return memory->View(DType::kFloat32, {kCount}, i * kBytes); };
//   std::span<float> self = memory->As<float>(kBytes, kCount);  // to be filled, as the others
//   call.Input("grad_out", at(0)).Input("self", at(1)).Input("target", at(2));
//   call.Output("grad_input", at(3));
//   auto result = client->Execute(call);  // result->Find("grad_input") is the memory itself
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <opserve/tensor.h>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace opserve::client {

inline constexpr absl::Duration kMemoryPatience = absl::Seconds(30);

// A mapped region. Cheap to copy: copies, views and results share it. It is released when the last
// of them is gone, or when the process ends. Thread-safe, except the bytes themselves: do not write
// to bytes that a running call reads, and do not touch bytes that it writes.
class SharedMemory {
 public:
  // Zeros, of a server on this host whose --allow-shared-memory is `socket_path`
  // (Client::CreateSharedMemory asks the server for that). Waits for `timeout`, and never longer
  // than kMemoryPatience. Errors: UNAVAILABLE where nobody serves, DEADLINE_EXCEEDED, 161002 and
  // RESOURCE_EXHAUSTED naming size_bytes, INTERNAL for memory that the server could take away.
  static absl::StatusOr<SharedMemory> Create(std::string_view socket_path, int64_t size_bytes,
                                             absl::Duration timeout = kMemoryPatience);

  // Aligned to a page.
  std::span<std::byte> bytes() const;

  // Elements from `offset_bytes` on, which is a multiple of their size. The program stops, saying
  // why, where they are not inside.
  template <typename T>
  std::span<T> As(size_t offset_bytes, size_t count) const {
    return {reinterpret_cast<T*>(Part(offset_bytes, count, sizeof(T))), count};
  }

  // A dense tensor from `offset_bytes` on: an input or an output. The server checks that it is
  // inside.
  SharedTensorView View(DType dtype, std::span<const int64_t> shape, int64_t offset_bytes) const;
  SharedTensorView View(DType dtype, std::initializer_list<int64_t> shape,
                        int64_t offset_bytes) const {
    return View(dtype, std::span<const int64_t>(shape.begin(), shape.size()), offset_bytes);
  }

  // Its name in SharedView.region (proto/opserve/v1/types.proto).
  const std::string& id() const;

 private:
  explicit SharedMemory(std::shared_ptr<const SharedRegion> region) : region_(std::move(region)) {}
  std::byte* Part(size_t offset_bytes, size_t count, size_t element_bytes) const;

  std::shared_ptr<const SharedRegion> region_;
};

}  // namespace opserve::client
