#include "server/codec/tensor_codec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "core/base/op_error.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using opserve::testing::AclnnCode;
using opserve::testing::kParamInvalid;

constexpr DType kAllDTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64,
                                DType::kInt8,    DType::kInt16,   DType::kInt32,    DType::kInt64,
                                DType::kUint8,   DType::kUint16,  DType::kUint32,   DType::kUint64,
                                DType::kBool};

// The want of a refusal of `values`; empty when accepted.
std::string Refusal(DType dtype, const std::vector<int64_t>& shape,
                    const v1::TensorValues& values) {
  const absl::Status status = DecodeValues(values, TensorDesc::Dense(dtype, shape), "x").status();
  if (status.ok()) return "";
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  EXPECT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(AclnnCode(*detail), kParamInvalid);
  EXPECT_EQ(detail->parameter, "x");
  return detail->want;
}

TEST(TensorCodecTest, EveryDTypeGoesThereAndBack) {
  for (const DType dtype : kAllDTypes) {
    const absl::StatusOr<DType> back = DecodeDType(EncodeDType(dtype), "x");
    ASSERT_THAT(back, testing::IsOk());
    EXPECT_EQ(*back, dtype);
    // Names agree too: DATA_TYPE_FLOAT32, "float32".
    std::string name =
        v1::DataType_Name(EncodeDType(dtype)).substr(std::string_view("DATA_TYPE_").size());
    EXPECT_EQ(ParseDType(name), dtype);
  }
  for (const int number :
       {-1, 14, 99, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    EXPECT_FALSE(DecodeDType(number, "x").ok()) << number;
  }
}

TEST(TensorCodecTest, ValuesOfEveryDTypeGoThereAndBack) {
  for (const DType dtype : kAllDTypes) {
    std::vector<std::byte> elements(2 * DTypeSize(dtype), std::byte{0});
    elements[0] = std::byte{1};  // some number that the dtype has; true for bool
    v1::TensorValues values;
    EncodeValues(dtype, elements.data(), 2, values);
    EXPECT_LE(values.ByteSizeLong(), EncodedValuesBytes(dtype, 2));
    const std::vector<int64_t> shape = {2};
    if (dtype == DType::kUint8 || dtype == DType::kUint16 || dtype == DType::kUint32)
      continue;  // taken as ints only
    const auto decoded = DecodeValues(values, TensorDesc::Dense(dtype, shape), "x");
    ASSERT_THAT(decoded, testing::IsOk());
    EXPECT_EQ(*decoded, elements) << DTypeName(dtype);
  }
}

TEST(TensorCodecTest, ValuesMustFit) {
  v1::TensorValues ints;
  ints.add_ints(1);
  ints.add_ints(300);
  EXPECT_EQ(Refusal(DType::kInt32, {2}, ints), "");
  EXPECT_EQ(Refusal(DType::kFloat32, {2}, ints), "");
  EXPECT_EQ(Refusal(DType::kUint8, {2}, ints), "a number that uint8 holds");
  EXPECT_EQ(Refusal(DType::kBool, {2}, ints), "a number that bool holds");
  EXPECT_EQ(Refusal(DType::kInt32, {3}, ints), "3 values for int32[3]");
  EXPECT_EQ(Refusal(DType::kInt32, {}, ints), "1 values for int32[]");
  EXPECT_EQ(Refusal(DType::kInt32, {0}, ints), "0 values for int32[0]");
  EXPECT_EQ(Refusal(DType::kInt32, {2}, {}), "2 values for int32[2]");
  EXPECT_EQ(Refusal(DType::kInt32, {0}, {}), "");

  v1::TensorValues floats;
  floats.add_floats(1.5);
  EXPECT_EQ(Refusal(DType::kInt32, {1}, floats), "values in one list, ints (int32)");
  EXPECT_EQ(Refusal(DType::kBool, {1}, floats), "values in one list, bools or ints (bool)");
  EXPECT_EQ(Refusal(DType::kFloat16, {1}, floats), "");
  floats.add_ints(1);
  EXPECT_EQ(Refusal(DType::kFloat16, {2}, floats), "values in one list, floats or ints (float16)");

  v1::TensorValues uints;
  uints.add_uints(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(Refusal(DType::kUint64, {1}, uints), "");
  EXPECT_EQ(Refusal(DType::kInt64, {1}, uints), "values in one list, ints (int64)");
}

TEST(TensorCodecTest, DescriptionsOfSillyLengthAreRefusedAtOnce) {
  v1::Tensor tensor;
  tensor.set_name("x");
  tensor.set_dtype(v1::DATA_TYPE_FLOAT32);
  for (int i = 0; i < 9; ++i) tensor.add_shape(1);
  EXPECT_THAT(DecodeDesc(tensor), testing::IsOk());  // rank 9 is for the operators to refuse
  tensor.mutable_shape()->Resize(100'000, 2);
  EXPECT_FALSE(DecodeDesc(tensor).ok());
  tensor.clear_shape();
  tensor.mutable_shape()->Resize(64, std::numeric_limits<int64_t>::min());
  const absl::StatusOr<TensorDesc> desc = DecodeDesc(tensor);
  ASSERT_THAT(desc, testing::IsOk());
  EXPECT_FALSE(CheckDesc(*desc, "x").ok());
}

template <typename T>
AttributeValue Attribute(DType dtype, const std::vector<int64_t>& shape,
                         const std::vector<T>& elements, AttributeKind kind) {
  const absl::StatusOr<AttributeValue> value =
      AttributeOfTensor(TensorDesc::Dense(dtype, shape),
                        reinterpret_cast<const std::byte*>(elements.data()), kind, "x");
  EXPECT_THAT(value, testing::IsOk());
  return value.value_or(AttributeValue());
}

TEST(AttributeOfTensorTest, ScalarsAndLists) {
  EXPECT_EQ(Attribute<float>(DType::kFloat32, {}, {0.5f}, AttributeKind::kFloat),
            AttributeValue(0.5));
  EXPECT_EQ(Attribute<float>(DType::kFloat32, {1}, {0.5f}, AttributeKind::kScalar),
            AttributeValue(0.5));
  EXPECT_EQ(Attribute<int32_t>(DType::kInt32, {}, {-7}, AttributeKind::kInt),
            AttributeValue(int64_t{-7}));
  EXPECT_EQ(Attribute<uint64_t>(DType::kUint64, {1}, {7}, AttributeKind::kInt),
            AttributeValue(int64_t{7}));
  EXPECT_EQ(Attribute<uint8_t>(DType::kBool, {}, {2}, AttributeKind::kBool), AttributeValue(true));
  EXPECT_EQ(Attribute<int64_t>(DType::kInt64, {1}, {5}, AttributeKind::kIntList),
            AttributeValue(std::vector<int64_t>{5}));
  EXPECT_EQ(Attribute<uint8_t>(DType::kBool, {3}, {1, 0, 1}, AttributeKind::kBoolList),
            AttributeValue(std::vector<bool>{true, false, true}));
  EXPECT_EQ(Attribute<double>(DType::kFloat64, {2}, {1, 2}, AttributeKind::kIntList),
            AttributeValue(std::vector<double>{1, 2}));
  EXPECT_EQ(Attribute<int64_t>(DType::kInt64, {0}, {}, AttributeKind::kIntList),
            AttributeValue(std::vector<int64_t>{}));
}

TEST(AttributeOfTensorTest, RefusesOtherRanksAndLargeInts) {
  const uint64_t large = std::numeric_limits<uint64_t>::max();
  const auto* bytes = reinterpret_cast<const std::byte*>(&large);
  const std::vector<int64_t> one = {1};
  const std::vector<int64_t> square = {1, 1};
  EXPECT_FALSE(
      AttributeOfTensor(TensorDesc::Dense(DType::kUint64, {}), bytes, AttributeKind::kInt, "x")
          .ok());
  EXPECT_FALSE(
      AttributeOfTensor(TensorDesc::Dense(DType::kUint64, one), bytes, AttributeKind::kIntList, "x")
          .ok());
  EXPECT_FALSE(
      AttributeOfTensor(TensorDesc::Dense(DType::kInt64, square), bytes, AttributeKind::kInt, "x")
          .ok());
}

}  // namespace
}  // namespace opserve::server
