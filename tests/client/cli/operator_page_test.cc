#include "client/cli/output/operator_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace opserve::cli {
namespace {

using ::testing::HasSubstr;

client::OperatorSchema Schema() {
  client::OperatorSchema schema;
  schema.name = "FooBackward";
  schema.summary = "Gradient of Foo.";
  schema.description =
      "y = x\nA second paragraph that is quite a bit longer than eighty columns are, so that it "
      "has to be broken.";
  schema.inputs = {
      {"grad", "the gradient", false, {DType::kFloat32, DType::kBFloat16}, "broadcastable"},
      {"gamma", "the weight", true, {DType::kFloat32}, "(C)"}};
  schema.attributes = {{"group", "groups", client::AttributeKind::kInt, std::nullopt},
                       {"mask", "which", client::AttributeKind::kBoolList,
                        client::AttributeValue(std::vector<bool>{true, false})}};
  schema.attributes[0].range = {.minimum = 0, .minimum_excluded = true};
  client::AttributeParameter mode;
  mode.name = "mode";
  mode.summary = "how";
  mode.kind = client::AttributeKind::kInt;
  mode.default_value = client::AttributeValue(int64_t{1});
  mode.choices = {{0, "slow", "with care"}, {1, "fast", ""}};
  schema.attributes.push_back(mode);
  using Source = client::GradientInput::Source;
  schema.gradient = {"FooGrad",
                     {{"grad", Source::kOutputGradient, "out"},
                      {"x", Source::kInput, "self"},
                      {"saved", Source::kOutput, "mean"},
                      {"new", Source::kUnknown, ""}},
                     {{"grad_x", "self"}},
                     "mask"};
  schema.outputs = {{"grad_input", "", false, {}, ""}};
  schema.support = {{"host", {DType::kFloat32}}, {"atlas-a2", {DType::kFloat16}}};
  schema.streams_in_chunks = true;
  return schema;
}

TEST(OperatorPageTest, HasAllSections) {
  const std::string page = OperatorPage(Schema());
  EXPECT_THAT(page, HasSubstr("NAME\n    FooBackward - Gradient of Foo.\n"));
  EXPECT_THAT(page, HasSubstr("    opserve run FooBackward -i grad=VALUE [-i gamma=VALUE] -a "
                              "group=INT\n        [-a mask=LIST_OF_BOOLS] [-a mode=slow|fast]\n"));
  EXPECT_THAT(page, HasSubstr("DESCRIPTION\n    y = x\n    A second"));
  EXPECT_THAT(page, HasSubstr("INPUTS\n    grad   the gradient\n           shape: broadcastable\n  "
                              "         dtype: float32, bfloat16\n"));
  EXPECT_THAT(page, HasSubstr("    gamma  the weight (optional)\n"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "ATTRIBUTES\n    group  groups\n           int, > 0, required\n    mask   which\n"));
  EXPECT_THAT(page,
              HasSubstr("    mode   how\n           int, default fast\n           0 slow: with "
                        "care\n           1 fast\n"));
  EXPECT_THAT(page, HasSubstr("GRADIENT, BY FooGrad\n"
                              "    grad    takes the gradient that comes in for out\n"
                              "    x       takes the input self\n"
                              "    saved   takes the output mean\n"
                              "    new     takes what this client does not know\n"
                              "    grad_x  gives the gradient of self\n"
                              "    mask    says which of them to compute\n"));
  EXPECT_THAT(page, HasSubstr("list of bools, default [true,false]\n"));
  EXPECT_THAT(page, HasSubstr("OUTPUTS\n    grad_input"));
  EXPECT_THAT(page, HasSubstr("PROFILES\n    host      float32\n    atlas-a2  float16\n"));
  EXPECT_THAT(page, HasSubstr("STREAMS IN CHUNKS\n    yes\n"));
  EXPECT_THAT(page, HasSubstr("run FooBackward -i 'grad=f32[4,2]=1' -i gamma=gamma.npy -a "
                              "group=1 -a mask=[true,false] -a mode=fast\n"));
}

TEST(OperatorPageTest, KeepsToEightyColumnsButForTheExample) {
  const std::string page = OperatorPage(Schema());
  const std::string text = page.substr(0, page.find("EXAMPLE"));
  for (size_t start = 0; start < text.size();) {
    const size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 80u) << text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(OperatorPageTest, EmptySchemaHasAPage) { EXPECT_THAT(OperatorPage({}), HasSubstr("NAME\n")); }

TEST(OperatorPageTest, ListsOperators) {
  client::OperatorSchema other;
  other.name = "L1";
  other.summary = "One.";
  EXPECT_EQ(OperatorList(std::vector<client::OperatorSchema>{Schema(), other}),
            "FooBackward  Gradient of Foo.\nL1           One.\n");
}

TEST(OperatorPageTest, ListsOperatorsByFamily) {
  std::vector<client::OperatorSchema> schemas = {Schema(), Schema(), Schema()};
  schemas[0].family = schemas[1].family = "Losses";
  schemas[1].name = "L1";
  schemas[2].name = "Add";
  schemas[2].family = "Arithmetic";
  EXPECT_EQ(OperatorList(schemas),
            "Losses\n  FooBackward  Gradient of Foo.\n  L1           Gradient of Foo.\n\n"
            "Arithmetic\n  Add          Gradient of Foo.\n");
}

}  // namespace
}  // namespace opserve::cli
