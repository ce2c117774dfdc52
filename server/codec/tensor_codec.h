// opserve.v1.Tensor to and from core: element types, descriptions, typed values.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/op/attribute.h"
#include "core/tensor/dtype.h"
#include "core/tensor/tensor_desc.h"
#include "opserve/v1/types.pb.h"

namespace opserve::server {

v1::DataType EncodeDType(DType dtype);
// 161002 naming `parameter` for a number that the API does not have. DATA_TYPE_UNSPECIFIED is
// kUndefined.
absl::StatusOr<DType> DecodeDType(int number, std::string_view parameter);

// More dimensions than this are refused here (operators refuse all above kMaxRank, each at its
// place in its checks).
inline constexpr int kMaxDecodedRank = 64;

// The description as it came, dense where no strides came; not checked beyond the length of its
// lists (CheckDesc does the rest). Errors: 161002 naming the tensor.
absl::StatusOr<TensorDesc> DecodeDesc(const v1::Tensor& tensor);

// The bytes of a tensor that carries typed values: the storage of `desc`, which CheckDesc accepted.
// Errors (161002, naming the tensor): not exactly one list, a list that does not go with the dtype,
// too few or too many values for a dense tensor, a number that the dtype cannot hold.
absl::StatusOr<std::vector<std::byte>> DecodeValues(const v1::TensorValues& values,
                                                    const TensorDesc& desc,
                                                    std::string_view parameter);

// Dense elements as typed values: floating dtypes in `floats`, signed ints in `ints`, unsigned in
// `uints`, bool in `bools`.
void EncodeValues(DType dtype, const std::byte* elements, int64_t count, v1::TensorValues& out);

// At most this many bytes on the wire for `count` elements encoded by EncodeValues.
size_t EncodedValuesBytes(DType dtype, int64_t count);

// An attribute that came as a tensor: rank 0 gives a scalar, rank 1 a list (one of one element a
// scalar, where `kind` is one). `bytes` are its elements, dense. Errors (161002, naming the
// parameter): any other rank, an int beyond int64.
absl::StatusOr<AttributeValue> AttributeOfTensor(const TensorDesc& desc, const std::byte* bytes,
                                                 AttributeKind kind, std::string_view parameter);

}  // namespace opserve::server
