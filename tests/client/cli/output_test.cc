// JSON and error lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/output/json_output.h"
#include "client/cli/output/report.h"
#include "core/base/op_error.h"

namespace opserve::cli {
namespace {

using nlohmann::json;

template <typename T>
client::Tensor MakeTensor(const std::vector<T>& values, const std::vector<int64_t>& shape) {
  auto bytes = client::AllocateTensorBytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.get(), values.data(), values.size() * sizeof(T));
  return {TensorDesc::Dense(client::DTypeOf<T>(), shape), bytes};
}

TEST(JsonTest, ResultsAreFlatAndExact) {
  client::ExecuteResult result;
  result.outputs = {{"a", MakeTensor<float>({0.1f, NAN, -INFINITY, -0.0f}, {2, 2})},
                    {"b", MakeTensor<uint64_t>({UINT64_MAX}, {})},
                    {"c", MakeTensor<float>({}, {0})},
                    {"d", MakeTensor<float>({1}, {1})}};
  const json parsed = json::parse(ResultJson("Op", result, {{"d", "d.npy"}}));
  EXPECT_EQ(parsed["operator"], "Op");
  EXPECT_EQ(parsed["outputs"][0].dump(),
            R"({"dtype":"float32","name":"a","shape":[2,2],"values":[0.1,"nan","-inf",-0.0]})");
  EXPECT_EQ(parsed["outputs"][1]["values"][0], UINT64_MAX);
  EXPECT_TRUE(parsed["outputs"][2]["values"].is_array());
  EXPECT_EQ(parsed["outputs"][3]["file"], "d.npy");
  EXPECT_FALSE(parsed["outputs"][3].contains("values"));
}

TEST(JsonTest, OperatorsSayWhatTheyAllowAndTheirGradient) {
  client::OperatorSchema schema;
  client::AttributeParameter mode;
  mode.name = "mode";
  mode.choices = {{1, "fast", "at once"}};
  mode.range = {.minimum = 0, .maximum = INFINITY, .minimum_excluded = true};
  mode.list_length = 3;
  schema.attributes = {mode, {}};
  using Source = client::GradientInput::Source;
  schema.gradient = {"G",
                     {{"g", Source::kOutputGradient, "out"}, {"x", Source::kInput, "self"}},
                     {{"dx", "x"}},
                     ""};
  const client::OperatorSchema none;
  const json parsed = json::parse(OperatorsJson(std::vector<client::OperatorSchema>{schema, none}));
  const json& op = parsed["operators"][0];
  EXPECT_EQ(op["attributes"][0]["choices"].dump(),
            R"([{"name":"fast","summary":"at once","value":1}])");
  EXPECT_EQ(op["attributes"][0]["range"].dump(),
            R"({"maximum":"inf","maximum_excluded":false,"minimum":0.0,"minimum_excluded":true})");
  EXPECT_EQ(op["attributes"][0]["list_length"], 3);
  EXPECT_FALSE(op["attributes"][1].contains("choices") || op["attributes"][1].contains("range"));
  EXPECT_EQ(op["gradient"]["op"], "G");
  EXPECT_EQ(op["gradient"]["inputs"].dump(),
            R"([{"name":"g","output_gradient":"out"},{"input":"self","name":"x"}])");
  EXPECT_EQ(op["gradient"]["outputs"].dump(), R"([{"input":"x","name":"dx"}])");
  EXPECT_FALSE(parsed["operators"][1].contains("gradient"));
}

TEST(JsonTest, ErrorsHaveTheirParts) {
  const absl::Status status = WithOperator(InvalidParameter("beta", ">= 0", "-1"), "Op");
  const json error = json::parse(ErrorJson(status))["error"];
  EXPECT_EQ(error["status"], "INVALID_ARGUMENT");
  EXPECT_EQ(error["reason"], "INVALID_PARAMETER");
  EXPECT_EQ(error["code"], 161002);
  EXPECT_EQ(error["operator"], "Op");
  EXPECT_EQ(error["parameter"], "beta");
  EXPECT_EQ(error["want"], ">= 0");
  EXPECT_EQ(error["got"], "-1");
  EXPECT_EQ(error["exit_code"], 1);
}

TEST(JsonTest, SurvivesTextThatIsNoUtf8) {
  EXPECT_TRUE(json::accept(ErrorJson(absl::InternalError("\xff\xfe\""))));
}

TEST(ReportTest, MapsExitCodes) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), ExitCode::kOk);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("x")), ExitCode::kFailed);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("x")), ExitCode::kUnreachable);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError("x")), ExitCode::kUnreachable);
  EXPECT_EQ(ExitCodeOf(UsageError("x")), ExitCode::kUsage);
}

TEST(ReportTest, WritesOneLine) {
  EXPECT_EQ(ErrorLine(WithOperator(InvalidParameter("beta", ">= 0", "-1"), "Op")),
            "opserve: Op: beta: want >= 0, got -1 (INVALID_PARAMETER, 161002, INVALID_ARGUMENT)");
  EXPECT_EQ(ErrorLine(absl::UnavailableError("host:1: \x1b[2J\nrefused")),
            "opserve: host:1: \\x1b[2J\\x0arefused (UNAVAILABLE)");
  EXPECT_EQ(ErrorLine(UsageError("unknown command 'rnu'")), "opserve: unknown command 'rnu'");
  EXPECT_LT(ErrorLine(absl::InternalError(std::string(1 << 20, 'x'))).size(), 5000u);
}

}  // namespace
}  // namespace opserve::cli
