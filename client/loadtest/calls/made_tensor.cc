#include "client/loadtest/calls/made_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/tensor/element.h"
#include "core/tensor/shape.h"

namespace opserve::loadtest {
namespace {

// Draws from [0, 1) alike on every machine.
double Uniform(std::mt19937_64& random) {
  return std::ldexp(static_cast<double>(random() >> 11), -53);
}

Number Draw(DType dtype, const ElementRange& range, std::mt19937_64& random) {
  const double place = Uniform(random);
  if (dtype == DType::kBool) return place < 0.5;
  if (IsFloating(dtype)) return range.low + place * (range.high - range.low);
  const double whole = std::floor(range.low + place * (range.high - range.low + 1));
  return static_cast<int64_t>(std::min(whole, range.high));
}

absl::StatusOr<int64_t> SizeOf(DType dtype, std::span<const int64_t> shape, int64_t max_bytes) {
  const auto negative = [](int64_t extent) { return extent < 0; };
  const bool bad = std::any_of(shape.begin(), shape.end(), negative);
  const std::optional<int64_t> count = bad ? std::nullopt : NumElements(shape);
  const auto size = static_cast<int64_t>(DTypeSize(dtype));
  if (count.has_value() && *count <= max_bytes / size) return *count * size;
  return InvalidParameter("", absl::StrCat("a shape of at most ", max_bytes, " bytes"),
                          ShapeToString(shape));
}

}  // namespace

ElementRange UsualRange(DType dtype) {
  return IsFloating(dtype) ? ElementRange{-1, 1} : ElementRange{0, 1};
}

absl::StatusOr<client::TensorView> MakeTensor(DType dtype, std::span<const int64_t> shape,
                                              const ElementRange& range, uint64_t seed,
                                              int64_t max_bytes) {
  OPSERVE_ASSIGN_OR_RETURN(const int64_t size, SizeOf(dtype, shape, max_bytes));
  constexpr double kLargest = 0x1p53;
  if (!(range.low <= range.high && -kLargest <= range.low && range.high <= kLargest)) {
    return InvalidParameter("", "a range from a number to one that is no smaller",
                            absl::StrCat(range.low, " to ", range.high));
  }
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(size));
  std::mt19937_64 random(seed);
  for (size_t at = 0; at < bytes->size(); at += DTypeSize(dtype)) {
    OPSERVE_RETURN_IF_ERROR(StoreElement(dtype, Draw(dtype, range, random), bytes->data() + at));
  }
  client::TensorView view = client::TensorView::OfBytes(dtype, shape, *bytes);
  view.owner = std::move(bytes);
  return view;
}

}  // namespace opserve::loadtest
