// What a tensor is, without its bytes: dtype, shape, strides, offset. Phase one works on these
// alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace opserve {

struct TensorDesc {
  DType dtype = DType::kUndefined;
  Dims shape;
  Dims strides;                // one a dimension, in elements, >= 0
  int64_t storage_offset = 0;  // of the first element, in elements, >= 0

  // Dense row-major, offset 0.
  static TensorDesc Dense(DType dtype, std::span<const int64_t> shape);

  int rank() const { return static_cast<int>(shape.size()); }
  // The three below need a description that CheckDesc accepted.
  int64_t num_elements() const { return NumElements(shape).value_or(0); }
  // Elements times their size.
  int64_t size_bytes() const { return num_elements() * static_cast<int64_t>(DTypeSize(dtype)); }
  // Bytes from the start of the storage to the end of the last element that the view reaches; 0
  // when it is empty.
  int64_t reach_bytes() const;
  // Row-major without gaps, whatever the offset.
  bool IsDense() const;
  // Dense from the start of its storage: the bytes are exactly the elements.
  bool IsPlain() const { return storage_offset == 0 && IsDense(); }
};

// Checks what holds for every tensor, before any of its numbers is used in arithmetic: a dtype,
// extents, strides and offset
// >= 0, as many strides as dimensions, and an element count and a reach in bytes that fit int64.
// The rank is for the operators to check, each at its place in the order of checks. Errors (161002)
// name `parameter`.
absl::Status CheckDesc(const TensorDesc& desc, std::string_view parameter);

// CheckDesc, and that every element lies inside a storage of `storage_bytes`. A plain tensor's
// storage must be exactly its elements; a view's must be a whole number of elements.
absl::Status CheckStorage(const TensorDesc& desc, int64_t storage_bytes,
                          std::string_view parameter);

// For an output: no two elements share memory. Exact for every layout that slicing, transposing and
// reshaping can make (sorted by stride, each dimension steps over all that lies inside it); others
// are refused.
absl::Status CheckNoSelfOverlap(const TensorDesc& desc, std::string_view parameter);

}  // namespace opserve
