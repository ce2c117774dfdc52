// The page to play with operators on: what is set, what is drawn, and what cannot be made of it.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "opserve/v1/operator_service.pb.h"
#include "server/http/playground/call_text.h"
#include "server/http/playground/playground.h"
#include "server/http/playground/plot.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;

using Arguments = std::vector<std::pair<std::string, std::string>>;

class PlaygroundTest : public ::testing::Test {
 protected:
  Setting First(std::string_view op) { return *FirstSetting(*engine_, **FindOperator(op)); }
  absl::StatusOr<Setting> Read(std::string_view op, Arguments arguments) {
    return ReadSetting(First(op), {.arguments = std::move(arguments)});
  }
  Curves Compute(std::string_view op, Arguments arguments) {
    absl::StatusOr<Curves> curves = ComputeCurves(*engine_, *Read(op, std::move(arguments)));
    EXPECT_THAT(curves, IsOk());
    return *std::move(curves);
  }
  std::string ErrorOf(std::string_view op, Arguments arguments) {
    const absl::StatusOr<Setting> setting = Read(op, std::move(arguments));
    return setting.ok() ? "" : std::string(setting.status().message());
  }

  const std::unique_ptr<Engine> engine_ = testing::MakeEngine(1);
};

TEST_F(PlaygroundTest, DrawsALossAndItsGradient) {
  const Curves curves =
      Compute("SmoothL1Loss", {{"a.beta", "2"}, {"i.target", "1"}, {"from", "-1"}, {"to", "3"}});
  ASSERT_EQ(curves.outputs.size(), 1U);
  ASSERT_EQ(curves.gradients.size(), 1U);
  EXPECT_EQ(curves.outputs[0].name, "result");
  EXPECT_EQ(curves.gradients[0].name, "gradient of self");
  EXPECT_EQ(curves.x[0], -1);
  EXPECT_EQ(curves.x[200], 3);
  // x = 3, 2 from the target: where it turns from quadratic to linear.
  EXPECT_FLOAT_EQ(curves.outputs[0].values[200], 1);
  EXPECT_FLOAT_EQ(curves.gradients[0].values[200], 1);
  EXPECT_FLOAT_EQ(curves.outputs[0].values[100], 0);
  EXPECT_FLOAT_EQ(curves.gradients[0].values[150], 0.5);
}

TEST_F(PlaygroundTest, SweepsTheInputThatIsAskedFor) {
  const Curves curves =
      Compute("L1Loss", {{"sweep", "target"}, {"i.self", "1"}, {"from", "0"}, {"to", "2"}});
  EXPECT_FLOAT_EQ(curves.outputs[0].values[0], 1);
  EXPECT_FLOAT_EQ(curves.outputs[0].values[100], 0);
  EXPECT_FLOAT_EQ(curves.gradients[0].values[0], 1);
  EXPECT_FLOAT_EQ(curves.gradients[0].values[200], -1);
}

// Those that take an output of the forward get it.
TEST_F(PlaygroundTest, GivesGradientsTheOutputsThatTheyTake) {
  const Curves curves = Compute("Sigmoid", {});
  EXPECT_FLOAT_EQ(curves.gradients[0].values[100], 0.25);
}

TEST_F(PlaygroundTest, EveryOperatorThatIsOfferedIsDrawn) {
  int drawn = 0;
  for (const Operator* op : AllOperators()) {
    if (!FirstSetting(*engine_, *op).has_value()) continue;
    const Curves curves = Compute(op->name, {{"from", "0.1"}, {"to", "0.9"}});
    EXPECT_FALSE(curves.outputs.empty()) << op->name;
    EXPECT_FALSE(curves.gradients.empty()) << op->name;
    for (const Curve& curve : curves.gradients) {
      for (const float value : curve.values) ASSERT_TRUE(std::isfinite(value)) << op->name;
    }
    ++drawn;
  }
  EXPECT_GE(drawn, 25);
}

TEST_F(PlaygroundTest, OffersNothingThatIsNotElementByElement) {
  for (const std::string_view op :
       {"MaxPool2dWithIndices", "LayerNorm", "CtcLoss", "HardshrinkBackward"})
    EXPECT_FALSE(FirstSetting(*engine_, **FindOperator(op)).has_value()) << op;
  const absl::StatusOr<Setting> mean = Read("L1Loss", {{"a.reduction", "mean"}});
  ASSERT_THAT(mean, IsOk());
  EXPECT_THAT(std::string(ComputeCurves(*engine_, *mean).status().message()),
              HasSubstr("element by element"));
}

