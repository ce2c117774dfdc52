// Tensors written on the command line.
//
// Input: the text.
#include <cmath>

#include "client/cli/formats/literal.h"
#include "client/cli/formats/tensor_text.h"
#include "core/tensor/element.h"
#include "core/tensor/tensor_desc.h"
#include "tests/fuzz/fuzz_input.h"

namespace opserve::fuzz {
namespace {

using cli::Literal;

// The dense literal of these elements.
std::string Write(DType dtype, const Dims& shape, std::span<const std::byte> bytes) {
  std::string text = cli::TypeText(dtype, shape) + "{";
  for (size_t at = 0; at < bytes.size(); at += DTypeSize(dtype)) {
    if (at > 0) text.push_back(',');
    text += ElementToString(dtype, bytes.data() + at);
  }
  return text + "}";
}

bool HasNan(DType dtype, std::span<const std::byte> bytes) {
  for (size_t at = 0; IsFloating(dtype) && at < bytes.size(); at += DTypeSize(dtype)) {
    if (std::isnan(LoadAsDouble(dtype, bytes.data() + at))) return true;
  }
  return false;
}

void CheckBytes(const Literal& literal) {
  const absl::StatusOr<std::vector<std::byte>> bytes = cli::LiteralBytes(literal, 1 << 14);
  if (!bytes.ok()) return RequireDetail(bytes.status());
  Require(bytes->size() % DTypeSize(literal.dtype) == 0, "whole elements");
  // A view, which a scalar's shape does not tell.
  if (!literal.strides.empty() || literal.storage_offset != 0 || literal.shape.empty()) return;
  const TensorDesc desc = TensorDesc::Dense(literal.dtype, literal.shape);
  Require(CheckStorage(desc, static_cast<int64_t>(bytes->size()), "").ok(), "bytes fit the shape");
  Require(!cli::TensorText(literal.dtype, literal.shape, *bytes, {}).empty() || bytes->empty(),
          "there is something to print");
  const std::string text = Write(literal.dtype, literal.shape, *bytes);
  const absl::StatusOr<Literal> again = cli::ParseLiteral(text);
  Require(again.ok(), "a written literal reads");
  Require(SameShape(again->shape, literal.shape), "a written literal has the shape");
  Require(again->elements == *bytes || HasNan(literal.dtype, *bytes),
          "a written literal has the elements");
}

}  // namespace
}  // namespace opserve::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  opserve::cli::LooksLikeLiteral(text);
  const absl::StatusOr<opserve::cli::Literal> literal = opserve::cli::ParseLiteral(text);
  if (literal.ok()) {
    opserve::fuzz::CheckBytes(*literal);
  } else {
    opserve::fuzz::RequireDetail(literal.status());
  }
  return 0;
}
