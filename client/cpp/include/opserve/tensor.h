// Tensors on the client's side: a view of the caller's memory goes out, a tensor that owns its
// memory comes back.
//
//   // float32[4, 2]; nothing is copied.
//   TensorView view = TensorView::Of(grad, {4, 2});
//   // Its second column.
//   TensorView column = TensorView::Of(grad, {4}).WithStrides({2}, 1);
//   // The elements of a result, which is OK.
//   const auto elements = result->Elements<float>("grad_input");
//   if (elements.ok())
//     for (float value : *elements) …
//
// Lengths, strides and offsets are in elements; elements are little-endian and row-major.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/half.h"
#include "core/tensor/tensor_desc.h"

namespace opserve::client {

// The half-precision types, by bits. Conversions from float round to nearest even.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value) : bits(FloatToFloat16(value)) {}
  explicit operator float() const { return Float16ToFloat(bits); }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(FloatToBFloat16(value)) {}
  explicit operator float() const { return BFloat16ToFloat(bits); }
};

// The dtype whose elements are T's: float, double, Float16, BFloat16, bool and the integers of 1 to
// 8 bytes.
template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, bool>) {
    return DType::kBool;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return DType::kFloat16;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return DType::kBFloat16;
  } else if constexpr (std::is_same_v<T, float>) {
    return DType::kFloat32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::kFloat64;
  } else {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8, "no dtype has elements of this type");
    constexpr DType kSigned[] = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64};
    constexpr DType kUnsigned[] = {DType::kUint8, DType::kUint16, DType::kUint32, DType::kUint64};
    constexpr size_t kLog2Size = std::bit_width(sizeof(T)) - 1;
    return std::is_signed_v<T> ? kSigned[kLog2Size] : kUnsigned[kLog2Size];
  }
}

struct SharedRegion;

// Where a tensor is in shared memory (<opserve/shared_memory.h>).
struct SharedPlace {
  std::shared_ptr<const SharedRegion> region;  // null: it is not
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;
};

// An input: a layout over bytes that it does not own. A value; copying it copies no elements.
//
// The server checks that the layout fits the bytes (161002): this class checks nothing, so that one
// place decides.
struct TensorView {
  DType dtype = DType::kUndefined;
  Dims shape;    // outermost first; empty = a scalar
  Dims strides;  // one a dimension, >= 0; empty = dense row-major, and then the bytes are exactly
                 // the elements
  int64_t storage_offset = 0;  // of the first element
  // The storage that the view looks into. It must stay valid and unchanged until the call has ended
  // (see Client), unless `owner` keeps it.
  std::span<const std::byte> storage;
  // Optional: keeps `storage` alive. The call holds it as long as the transport may read the bytes,
  // and so never has to wait for the transport.
  std::shared_ptr<const void> owner;
  // Set by SharedMemory::View: Execute and ExecuteBatch say where the bytes are and send none.
  SharedPlace shared;

  // A dense view of `elements`: a vector, array or span that lives longer than the call.
  template <std::ranges::contiguous_range Range>
  requires(std::is_lvalue_reference_v<Range> ||
           std::ranges::borrowed_range<Range>) static TensorView
      Of(Range&& elements, std::span<const int64_t> shape) {
    using T = std::remove_cv_t<std::ranges::range_value_t<Range>>;
    const std::span<const T> span(std::ranges::data(elements), std::ranges::size(elements));
    return OfBytes(DTypeOf<T>(), shape, std::as_bytes(span));
  }
  template <typename Range>
  static TensorView Of(Range&& elements, std::initializer_list<int64_t> shape) {
    return Of(std::forward<Range>(elements), std::span<const int64_t>(shape.begin(), shape.size()));
  }

  // A dense view of raw bytes, for dtypes known only at run time.
  static TensorView OfBytes(DType dtype, std::span<const int64_t> shape,
                            std::span<const std::byte> bytes);

  // This view with other strides and another first element: a slice, a transposition, a broadcast
  // (stride 0).
  TensorView WithStrides(std::span<const int64_t> new_strides, int64_t new_offset) const;
  TensorView WithStrides(std::initializer_list<int64_t> new_strides, int64_t new_offset = 0) const {
    return WithStrides(std::span<const int64_t>(new_strides.begin(), new_strides.size()),
                       new_offset);
  }

  // The layout alone. Empty strides become the dense ones.
  TensorDesc Desc() const;
};

// A view of shared memory, which may be an output, too.
struct SharedTensorView : TensorView {};

// A result: dense row-major elements in its own memory, 64-byte aligned, or in the shared memory
// that the call has named for it. Immutable, unless someone writes to that shared memory. Copies
// share the memory, and any thread may read it.
class Tensor {
 public:
  // An empty tensor: float32[0].
  Tensor();
  // Takes `bytes` over; `desc` must be plain and `bytes` exactly as large as it says.
  Tensor(TensorDesc desc, std::shared_ptr<const std::byte> bytes)
      : desc_(std::move(desc)), bytes_(std::move(bytes)) {}

  const TensorDesc& desc() const { return desc_; }
  DType dtype() const { return desc_.dtype; }
  std::span<const int64_t> shape() const { return desc_.shape; }
  int64_t num_elements() const { return desc_.num_elements(); }
  std::span<const std::byte> bytes() const {
    return {bytes_.get(), static_cast<size_t>(desc_.size_bytes())};
  }

  // The elements, valid while this tensor or a copy of it lives. T must be the dtype's own type:
  // the program stops, saying why, when it is not.
  template <typename T>
  std::span<const T> As() const {
    CheckType(DTypeOf<T>());
    return {reinterpret_cast<const T*>(bytes_.get()), static_cast<size_t>(num_elements())};
  }

  // The elements of any dtype, converted. Exact for every dtype but 64-bit integers beyond 2^53.
  std::vector<double> ToDoubles() const;

  // A view of this tensor that keeps its memory, to send it on in another call.
  TensorView View() const;

 private:
  void CheckType(DType asked) const;

  TensorDesc desc_;
  std::shared_ptr<const std::byte> bytes_;
};

// Of a Tensor's memory.
inline constexpr size_t kTensorAlignment = 64;
// Uninitialised memory for `size` bytes, aligned as Tensor's is; never null.
std::shared_ptr<std::byte> AllocateTensorBytes(size_t size);
// The same, but null if there is not enough memory: for sizes that come from a server. The memory
// is untouched, so most systems provide it only when it is written.
std::shared_ptr<std::byte> TryAllocateTensorBytes(size_t size);

}  // namespace opserve::client
