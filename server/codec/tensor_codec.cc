#include "server/codec/tensor_codec.h"

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/tensor/element.h"
#include "google/protobuf/repeated_field.h"
#include "server/codec/wire_format.h"

namespace opserve::server {
namespace {

using google::protobuf::RepeatedField;

static_assert(static_cast<int>(DType::kFloat32) == v1::DATA_TYPE_FLOAT32);
static_assert(static_cast<int>(DType::kFloat16) == v1::DATA_TYPE_FLOAT16);
static_assert(static_cast<int>(DType::kBFloat16) == v1::DATA_TYPE_BFLOAT16);
static_assert(static_cast<int>(DType::kFloat64) == v1::DATA_TYPE_FLOAT64);
static_assert(static_cast<int>(DType::kInt8) == v1::DATA_TYPE_INT8);
static_assert(static_cast<int>(DType::kInt16) == v1::DATA_TYPE_INT16);
static_assert(static_cast<int>(DType::kInt32) == v1::DATA_TYPE_INT32);
static_assert(static_cast<int>(DType::kInt64) == v1::DATA_TYPE_INT64);
static_assert(static_cast<int>(DType::kUint8) == v1::DATA_TYPE_UINT8);
static_assert(static_cast<int>(DType::kUint16) == v1::DATA_TYPE_UINT16);
static_assert(static_cast<int>(DType::kUint32) == v1::DATA_TYPE_UINT32);
static_assert(static_cast<int>(DType::kUint64) == v1::DATA_TYPE_UINT64);
static_assert(static_cast<int>(DType::kBool) == v1::DATA_TYPE_BOOL);
static_assert(kNumDTypes == v1::DataType_ARRAYSIZE);

// Tag and length of the Tensor in the response, of its values, and of the list in those.
constexpr size_t kFramingBytes = 3 * (size_t{1} + kMaxVarintBytes);

std::span<const int64_t> AsSpan(const RepeatedField<int64_t>& list) {
  return {list.data(), static_cast<size_t>(list.size())};
}

// The lists of TensorValues that a dtype takes.
bool TakesFloats(DType dtype) { return DTypeKindOf(dtype) == DTypeKind::kFloat; }
bool TakesUints(DType dtype) { return dtype == DType::kUint64; }
bool TakesBools(DType dtype) { return dtype == DType::kBool; }

std::string_view ListsInWords(DType dtype) {
  if (TakesFloats(dtype)) return "values in one list, floats or ints";
  if (TakesUints(dtype)) return "values in one list, ints or uints";
  if (TakesBools(dtype)) return "values in one list, bools or ints";
  return "values in one list, ints";
}

template <typename T>
absl::Status StoreList(const RepeatedField<T>& list, DType dtype, std::string_view parameter,
                       std::vector<std::byte>& bytes) {
  const size_t size = DTypeSize(dtype);
  bytes.resize(static_cast<size_t>(list.size()) * size);
  for (int i = 0; i < list.size(); ++i) {
    const absl::Status status =
        StoreElement(dtype, Number(list.Get(i)), bytes.data() + static_cast<size_t>(i) * size);
    if (status.ok()) continue;
    const ErrorDetail detail = GetErrorDetail(status).value_or(ErrorDetail());
    return OutOfRange(parameter, detail.want, absl::StrCat(detail.got, " at index ", i));
  }
  return absl::OkStatus();
}

absl::Status CheckLists(const v1::TensorValues& values, DType dtype, std::string_view parameter) {
  std::string got;
  int given = 0;
  bool fits = true;
  const auto look = [&](int count, const char* name, bool taken) {
    if (count == 0) return;
    absl::StrAppend(&got, given++ == 0 ? "" : " and ", name);
    fits = fits && taken;
  };
  look(values.floats_size(), "floats", TakesFloats(dtype));
  look(values.ints_size(), "ints", true);
  look(values.uints_size(), "uints", TakesUints(dtype));
  look(values.bools_size(), "bools", TakesBools(dtype));
  if (given <= 1 && fits) return absl::OkStatus();
  std::string want(ListsInWords(dtype));
  absl::StrAppend(&want, " (", std::string(DTypeName(dtype)), ")");
  return InvalidParameter(parameter, want, got);
}

absl::Status CheckCount(const v1::TensorValues& values, const TensorDesc& desc,
                        std::string_view parameter) {
  const int64_t count = int64_t{values.floats_size()} + values.ints_size() + values.uints_size() +
                        values.bools_size();
  if (!desc.IsPlain() || count == desc.num_elements()) return absl::OkStatus();
  const std::string want =
      absl::StrCat(desc.num_elements(), " values for ", std::string(DTypeName(desc.dtype)),
                   ShapeToString(desc.shape));
  return ShapeMismatch(parameter, want, absl::StrCat(count));
}

absl::StatusOr<int64_t> ToInt64(const Number& number, std::string_view parameter) {
  if (const auto* value = std::get_if<int64_t>(&number)) return *value;
  const uint64_t value = std::get<uint64_t>(number);
  if (std::in_range<int64_t>(value)) return static_cast<int64_t>(value);
  return OutOfRange(parameter, "an int below 2^63", absl::StrCat(value));
}

absl::StatusOr<AttributeValue> ScalarOf(DType dtype, const std::byte* element,
                                        std::string_view parameter) {
  const Number number = LoadElement(dtype, element);
  if (const auto* value = std::get_if<bool>(&number)) return AttributeValue(*value);
  if (const auto* value = std::get_if<double>(&number)) return AttributeValue(*value);
  OPSERVE_ASSIGN_OR_RETURN(const int64_t value, ToInt64(number, parameter));
  return AttributeValue(value);
}

template <typename T, typename Load>
absl::StatusOr<AttributeValue> ListOf(DType dtype, int64_t count, const std::byte* bytes,
                                      Load load) {
  std::vector<T> list;
  list.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    OPSERVE_ASSIGN_OR_RETURN(
        const T value, load(LoadElement(dtype, bytes + static_cast<size_t>(i) * DTypeSize(dtype))));
    list.push_back(value);
  }
  return AttributeValue(std::move(list));
}

absl::StatusOr<AttributeValue> ListOf(DType dtype, int64_t count, const std::byte* bytes,
                                      std::string_view parameter) {
  switch (DTypeKindOf(dtype)) {
    case DTypeKind::kFloat:
      return ListOf<double>(dtype, count, bytes, [](const Number& n) -> absl::StatusOr<double> {
        return std::get<double>(n);
      });
    case DTypeKind::kBool:
      return ListOf<bool>(dtype, count, bytes, [](const Number& n) -> absl::StatusOr<bool> {
        return std::get<bool>(n);
      });
    default:
      return ListOf<int64_t>(dtype, count, bytes,
                             [parameter](const Number& n) { return ToInt64(n, parameter); });
  }
}

bool IsListKind(AttributeKind kind) {
  return kind == AttributeKind::kIntList || kind == AttributeKind::kBoolList;
}

}  // namespace