TEST_F(PlaygroundTest, RefusesWhatIsNoNumber) {
  EXPECT_EQ(ErrorOf("SmoothL1Loss", {{"a.beta", "one"}}), "a.beta: want a number, got \"one\"");
  EXPECT_THAT(ErrorOf("L1Loss", {{"a.reduction", "5"}}), HasSubstr("a.reduction: want 0 (none)"));
  EXPECT_THAT(ErrorOf("L1Loss", {{"i.target", "0x"}}), HasSubstr("i.target: want a number"));
  EXPECT_THAT(ErrorOf("L1Loss", {{"sweep", "nothing"}}),
              HasSubstr("sweep: want an input of L1Loss"));
  EXPECT_THAT(ErrorOf("L1Loss", {{"from", "nan"}}), HasSubstr("from: want a number between"));
  EXPECT_THAT(ErrorOf("L1Loss", {{"to", "1e7"}}), HasSubstr("to: want a number between"));
  EXPECT_THAT(ErrorOf("L1Loss", {{"from", "3"}, {"to", "3"}}), HasSubstr("a number above from, 3"));
}

TEST_F(PlaygroundTest, ErrorsOfTheOperatorAreShown) {
  const Playground playground(*engine_, "localhost:1");
  const HttpResponse answer = playground.Answer({.arguments = {{"a.beta", "-1"}}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("SmoothL1Loss: beta: want"));
  EXPECT_THAT(answer.body, Not(HasSubstr("<svg")));
}

TEST_F(PlaygroundTest, WhatIsAskedForIsNoMarkup) {
  const Playground playground(*engine_, "localhost:1");
  constexpr char kHostile[] = "\"><script>alert(1)</script>";
  EXPECT_EQ(playground.Answer({.arguments = {{"op", kHostile}}}).status, 404);
  const HttpResponse answer =
      playground.Answer({.arguments = {{"a.beta", kHostile}, {"i.target", kHostile}}});
  EXPECT_THAT(answer.body, Not(HasSubstr("<script>")));
}

TEST_F(PlaygroundTest, GapsAreLeftWhereThereIsNoNumber) {
  std::vector<float> x(kPoints);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  Curve curve{"y", x};
  curve.values[100] = std::numeric_limits<float>::quiet_NaN();
  curve.values[101] = std::numeric_limits<float>::infinity();
  const std::string plot = PlotHtml("plot", x, {{curve}});
  EXPECT_THAT(plot, Not(HasSubstr("nan")));
  EXPECT_THAT(plot, Not(HasSubstr("inf")));
  const std::string nothing(plot.substr(plot.find("class=\"line0\"")));
  EXPECT_EQ(std::count(nothing.begin(), nothing.end(), 'M'), 2);
}

TEST_F(PlaygroundTest, CallsAreWrittenAsTheyAreMade) {
  const Curves curves = Compute("SmoothL1Loss", {{"a.beta", "inf"}});
  EXPECT_THAT(PythonText(curves.backward, "h:1"),
              HasSubstr("\"self\": np.float32([-4, 0, 4]),\n    \"target\": np.float32([0, 0, 0]),"
                        "\n}, reduction=\"none\", beta=np.inf)"));
  const std::string go = GoText(curves.backward, "h:1");
  EXPECT_THAT(go, HasSubstr("\t\t\t\"self\": opserve.TensorOf([]float32{-4, 0, 4}),\n"));
  EXPECT_THAT(go, HasSubstr("\t\t\t\"beta\": math.Inf(1),\n\t\t})"));
  EXPECT_THAT(go, HasSubstr("\t\"math\"\n"));
  EXPECT_THAT(CommandText(curves.backward, "h:1"),
              HasSubstr("opserve --target h:1 run SmoothL1LossBackward \\\n    -i "
                        "'grad_out=f32[3]{1, 1, 1}'"));
  const std::string text = GrpcurlText(curves.backward, "h:1");
  const size_t begin = text.find('{');
  v1::ExecuteRequest request;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(
                  text.substr(begin, text.rfind('}') - begin + 1), &request)
                  .ok());
  EXPECT_EQ(request.call().op(), "SmoothL1LossBackward");
  EXPECT_THAT(request.call().inputs(1).values().floats(), ElementsAre(-4, 0, 4));
  EXPECT_EQ(request.call().attributes(0).string_value(), "none");
  EXPECT_EQ(request.call().attributes(1).float_value(), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace opserve::server
