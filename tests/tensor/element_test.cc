#include "core/tensor/element.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/tensor/half.h"
#include "gtest/gtest.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

TEST(ElementTest, EveryDtypeHoldsItsRange) {
  std::byte element[8];
  EXPECT_THAT(StoreElement(DType::kInt8, int64_t{-128}, element), testing::IsOk());
  EXPECT_FALSE(StoreElement(DType::kInt8, int64_t{128}, element).ok());
  EXPECT_FALSE(StoreElement(DType::kUint8, int64_t{-1}, element).ok());
  EXPECT_THAT(StoreElement(DType::kUint64, std::numeric_limits<uint64_t>::max(), element),
              testing::IsOk());
  EXPECT_FALSE(StoreElement(DType::kInt64, std::numeric_limits<uint64_t>::max(), element).ok());
  EXPECT_FALSE(StoreElement(DType::kInt32, 1.0, element).ok());
  EXPECT_THAT(StoreElement(DType::kBool, int64_t{1}, element), testing::IsOk());
  EXPECT_FALSE(StoreElement(DType::kBool, int64_t{2}, element).ok());
  EXPECT_FALSE(StoreElement(DType::kUndefined, int64_t{0}, element).ok());
}

TEST(ElementTest, HalfTypesAreRoundedOnce) {
  // Just above the tie between two neighbours, by less than a float can tell.
  std::byte element[2];
  uint16_t bits = 0;
  ASSERT_THAT(StoreElement(DType::kFloat16, 1.0 + 0x1p-11 + 0x1p-40, element), testing::IsOk());
  std::memcpy(&bits, element, 2);
  EXPECT_EQ(bits, 0x3c01);
  ASSERT_THAT(StoreElement(DType::kBFloat16, 1.0 + 0x1p-8 + 0x1p-50, element), testing::IsOk());
  std::memcpy(&bits, element, 2);
  EXPECT_EQ(bits, 0x3f81);
  ASSERT_THAT(StoreElement(DType::kFloat16, 65520.0 - 0x1p-30, element), testing::IsOk());
  std::memcpy(&bits, element, 2);
  EXPECT_EQ(bits, 0x7bff);
}

TEST(ElementTest, LargeIntegersAreRoundedOnce) {
  // Above the tie between two floats by less than a double can tell.
  std::byte element[4];
  float value = 0;
  ASSERT_THAT(StoreElement(DType::kFloat32, (int64_t{1} << 62) + (int64_t{1} << 38) + 1, element),
              testing::IsOk());
  std::memcpy(&value, element, 4);
  EXPECT_EQ(value, 0x1p62f + 0x1p39f);
}

TEST(ElementTest, TextIsShortAndReadsBack) {
  const auto text = [](DType dtype, double value) {
    std::byte element[8];
    EXPECT_THAT(StoreElement(dtype, value, element), testing::IsOk());
    return ElementToString(dtype, element);
  };
  EXPECT_EQ(text(DType::kFloat32, 0.1), "0.1");
  EXPECT_EQ(text(DType::kFloat16, 0.1), "0.1");
  EXPECT_EQ(text(DType::kBFloat16, 0.1), "0.1");
  EXPECT_EQ(text(DType::kFloat32, -1), "-1");
  EXPECT_EQ(text(DType::kFloat64, std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(text(DType::kFloat16, -std::numeric_limits<double>::infinity()), "-inf");
}

TEST(ElementTest, EveryHalfReadsBackFromItsText) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    std::byte element[2];
    std::memcpy(element, &half, 2);
    const std::string text = ElementToString(DType::kFloat16, element);
    ASSERT_EQ(FloatToFloat16(std::strtof(text.c_str(), nullptr)), half) << text;
  }
}

}  // namespace
}  // namespace opserve
