// Tensors written on the command line.
//
//   f32[4,2]{0,1,2,3,4,5,6,7}             elements, row-major
//   f32[4,2]=1                            every element is 1
//   f32{1,2,3}                            rank 1, counted
//   f32[]{3}   1.5                        scalars; a bare number is f32
//   f32[4,2]                              dtype and shape alone, for planning
//   f32[4,2]{0,1,…}.strides(1,4)          a view: the braces hold the storage; strides and offset
//   f32[2]{0,1,2,3}.strides(2).offset(1)  are in elements, strides dense unless given
//
// The dtype is any name that ParseDType takes; numbers are ParseNumber's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace opserve::cli {

struct Literal {
  enum class Data : uint8_t { kNone, kFill, kList };

  DType dtype = DType::kUndefined;
  Dims shape;
  Dims strides;  // empty unless the literal is a view: dense
  int64_t storage_offset = 0;
  Data data = Data::kNone;
  std::vector<std::byte> elements;  // kList: the storage; kFill: one element
};

// Whether `text` is meant as a literal rather than as the name of a file: a number, or a word
// followed by '[' or '{'.
bool LooksLikeLiteral(std::string_view text);

// ParseDType for people. Errors: 161002 naming `parameter`, with the nearest name.
absl::StatusOr<DType> ReadDType(std::string_view word, std::string_view parameter);

// Checks the grammar, the numbers, and of dense literals that the braces hold as many elements as
// the shape; how a view lies in its storage is left to the server. Needs memory for the text's
// elements only, whatever the shape says. Errors: 161002 without a parameter.
absl::StatusOr<Literal> ParseLiteral(std::string_view text);

// The storage as bytes: writes a fill out. Errors (161002): no data, a shape that cannot be
// counted, or more than `max_bytes`.
absl::StatusOr<std::vector<std::byte>> LiteralBytes(const Literal& literal, int64_t max_bytes);

}  // namespace opserve::cli
