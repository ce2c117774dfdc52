#include "client/cli/formats/literal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/tensor/element.h"
#include "tests/support/status_matchers.h"

namespace opserve::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> Values(DType dtype, const std::vector<std::byte>& bytes) {
  std::vector<double> values;
  for (size_t i = 0; i < bytes.size(); i += DTypeSize(dtype))
    values.push_back(LoadAsDouble(dtype, bytes.data() + i));
  return values;
}

TEST(LiteralTest, ReadsElementsInBraces) {
  const absl::StatusOr<Literal> literal = ParseLiteral(" f32[2, 2]{0, -1.5,1e3 ,0x10} ");
  ASSERT_THAT(literal, testing::IsOk());
  EXPECT_EQ(literal->dtype, DType::kFloat32);
  EXPECT_THAT(literal->shape, ElementsAre(2, 2));
  EXPECT_TRUE(literal->strides.empty());
  EXPECT_THAT(Values(literal->dtype, literal->elements), ElementsAre(0, -1.5, 1000, 16));
}

TEST(LiteralTest, CountsRankOne) {
  const absl::StatusOr<Literal> literal = ParseLiteral("int64{1,2,3}");
  ASSERT_THAT(literal, testing::IsOk());
  EXPECT_EQ(literal->dtype, DType::kInt64);
  EXPECT_THAT(literal->shape, ElementsAre(3));
  EXPECT_TRUE(ParseLiteral("f32{}")->elements.empty());
}

TEST(LiteralTest, ReadsScalars) {
  EXPECT_THAT(Values(DType::kFloat64, ParseLiteral("f64[]{3}")->elements), ElementsAre(3));
  const absl::StatusOr<Literal> bare = ParseLiteral("-1.5");
  ASSERT_THAT(bare, testing::IsOk());
  EXPECT_EQ(bare->dtype, DType::kFloat32);
  EXPECT_TRUE(bare->shape.empty());
  EXPECT_THAT(Values(DType::kFloat32, bare->elements), ElementsAre(-1.5));
}

TEST(LiteralTest, FillsAShape) {
  const absl::StatusOr<Literal> literal = ParseLiteral("bf16[2,3]=0.5");
  ASSERT_THAT(literal, testing::IsOk());
  EXPECT_EQ(literal->data, Literal::Data::kFill);
  const absl::StatusOr<std::vector<std::byte>> bytes = LiteralBytes(*literal, 12);
  ASSERT_THAT(bytes, testing::IsOk());
  EXPECT_THAT(Values(DType::kBFloat16, *bytes), ElementsAre(.5, .5, .5, .5, .5, .5));
  EXPECT_THAT(std::string(LiteralBytes(*literal, 11).status().message()),
              HasSubstr("want at most 11 bytes of data"));
}

TEST(LiteralTest, HugeFillIsRefusedWithoutMemory) {
  for (const char* text :
       {"f32[9223372036854775807,9223372036854775807]=1", "f32[1000000,1000000]=1", "f64[-1]=1"}) {
    const absl::StatusOr<Literal> literal = ParseLiteral(text);
    ASSERT_THAT(literal, testing::IsOk());
    EXPECT_FALSE(LiteralBytes(*literal, int64_t{1} << 32).ok()) << text;
  }
}

TEST(LiteralTest, ShapeAloneHasNoData) {
  const absl::StatusOr<Literal> literal = ParseLiteral("f16[4,2]");
  ASSERT_THAT(literal, testing::IsOk());
  EXPECT_EQ(literal->data, Literal::Data::kNone);
  EXPECT_FALSE(LiteralBytes(*literal, 100).ok());
}

TEST(LiteralTest, ReadsViews) {
  const absl::StatusOr<Literal> transposed = ParseLiteral("f32[2,4]{0,1,2,3,4,5,6,7}.strides(1,2)");
  ASSERT_THAT(transposed, testing::IsOk());
  EXPECT_THAT(transposed->strides, ElementsAre(1, 2));
  const absl::StatusOr<Literal> slice = ParseLiteral("f32[2]{0,1,2,3} .offset(1) .strides(2)");
  ASSERT_THAT(slice, testing::IsOk());
  EXPECT_THAT(slice->strides, ElementsAre(2));
  EXPECT_EQ(slice->storage_offset, 1);
  EXPECT_EQ(slice->elements.size(), 16u);
  // How a view lies in its storage is the server's to check.
  EXPECT_THAT(ParseLiteral("f32[1342177280]{0,1,2,3}.strides(1)"), testing::IsOk());
}

