#include "core/tensor/tensor_desc.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

// Index of the last reachable element, plus one; 0 when empty; nullopt when it exceeds int64.
std::optional<int64_t> ReachElements(const TensorDesc& desc) {
  if (NumElements(desc.shape) == 0) return 0;
  int64_t last = desc.storage_offset;
  for (size_t i = 0; i < desc.shape.size(); ++i) {
    int64_t span = 0;
    if (__builtin_mul_overflow(desc.shape[i] - 1, desc.strides[i], &span)) return std::nullopt;
    if (__builtin_add_overflow(last, span, &last)) return std::nullopt;
  }
  int64_t reach = 0;
  if (__builtin_add_overflow(last, int64_t{1}, &reach)) return std::nullopt;
  return reach;
}

bool FitsBytes(std::optional<int64_t> elements, DType dtype) {
  int64_t bytes = 0;
  return elements.has_value() &&
         !__builtin_mul_overflow(*elements, static_cast<int64_t>(DTypeSize(dtype)), &bytes);
}

std::string WithShape(int64_t bytes, const TensorDesc& desc) {
  return absl::StrCat(bytes, " bytes for ", std::string(DTypeName(desc.dtype)),
                      ShapeToString(desc.shape));
}

// Whether CheckDesc plainly has nothing to say, in one pass: of nearly every tensor that is not
// empty.
bool IsSound(const TensorDesc& desc) {
  if (desc.dtype == DType::kUndefined || desc.strides.size() != desc.shape.size()) return false;
  const auto element_bytes = static_cast<int64_t>(DTypeSize(desc.dtype));
  int64_t lowest = desc.storage_offset;
  int64_t bytes = element_bytes;
  int64_t reach = desc.storage_offset;
  bool overflow = false;
  for (size_t i = 0; i < desc.shape.size(); ++i) {
    const int64_t extent = desc.shape[i];
    const int64_t stride = desc.strides[i];
    if (extent < 1) return false;
    lowest = std::min(lowest, stride);
    int64_t span = 0;
    overflow |= __builtin_mul_overflow(bytes, extent, &bytes);
    overflow |= __builtin_mul_overflow(extent - 1, stride, &span);
    overflow |= __builtin_add_overflow(reach, span, &reach);
  }
  overflow |= __builtin_add_overflow(reach, int64_t{1}, &reach);
  overflow |= __builtin_mul_overflow(reach, element_bytes, &reach);
  return lowest >= 0 && !overflow;
}

}  // namespace

TensorDesc TensorDesc::Dense(DType dtype, std::span<const int64_t> shape) {
  TensorDesc desc;
  desc.dtype = dtype;
  desc.shape.assign(shape.begin(), shape.end());
  // A count that overflows is for CheckDesc to refuse; until then strides only need to be some
  // numbers.
  desc.strides = NumElements(shape).has_value() ? DenseStrides(shape) : Dims(shape.size(), 1);
  return desc;
}

int64_t TensorDesc::reach_bytes() const {
  return ReachElements(*this).value_or(0) * static_cast<int64_t>(DTypeSize(dtype));
}

bool TensorDesc::IsDense() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i > 0; --i) {
    if (shape[i - 1] == 1) continue;
    // Any layout of nothing is dense.
    if (strides[i - 1] != expected) return num_elements() == 0;
    if (__builtin_mul_overflow(expected, shape[i - 1], &expected)) return true;
  }
  return true;
}

absl::Status CheckDesc(const TensorDesc& desc, std::string_view parameter) {
  if (IsSound(desc)) return absl::OkStatus();
  if (desc.dtype == DType::kUndefined) return UnsupportedDType(parameter, "a dtype", "none");
  if (desc.strides.size() != desc.shape.size()) {
    return ShapeMismatch(parameter, absl::StrCat(desc.shape.size(), " strides, one a dimension"),
                         absl::StrCat(desc.strides.size(), " strides"));
  }
  const auto negative = [](int64_t value) { return value < 0; };
  if (std::any_of(desc.shape.begin(), desc.shape.end(), negative)) {
    return OutOfRange(parameter, "extents >= 0", absl::StrCat("shape ", ShapeToString(desc.shape)));
  }
  if (std::any_of(desc.strides.begin(), desc.strides.end(), negative)) {
    return OutOfRange(parameter, "strides >= 0",
                      absl::StrCat("strides ", ShapeToString(desc.strides)));
  }
  if (desc.storage_offset < 0) {
    return OutOfRange(parameter, "storage_offset >= 0", absl::StrCat(desc.storage_offset));
  }
  if (!FitsBytes(NumElements(desc.shape), desc.dtype)) {
    return OutOfRange(parameter, "a size in bytes below 2^63",
                      absl::StrCat("shape ", ShapeToString(desc.shape)));
  }
  if (!FitsBytes(ReachElements(desc), desc.dtype)) {
    return OutOfRange(
        parameter, "a last element below 2^63 bytes",
        absl::StrCat("shape ", ShapeToString(desc.shape), ", strides ", ShapeToString(desc.strides),
                     ", storage_offset ", desc.storage_offset));
  }
  return absl::OkStatus();
}

absl::Status CheckStorage(const TensorDesc& desc, int64_t storage_bytes,
                          std::string_view parameter) {
  OPSERVE_RETURN_IF_ERROR(CheckDesc(desc, parameter));
  if (desc.IsPlain()) {
    if (desc.size_bytes() == storage_bytes) return absl::OkStatus();
    return ShapeMismatch(parameter, WithShape(desc.size_bytes(), desc),
                         absl::StrCat(storage_bytes));
  }
  if (storage_bytes % static_cast<int64_t>(DTypeSize(desc.dtype)) != 0) {
    return InvalidParameter(
        parameter, absl::StrCat("a storage of whole elements of ", DTypeSize(desc.dtype), " bytes"),
        absl::StrCat(storage_bytes, " bytes"));
  }
  if (desc.reach_bytes() > storage_bytes) {
    return OutOfRange(parameter,
                      absl::StrCat("a storage of at least ", WithShape(desc.reach_bytes(), desc),
                                   " with strides ", ShapeToString(desc.strides),
                                   " and storage_offset ", desc.storage_offset),
                      absl::StrCat(storage_bytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckNoSelfOverlap(const TensorDesc& desc, std::string_view parameter) {
  if (desc.IsDense()) return absl::OkStatus();
  std::vector<std::pair<int64_t, int64_t>> stride_extent;
  for (size_t i = 0; i < desc.shape.size(); ++i) {
    if (desc.shape[i] > 1) stride_extent.emplace_back(desc.strides[i], desc.shape[i]);
  }
  std::sort(stride_extent.begin(), stride_extent.end());
  int64_t inside = 1;  // elements from the first to past the last one of the dimensions so far
  for (const auto& [stride, extent] : stride_extent) {
    if (stride < inside) {
      return InvalidParameter(parameter, "a layout in which no two elements overlap",
                              absl::StrCat("shape ", ShapeToString(desc.shape), ", strides ",
                                           ShapeToString(desc.strides)));
    }
    inside = stride * (extent - 1) + inside;
  }
  return absl::OkStatus();
}

}  // namespace opserve
