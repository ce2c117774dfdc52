#include "client/cli/formats/program_text.h"

#include <string>

#include "core/base/op_error.h"
#include "gtest/gtest.h"

namespace opserve::cli {
namespace {

TEST(ProgramTextTest, ReadsAStepALine) {
  const absl::StatusOr<ProgramText> program = ParseProgram(
      "# a layer\n"
      "h = Addmm(self=b, mat1=x , mat2=w[4,3].strides(1,4))  # transposed\r\n"
      "\n"
      "  loss=MseLoss(self=h,target=f32{1,2},reduction=mean)\n"
      "gradient loss: w, b\n"
      "return loss, hidden=h.out\n"
      "return again=h");
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->steps.size(), 2u);
  EXPECT_EQ(program->steps[0].name, "h");
  EXPECT_EQ(program->steps[0].op, "Addmm");
  ASSERT_EQ(program->steps[0].arguments.size(), 3u);
  EXPECT_EQ(program->steps[0].arguments[1].text, "x");
  EXPECT_EQ(program->steps[0].arguments[2].text, "w[4,3].strides(1,4)");
  EXPECT_EQ(program->steps[1].arguments[1].text, "f32{1,2}");
  ASSERT_EQ(program->outputs.size(), 3u);
  EXPECT_EQ(program->outputs[0].name, "loss");
  EXPECT_EQ(program->outputs[0].text, "loss");
  EXPECT_EQ(program->outputs[1].text, "h.out");
  ASSERT_EQ(program->gradient.size(), 1u);
  EXPECT_EQ(program->gradient[0].of, "loss");
  EXPECT_EQ(program->gradient[0].with_respect_to, (std::vector<std::string>{"w", "b"}));
}

TEST(ProgramTextTest, ReadsJson) {
  const absl::StatusOr<ProgramText> program = ParseProgram(
      R"( {"steps": [{"name": "h", "op": "Add", "inputs": {"self": "x", "other": 0.5},
                      "attributes": {"alpha": 2, "dims": [1, 2], "flag": true}}],
           "outputs": {"y": "h"},
           "gradient": {"of": "h", "with_respect_to": ["x"], "seed": "s",
                        "max_workspace_bytes": 65536}})");
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->steps.size(), 1u);
  ASSERT_EQ(program->steps[0].arguments.size(), 5u);
  EXPECT_EQ(program->steps[0].arguments[1].text, "0.5");
  EXPECT_EQ(program->steps[0].arguments[3].text, "[1,2]");
  EXPECT_EQ(program->steps[0].arguments[4].text, "true");
  EXPECT_EQ(program->gradient[0].seed, "s");
  EXPECT_EQ(program->gradient[0].max_workspace_bytes, 65536);
}

TEST(ProgramTextTest, NamesTheLineOfAMistake) {
  for (const char* line :
       {"h = Add(self=b", "h Add(self=b)", "= Add(self=b)", "h = (self=b)", "h = Add(self)",
        "h = Add(=b)", "h = Add(self=)", "h = Add(self=b,)", "return ,", "gradient loss", "h"}) {
    const absl::StatusOr<ProgramText> program = ParseProgram(std::string("\n") + line + "\n");
    ASSERT_FALSE(program.ok()) << line;
    EXPECT_EQ(GetErrorDetail(program.status())->parameter, "line 2") << program.status();
  }
  EXPECT_FALSE(ParseProgram("gradient a: b\ngradient a: b").ok());
  EXPECT_FALSE(ParseProgram("gradient a: b within much").ok());
  EXPECT_FALSE(ParseProgram("gradient a: b within 1,2").ok());
}

TEST(ProgramTextTest, SaysWhatJsonLacks) {
  for (const char* text :
       {"{", "{}", R"({"steps": 1})", R"({"steps": [1]})", R"({"steps": [{}]})",
        R"({"steps": [{"name": "h"}]})", R"({"steps": [{"name": "h", "op": "Add", "inputs": []}]})",
        R"({"steps": [], "outputs": 1})", R"({"steps": [], "gradient": 1})",
        R"({"steps": [], "gradient": {"of": "a"}})",
        R"({"steps": [], "gradient": {"of": "a", "with_respect_to": [], "seed": 1}})"}) {
    EXPECT_FALSE(ParseProgram(text).ok()) << text;
  }
}

TEST(ProgramTextTest, TellsConstantsFromViews) {
  EXPECT_TRUE(LooksLikeConstant("0.5"));
  EXPECT_TRUE(LooksLikeConstant("f32[2]{1,2}"));
  EXPECT_FALSE(LooksLikeConstant("w[2,3]"));
  EXPECT_FALSE(LooksLikeConstant("x"));
  EXPECT_FALSE(LooksLikeConstant("conv.mean"));
}

TEST(ProgramTextTest, ReadsViews) {
  const absl::StatusOr<ProgramValue> plain = ParseValue("conv.mean");
  ASSERT_TRUE(plain.ok());
  EXPECT_FALSE(plain->has_shape);
  const absl::StatusOr<ProgramValue> flat = ParseValue("p[2,-1]");
  ASSERT_TRUE(flat.ok());
  EXPECT_EQ(flat->shape, (Dims{2, -1}));
  EXPECT_FALSE(flat->has_strides);
  const absl::StatusOr<ProgramValue> scalar = ParseValue("h[]");
  ASSERT_TRUE(scalar.ok());
  EXPECT_TRUE(scalar->has_shape);
  EXPECT_TRUE(scalar->shape.empty());
  const absl::StatusOr<ProgramValue> view = ParseValue("w[4,3].strides(1,4).offset(2)");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->name, "w");
  EXPECT_EQ(view->strides, (Dims{1, 4}));
  EXPECT_EQ(view->storage_offset, 2);
  for (const char* text : {"", "[2]", "w[", "w[a]", "w[2].stride(1)", "w[2].offset()",
                           "w[2].offset(1,2)", "w[2]x", "w[99999999999999999999]"})
    EXPECT_FALSE(ParseValue(text).ok()) << text;
}

}  // namespace
}  // namespace opserve::cli
