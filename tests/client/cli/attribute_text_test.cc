#include "client/cli/output/attribute_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/op_error.h"
#include "tests/support/status_matchers.h"

namespace opserve::cli {
namespace {

using client::AttributeKind;
using client::AttributeValue;

AttributeValue Parse(AttributeKind kind, std::string_view text) {
  const absl::StatusOr<AttributeValue> value = ParseAttribute("a", kind, text);
  EXPECT_THAT(value, testing::IsOk());
  return value.value_or(AttributeValue(int64_t{-999}));
}

TEST(AttributeTextTest, TypesBySchema) {
  EXPECT_EQ(Parse(AttributeKind::kInt, "1"), AttributeValue(int64_t{1}));
  EXPECT_EQ(Parse(AttributeKind::kFloat, "1"), AttributeValue(1.0));
  EXPECT_EQ(Parse(AttributeKind::kFloat, "-inf"), AttributeValue(-INFINITY));
  EXPECT_EQ(Parse(AttributeKind::kBool, "1"), AttributeValue(true));
  EXPECT_EQ(Parse(AttributeKind::kBool, "False"), AttributeValue(false));
  EXPECT_EQ(Parse(AttributeKind::kIntList, "1,2, 3"),
            AttributeValue(std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(Parse(AttributeKind::kIntList, "[7]"), AttributeValue(std::vector<int64_t>{7}));
  EXPECT_EQ(Parse(AttributeKind::kIntList, "[]"), AttributeValue(std::vector<int64_t>{}));
  EXPECT_EQ(Parse(AttributeKind::kBoolList, "[true,false,1]"),
            AttributeValue(std::vector<bool>{true, false, true}));
  EXPECT_EQ(Parse(AttributeKind::kScalar, "2"), AttributeValue(int64_t{2}));
  EXPECT_EQ(Parse(AttributeKind::kScalar, "0.5"), AttributeValue(0.5));
  EXPECT_EQ(Parse(AttributeKind::kScalar, "true"), AttributeValue(true));
}

TEST(AttributeTextTest, GuessesUnknownKinds) {
  EXPECT_EQ(Parse(AttributeKind::kUnknown, "2"), AttributeValue(int64_t{2}));
  EXPECT_EQ(Parse(AttributeKind::kUnknown, "1,2"), AttributeValue(std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Parse(AttributeKind::kUnknown, "[true]"), AttributeValue(std::vector<bool>{true}));
  EXPECT_EQ(Parse(AttributeKind::kUnknown, "1,2.5"), AttributeValue(std::vector<double>{1, 2.5}));
}

TEST(AttributeTextTest, RefusesWhatDoesNotFit) {
  const std::vector<std::pair<AttributeKind, const char*>> bad = {
      {AttributeKind::kInt, "1.5"},      {AttributeKind::kInt, ""},
      {AttributeKind::kInt, "1,2"},      {AttributeKind::kFloat, "true"},
      {AttributeKind::kFloat, "x"},      {AttributeKind::kBool, "2"},
      {AttributeKind::kIntList, "1,,2"}, {AttributeKind::kIntList, "1,"},
      {AttributeKind::kIntList, "[1"},   {AttributeKind::kBoolList, "maybe"},
      {AttributeKind::kScalar, "word"},  {AttributeKind::kUnknown, "word"}};
  for (const auto& [kind, text] : bad) {
    const absl::Status status = ParseAttribute("beta", kind, text).status();
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(GetErrorDetail(status)->parameter, "beta");
    EXPECT_EQ(GetErrorDetail(status)->got, "'" + std::string(text) + "'");
  }
}

TEST(AttributeTextTest, WritesWhatItReads) {
  const std::vector<std::pair<AttributeKind, const char*>> texts = {
      {AttributeKind::kInt, "-3"},
      {AttributeKind::kFloat, "0.1"},
      {AttributeKind::kFloat, "nan"},
      {AttributeKind::kBool, "true"},
      {AttributeKind::kIntList, "[1,2]"},
      {AttributeKind::kBoolList, "[true,false]"},
      {AttributeKind::kUnknown, "[0.5,inf]"},
      {AttributeKind::kUnknown, "[-0,9]"},
      {AttributeKind::kUnknown, "[1,-0]"},
      {AttributeKind::kScalar, "-0"}};
  for (const auto& [kind, text] : texts) EXPECT_EQ(AttributeText(Parse(kind, text)), text);
}

client::AttributeParameter Reduction() {
  client::AttributeParameter parameter;
  parameter.name = "reduction";
  parameter.kind = AttributeKind::kInt;
  parameter.choices = {{0, "none", ""}, {1, "mean", ""}, {2, "sum", ""}};
  return parameter;
}

TEST(AttributeTextTest, TakesChoicesByNameAndNumber) {
  EXPECT_EQ(*ParseAttribute(Reduction(), "mean"), AttributeValue(std::string("mean")));
  EXPECT_EQ(*ParseAttribute(Reduction(), "2"), AttributeValue(int64_t{2}));
  EXPECT_EQ(*ParseAttribute(Reduction(), "7"),
            AttributeValue(int64_t{7}));  // the server refuses it
  const absl::Status status = ParseAttribute(Reduction(), "Mean").status();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(GetErrorDetail(status)->parameter, "reduction");
  EXPECT_EQ(GetErrorDetail(status)->want, "one of 0 none, 1 mean, 2 sum; did you mean 'mean'?");
  EXPECT_EQ(GetErrorDetail(status)->got, "'Mean'");
  EXPECT_FALSE(ParseAttribute(Reduction(), "").ok());
}

TEST(AttributeTextTest, WritesValuesByName) {
  EXPECT_EQ(ValueText(Reduction(), AttributeValue(int64_t{2})), "sum");
  EXPECT_EQ(ValueText(Reduction(), AttributeValue(int64_t{3})), "3");
  EXPECT_EQ(AttributeText(AttributeValue(std::string("mean"))), "mean");
}

TEST(AttributeTextTest, SaysWhatIsAllowed) {
  EXPECT_EQ(AllowedText(Reduction()), "0 none, 1 mean, 2 sum");
  client::AttributeParameter parameter;
  EXPECT_EQ(AllowedText(parameter), "");
  parameter.kind = AttributeKind::kIntList;
  parameter.list_length = 3;
  parameter.range = {.minimum = 0};
  EXPECT_EQ(AllowedText(parameter), "3 elements, each >= 0");
  parameter.kind = AttributeKind::kFloat;
  parameter.list_length = 0;
  parameter.range = {
      .minimum = 0.5, .maximum = 1, .minimum_excluded = true, .maximum_excluded = true};
  EXPECT_EQ(AllowedText(parameter), "> 0.5, < 1");
  parameter.range = client::AttributeRange();
  EXPECT_EQ(AllowedText(parameter), "");
}

}  // namespace
}  // namespace opserve::cli