TEST(LiteralTest, ReadsSpecialNumbers) {
  const absl::StatusOr<Literal> literal = ParseLiteral("f32{nan,inf,-Infinity,-0,0x1.8p1,true}");
  ASSERT_THAT(literal, testing::IsOk());
  const std::vector<double> values = Values(DType::kFloat32, literal->elements);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], INFINITY);
  EXPECT_EQ(values[2], -INFINITY);
  EXPECT_TRUE(std::signbit(values[3]));
  EXPECT_EQ(values[4], 3);
  EXPECT_EQ(values[5], 1);
  EXPECT_THAT(ParseLiteral("bool{true,false,1,0}"), testing::IsOk());
  EXPECT_THAT(ParseLiteral("u64{18446744073709551615}"), testing::IsOk());
  EXPECT_THAT(ParseLiteral("i64{-9223372036854775808}"), testing::IsOk());
}

struct BadLiteral {
  const char* text;
  const char* message;
};

class BadLiteralTest : public ::testing::TestWithParam<BadLiteral> {};

TEST_P(BadLiteralTest, SaysWhatIsWrong) {
  const absl::StatusOr<Literal> literal = ParseLiteral(GetParam().text);
  ASSERT_FALSE(literal.ok()) << GetParam().text;
  EXPECT_THAT(std::string(literal.status().message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLiteralTest,
    ::testing::Values(
        BadLiteral{"", "want a dtype"}, BadLiteral{"flaot32[2]", "did you mean 'float32'?"},
        BadLiteral{"f32", "want [shape] or {elements}"}, BadLiteral{"f32[2", "want ']'"},
        BadLiteral{"f32[2,]{1,2}", "a shape of whole numbers"},
        BadLiteral{"f32[1.5]=1", "a shape of whole numbers"},
        BadLiteral{"f32[99999999999999999999]=1", "a shape of whole numbers"},
        BadLiteral{"f32[2]{1,2", "want '}'"}, BadLiteral{"f32[2]{1,,2}", "want a number, got ''"},
        BadLiteral{"f32[2]{1,x}", "got 'x'"},
        BadLiteral{"f32[2]{1}", "as many elements as the shape [2] has, got 1 element"},
        BadLiteral{"f32[-1]{1}", "as many elements"},
        BadLiteral{"f32[2]{1,2}x", "want nothing more"},
        BadLiteral{"f32[2]{1,2}.stride(1)", "want .strides(…) or .offset(…)"},
        BadLiteral{"f32[2]{1,2}.strides(1).strides(1)", "once"},
        BadLiteral{"f32[2]{1,2}.strides(1", "want ')'"},
        BadLiteral{"f32[2]{1,2,3,4}.strides()",
                   "a stride for each of the shape's 1 extents, got 0"},
        BadLiteral{"f32[2]{1,2,3,4}.strides(1,2)", "extents, got 2"},
        BadLiteral{"f32[2]{1,2}.offset(x)", "a whole number"},
        BadLiteral{"f32{1,2}.strides(1)", "want a shape"}, BadLiteral{"f32[2]=", "want a number"},
        BadLiteral{"i8{128}", "a number that int8 holds"},
        BadLiteral{"i32{1.5}", "a number that int32 holds"}, BadLiteral{"u8{-1}", "uint8"},
        BadLiteral{"bool{2}", "bool"}, BadLiteral{"i64{0x1ffffffffffffffff}", "want a number"}));

TEST(LiteralTest, TellsLiteralsFromFiles) {
  for (const char* text : {"1", "-1e3", "nan", "f32[2]", "f32{1}", "flt[2]=1", " f32 [2]"}) {
    EXPECT_EQ(LooksLikeLiteral(text), std::string(text) != " f32 [2]") << text;
  }
  for (const char* text : {"", "-", "grad.npy", "./1", "dir/f32[2]", "[2]", "{1}"})
    EXPECT_FALSE(LooksLikeLiteral(text)) << text;
}

}  // namespace
}  // namespace opserve::cli
