// NumPy's .npy files, versions 1.0 to 3.0, little-endian.
//
// NumPy has no bfloat16: such tensors are written as two raw bytes an element ('<V2', which is what
// the ml_dtypes package writes), and '<V2' and '|V2' are read as bfloat16. In NumPy:
// `a.view(ml_dtypes.bfloat16)`, or `a.view(np.uint16)` for the bits. A file of dtype uint16 is read
// as uint16, not as bfloat16.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor_desc.h"

namespace opserve::cli {

struct NpyTensor {
  // Dense for C order; for Fortran order a view with the transposed strides.
  TensorDesc desc;
  // The elements, inside the bytes that were parsed.
  std::span<const std::byte> data;
};

// Parses a whole file. Accepts only the dictionary that NumPy writes (descr, fortran_order, shape,
// each once); structured and big-endian dtypes, more than 64 dimensions and headers above 64 KiB
// are refused, and so is data that is not exactly as long as the shape says. Allocates for the
// dimensions only. Errors: 161002 without a parameter.
absl::StatusOr<NpyTensor> ParseNpy(std::span<const std::byte> file);

// How many bytes the file that begins with `start` has, if it is one that ParseNpy takes. `start`
// is the whole file or at least its first 128 KiB.
absl::StatusOr<size_t> NpyFileBytes(std::span<const std::byte> start);

// What comes before the elements of a dense row-major tensor in a file of version 1.0 (2.0 where
// the header is too long): append the elements to get the file. Its length is a multiple of 64.
std::string NpyPreamble(DType dtype, std::span<const int64_t> shape);

}  // namespace opserve::cli
