#include "core/tensor/half.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace opserve {
namespace {

// Every finite number of a half type, and the points at which rounding changes its mind between
// neighbours.
template <typename Widen, typename Narrow>
void ExpectNearestEven(uint16_t infinity, Widen widen, Narrow narrow) {
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    const auto low = static_cast<uint16_t>(bits);
    const float value = widen(low);
    ASSERT_EQ(narrow(value), low);
    ASSERT_EQ(narrow(-value), static_cast<uint16_t>(low | 0x8000u));
    if (bits + 1 == infinity) continue;
    const float next = widen(static_cast<uint16_t>(low + 1));
    const float middle = value + (next - value) / 2;
    const auto even = static_cast<uint16_t>(low % 2 == 0 ? low : low + 1);
    ASSERT_EQ(narrow(middle), even) << bits;
    ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), low) << bits;
    ASSERT_EQ(narrow(std::nextafter(middle, std::numeric_limits<float>::infinity())), low + 1)
        << bits;
  }
}

TEST(HalfTest, Float16RoundsToNearestEven) {
  ExpectNearestEven(0x7c00, Float16ToFloat, FloatToFloat16);
  EXPECT_EQ(FloatToFloat16(65519.0f), 0x7bff);
  EXPECT_EQ(FloatToFloat16(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToFloat16(-1e30f), 0xfc00);
  EXPECT_EQ(FloatToFloat16(0x1p-26f), 0);
}

TEST(HalfTest, BFloat16RoundsToNearestEven) {
  ExpectNearestEven(0x7f80, BFloat16ToFloat, FloatToBFloat16);
  EXPECT_EQ(FloatToBFloat16(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(HalfTest, NaNStaysNaNAndGetsQuiet) {
  const float signaling = std::numeric_limits<float>::signaling_NaN();
  EXPECT_TRUE(std::isnan(Float16ToFloat(FloatToFloat16(signaling))));
  EXPECT_TRUE(std::isnan(BFloat16ToFloat(FloatToBFloat16(signaling))));
  EXPECT_EQ(FloatToFloat16(std::bit_cast<float>(0x7f800001u)) & 0x7e00u, 0x7e00u);
  EXPECT_EQ(FloatToBFloat16(std::bit_cast<float>(0xff800001u)), 0xffc0u);
  EXPECT_TRUE(std::isnan(Float16ToFloat(0x7c01)));
}

}  // namespace
}  // namespace opserve
