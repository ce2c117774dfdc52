#include "core/tensor/dtype.h"

#include "gtest/gtest.h"

namespace opserve {
namespace {

TEST(DTypeTest, Promotion) {
  using enum DType;
  struct Row {
    DType a, b, want;
  };
  const Row rows[] = {
      {kFloat32, kFloat16, kFloat32},  {kBFloat16, kFloat16, kFloat32},
      {kFloat64, kBFloat16, kFloat64}, {kFloat16, kInt64, kFloat16},
      {kBFloat16, kBool, kBFloat16},   {kUint8, kInt8, kInt16},
      {kUint8, kInt16, kInt16},        {kUint8, kInt64, kInt64},
      {kBool, kInt8, kInt8},           {kBool, kBool, kBool},
      {kInt32, kInt64, kInt64},        {kUint16, kUint16, kUint16},
      {kUint16, kInt64, kUndefined},   {kUint32, kFloat32, kUndefined},
      {kUint64, kUint8, kUndefined},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(PromoteDTypes(row.a, row.b), row.want) << DTypeName(row.a) << " " << DTypeName(row.b);
    EXPECT_EQ(PromoteDTypes(row.b, row.a), row.want) << DTypeName(row.b) << " " << DTypeName(row.a);
  }
}

TEST(DTypeTest, Casts) {
  EXPECT_TRUE(CanCast(DType::kFloat32, DType::kFloat16));
  EXPECT_TRUE(CanCast(DType::kInt32, DType::kFloat16));
  EXPECT_TRUE(CanCast(DType::kBool, DType::kInt8));
  EXPECT_FALSE(CanCast(DType::kFloat32, DType::kInt32));
  EXPECT_FALSE(CanCast(DType::kInt32, DType::kBool));
  EXPECT_FALSE(CanCast(DType::kUndefined, DType::kFloat32));
}

TEST(DTypeTest, NamesReadBack) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(ParseDType(DTypeName(dtype)), dtype);
    EXPECT_EQ(ParseDType(DTypeShortName(dtype)), dtype);
    EXPECT_GT(DTypeSize(dtype), 0u);
  }
  EXPECT_EQ(ParseDType("BF16"), DType::kBFloat16);
  EXPECT_EQ(ParseDType("FLOAT"), DType::kFloat32);
  EXPECT_EQ(ParseDType("undefined"), std::nullopt);
  EXPECT_EQ(ParseDType(""), std::nullopt);
}

TEST(DTypeTest, SetsPrintLikeProse) {
  EXPECT_EQ(kFloatDTypes.ToString(), "float32, float16 or bfloat16");
  EXPECT_EQ(DTypeSet{DType::kBool}.ToString(), "bool");
}

}  // namespace
}  // namespace opserve
