// `opserve program` against the real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/client/cli/process.h"

namespace opserve::client {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

constexpr char kLayer[] =
    "h = Addmm(self=b, mat1=x, mat2=w[3,2].strides(1,3))\n"
    "p = Mul(self=h, other=0.5)\n"
    "loss = MseLoss(self=p, target=t, reduction=mean)\n"
    "return loss, hidden=h\n";

class ProgramCommandTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new ServerProcess(); }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->Stop(), 0) << "the server leaves cleanly";
    delete server_;
  }

  // `program COMMAND -` with a program on standard input and all inputs of kLayer.
  static Finished Run(const std::string& command, const std::string& program,
                      const Words& more = {}) {
    Words words = {"program",
                   command,
                   "-",
                   "-i",
                   "x=f32[4,3]=1",
                   "-i",
                   "w=f32[2,3]{1,2,3,4,5,6}",
                   "-i",
                   "b=f32{0.5,1}",
                   "-i",
                   "t=f32[4,2]=0"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--target", server_->unix_target()});
    return RunProgram("opserve", words, program);
  }

  static ServerProcess* server_;
};

ServerProcess* ProgramCommandTest::server_ = nullptr;

TEST_F(ProgramCommandTest, RunsWithGradients) {
  const Finished done = Run("run", kLayer, {"--grad", "loss:w,b", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json outputs = json::parse(done.out)["outputs"];
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_EQ(outputs[0]["values"], json({37.28125}));
  EXPECT_EQ(outputs[2]["name"], "grad_w");
  EXPECT_EQ(outputs[2]["values"], json({1.625, 1.625, 1.625, 4, 4, 4}));
  EXPECT_EQ(outputs[3]["values"], json({1.625, 4}));
}

TEST_F(ProgramCommandTest, RunsOnASession) {
  const Finished done = Run("run", kLayer, {"--grad", "loss:b", "--session", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["outputs"][2]["values"], json({1.625, 4}));
}

TEST_F(ProgramCommandTest, ReadsLongPrograms) {
  const std::string long_one = std::string(size_t{3} << 20, '\n') + kLayer;
  const Finished done = Run("show", long_one);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("loss = MseLoss"));
}

constexpr char kJson[] = R"json({
  "steps": [
    {"name": "h", "op": "Addmm",
     "inputs": {"self": "b", "mat1": "x", "mat2": "w[3,2].strides(1,3)"}},
    {"name": "loss", "op": "Mean", "inputs": {"self": "h"}, "attributes": {"dim": []}}],
  "outputs": {"loss": "loss"},
  "gradient": {"of": "loss", "with_respect_to": ["b"]}
})json";

TEST_F(ProgramCommandTest, ReadsJson) {
  const Finished done = Run("run", kJson, {"--json"});
  // An input that no step takes is one of the program nevertheless.
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["outputs"][1]["values"], json({0.5, 0.5}));
}

TEST_F(ProgramCommandTest, ShowsAProgramThatRunsAsItIsShown) {
  const Finished shown = Run("show", kLayer, {"--grad", "loss:w"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("grad_loss = MseLossBackward(grad_output=f32[]{1}, "));
  const Finished done = Run("run", shown.out, {"--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["outputs"][2]["values"], json({1.625, 1.625, 1.625, 4, 4, 4}));
}

TEST_F(ProgramCommandTest, DrawsAProgram) {
  const Finished drawn = Run("show", kLayer, {"--dot"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.out, HasSubstr("digraph"));
  EXPECT_THAT(drawn.out, HasSubstr("\"h\" -> \"p\" [label=\"self\"];"));
}

TEST_F(ProgramCommandTest, PlansAProgram) {
  const Finished text = Run("plan", kLayer, {"--grad", "loss:w"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("steps      7\n"));
  const Finished done = Run("plan", kLayer, {"--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["steps"], 3);
  EXPECT_EQ(json::parse(done.out)["intermediate_bytes"], 32);
}

TEST_F(ProgramCommandTest, NamesMistakes) {
  const auto error_of = [](const std::string& program, int exit_code, const Words& more = {}) {
    const Finished done = Run("run", program, more);
    EXPECT_EQ(done.exit_code, exit_code) << done.err;
    return done.err;
  };
  EXPECT_THAT(error_of("h = Addmm(self=b", 2), HasSubstr("line 1: want a step such as"));
  EXPECT_THAT(error_of("h = Adm(self=b)\nreturn h", 1), HasSubstr("did you mean \"Add\"?"));
  EXPECT_THAT(error_of("h = Relu(slf=b)\nreturn h", 2), HasSubstr("Relu: h.slf: want an input"));
  EXPECT_THAT(error_of("h = Relu(self=b[)\nreturn h", 2), HasSubstr("h"));
  EXPECT_THAT(error_of("h = Add(self=b, other=b, alpha=x)\nreturn h", 2), HasSubstr("h.alpha"));
  EXPECT_THAT(error_of("h = Relu(self=q)\nreturn h", 1),
              HasSubstr("Relu: h.self: want an input of"));
  EXPECT_THAT(error_of(kLayer, 1, {"--grad", "loss:q"}), HasSubstr("gradient.with_respect_to"));
  EXPECT_THAT(error_of(kLayer, 2, {"--grad", "loss"}), HasSubstr("VALUE:INPUT"));
}

}  // namespace
}  // namespace opserve::client
