#include "client/cli/formats/number_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace opserve::cli {
namespace {

TEST(NumberTextTest, ParsesInt64) {
  EXPECT_EQ(ParseInt64(" 42 "), 42);
  EXPECT_EQ(ParseInt64("-0x10"), -16);
  EXPECT_EQ(ParseInt64("+7"), 7);
  EXPECT_EQ(ParseInt64("-9223372036854775808"), INT64_MIN);
  for (const char* text :
       {"", "-", "+", "0x", "1.0", "1e3", "9223372036854775808", "--1", "+-1", "1 2", "true"}) {
    EXPECT_FALSE(ParseInt64(text).has_value()) << text;
  }
}

TEST(NumberTextTest, KeepsIntegersExact) {
  EXPECT_EQ(std::get<int64_t>(*ParseNumber("9007199254740993", DType::kFloat32)), 9007199254740993);
  EXPECT_EQ(std::get<uint64_t>(*ParseNumber("18446744073709551615", DType::kUint64)), UINT64_MAX);
  EXPECT_EQ(std::get<bool>(*ParseNumber("TRUE", DType::kBool)), true);
}

TEST(NumberTextTest, RoundsFloat32OnceFromTheText) {
  // Just above the middle of two floats: by way of double it would become the middle, and then
  // round down.
  const char* text = "1.00000005960464477540";
  EXPECT_EQ(std::get<double>(*ParseNumber(text, DType::kFloat32)), 1.0 + 0x1p-23);
}

TEST(NumberTextTest, KeepsTheSignOfZeroAndNan) {
  EXPECT_TRUE(std::signbit(std::get<double>(*ParseNumber("-0", DType::kFloat32))));
  EXPECT_TRUE(std::isnan(std::get<double>(*ParseNumber("-nan", DType::kFloat32))));
  EXPECT_EQ(std::get<double>(*ParseNumber("1e999", DType::kFloat64)), INFINITY);
}

TEST(NumberTextTest, RefusesWhatStrtodWouldTake) {
  for (const char* text : {"", "nan(1)", "in", "infinit", "1e", "0x", "0xp1", ".", "1,5", "1f",
                           "- 1", "--1", "1_0", "0b1", "e5"}) {
    EXPECT_FALSE(ParseNumber(text, DType::kFloat64).has_value()) << text;
  }
}

}  // namespace
}  // namespace opserve::cli