v1::DataType EncodeDType(DType dtype) { return static_cast<v1::DataType>(dtype); }

absl::StatusOr<DType> DecodeDType(int number, std::string_view parameter) {
  if (v1::DataType_IsValid(number)) return static_cast<DType>(number);
  return UnsupportedDType(parameter, "a DataType of the API", absl::StrCat("the number ", number));
}

absl::StatusOr<TensorDesc> DecodeDesc(const v1::Tensor& tensor) {
  const std::string& name = tensor.name();
  OPSERVE_ASSIGN_OR_RETURN(const DType dtype, DecodeDType(tensor.dtype(), name));
  if (tensor.shape_size() > kMaxDecodedRank) {
    return ShapeMismatch(name, absl::StrCat("rank 0 to ", kMaxRank),
                         absl::StrCat("rank ", tensor.shape_size()));
  }
  if (tensor.strides_size() > kMaxDecodedRank) {
    return ShapeMismatch(name, absl::StrCat(tensor.shape_size(), " strides, one a dimension"),
                         absl::StrCat(tensor.strides_size(), " strides"));
  }
  if (tensor.scalar() && tensor.shape_size() > 0) {
    return InvalidParameter(name, "no shape, as it is a scalar",
                            ShapeToString(AsSpan(tensor.shape())));
  }
  TensorDesc desc = TensorDesc::Dense(dtype, AsSpan(tensor.shape()));
  desc.storage_offset = tensor.storage_offset();
  if (tensor.strides_size() > 0)
    desc.strides.assign(tensor.strides().begin(), tensor.strides().end());
  return desc;
}

absl::StatusOr<std::vector<std::byte>> DecodeValues(const v1::TensorValues& values,
                                                    const TensorDesc& desc,
                                                    std::string_view parameter) {
  OPSERVE_RETURN_IF_ERROR(CheckLists(values, desc.dtype, parameter));
  OPSERVE_RETURN_IF_ERROR(CheckCount(values, desc, parameter));
  std::vector<std::byte> bytes;
  if (values.floats_size() > 0)
    OPSERVE_RETURN_IF_ERROR(StoreList(values.floats(), desc.dtype, parameter, bytes));
  if (values.ints_size() > 0)
    OPSERVE_RETURN_IF_ERROR(StoreList(values.ints(), desc.dtype, parameter, bytes));
  if (values.uints_size() > 0)
    OPSERVE_RETURN_IF_ERROR(StoreList(values.uints(), desc.dtype, parameter, bytes));
  if (values.bools_size() > 0)
    OPSERVE_RETURN_IF_ERROR(StoreList(values.bools(), desc.dtype, parameter, bytes));
  return bytes;
}

void EncodeValues(DType dtype, const std::byte* elements, int64_t count, v1::TensorValues& out) {
  struct Add {
    v1::TensorValues& out;
    void operator()(double value) const { out.add_floats(value); }
    void operator()(int64_t value) const { out.add_ints(value); }
    void operator()(uint64_t value) const { out.add_uints(value); }
    void operator()(bool value) const { out.add_bools(value); }
  };
  if (TakesFloats(dtype)) out.mutable_floats()->Reserve(static_cast<int>(count));
  for (int64_t i = 0; i < count; ++i) {
    std::visit(Add{out}, LoadElement(dtype, elements + static_cast<size_t>(i) * DTypeSize(dtype)));
  }
}

size_t EncodedValuesBytes(DType dtype, int64_t count) {
  size_t element = kMaxVarintBytes;
  if (TakesFloats(dtype)) element = sizeof(double);
  if (TakesBools(dtype)) element = 1;
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(count), element, &bytes))
    return std::numeric_limits<size_t>::max() / 2;
  return bytes + kFramingBytes;
}

absl::StatusOr<AttributeValue> AttributeOfTensor(const TensorDesc& desc, const std::byte* bytes,
                                                 AttributeKind kind, std::string_view parameter) {
  if (desc.rank() > 1)
    return ShapeMismatch(parameter, "a tensor of rank 0 or 1", absl::StrCat("rank ", desc.rank()));
  const int64_t count = desc.num_elements();
  if (desc.rank() == 0 || (count == 1 && !IsListKind(kind)))
    return ScalarOf(desc.dtype, bytes, parameter);
  return ListOf(desc.dtype, count, bytes, parameter);
}

}  // namespace opserve::server
