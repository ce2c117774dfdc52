// Answers as JSON.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/op_error.h"
#include "inference/open_inference.pb.h"
#include "server/rest/message_json.h"
#include "server/rest/rest_status.h"
#include "server/rest/tensor_data.h"

namespace opserve::server {
namespace {

using Tree = nlohmann::json;

template <typename T>
std::string DataOf(DType dtype, const std::vector<T>& elements) {
  std::string out;
  AppendTensorData(dtype, std::as_bytes(std::span(elements)), out);
  EXPECT_LE(out.size(), MaxTensorDataBytes(dtype, static_cast<int64_t>(elements.size())));
  return out;
}

TEST(TensorDataTest, WhatIsWrittenIsReadAgain) {
  EXPECT_EQ(DataOf<float>(DType::kFloat32, {}), "[]");
  EXPECT_EQ(DataOf<float>(DType::kFloat32, {0.1F, -1, 3e38F}), "[0.1,-1,3e+38]");
  EXPECT_EQ(DataOf<float>(DType::kFloat32, {NAN, INFINITY, -INFINITY}),
            R"(["NaN","Infinity","-Infinity"])");
  EXPECT_EQ(DataOf<uint8_t>(DType::kBool, {1, 0}), "[true,false]");
  EXPECT_EQ(DataOf<int64_t>(DType::kInt64, {INT64_MIN, INT64_MAX}),
            "[-9223372036854775808,9223372036854775807]");
  EXPECT_EQ(DataOf<uint64_t>(DType::kUint64, {UINT64_MAX}), "[18446744073709551615]");
}

TEST(TensorDataTest, TheLongestFit) {
  DataOf<double>(DType::kFloat64, {-2.2250738585072014e-308, -1.7976931348623157e308, -5e-324});
  DataOf<float>(DType::kFloat32, {-1.17549435e-38F, -3.4028235e38F, -1e-45F, -INFINITY});
  DataOf<uint16_t>(DType::kFloat16, {0x8001, 0xfbff, 0xfc00, 0x8400});
  DataOf<uint16_t>(DType::kBFloat16, {0x8001, 0xff7f, 0xff80, 0x8080});
  DataOf<int32_t>(DType::kInt32, {INT32_MIN});
}

TEST(MessageJsonTest, EveryFieldIsThereAndNumbersAreNumbers) {
  inference::ModelMetadataResponse metadata;
  metadata.set_name("M");
  metadata.add_versions("1");
  metadata.add_inputs()->add_shape(-1);
  (*metadata.mutable_properties())["a\""] = "b";
  std::string text;
  AppendMessageJson(metadata, text);
  EXPECT_EQ(Tree::parse(text), Tree::parse(R"({"name":"M","versions":["1"],"platform":"",
      "inputs":[{"name":"","datatype":"","shape":[-1]}],"outputs":[],"properties":{"a\"":"b"}})"));
}

TEST(MessageJsonTest, EnumsMessagesAndLongNumbers) {
  inference::ModelConfig config;
  config.add_input()->set_data_type(inference::TYPE_BF16);
  std::string text;
  AppendMessageJson(config, text);
  EXPECT_EQ(Tree::parse(text)["input"][0]["data_type"], "TYPE_BF16");
  EXPECT_EQ(Tree::parse(text)["max_batch_size"], 0);
  inference::ModelStatistics statistics;
  statistics.mutable_inference_stats()->mutable_queue()->set_ns(UINT64_MAX);
  text.clear();
  AppendMessageJson(statistics, text);
  EXPECT_EQ(Tree::parse(text)["inference_stats"]["queue"]["ns"], UINT64_MAX);
}

TEST(RestStatusTest, ErrorsAreObjectsWithATextEvenOfOddBytes) {
  EXPECT_EQ(Tree::parse(ErrorJson(absl::NotFoundError("no \"x\"\n\xff")))["error"],
            "no \"x\"\n\xef\xbf\xbd");
  EXPECT_EQ(Tree::parse(ErrorJson(absl::NotFoundError("no x"))),
            Tree({{"error", "no x"}, {"code", "NOT_FOUND"}}));
  EXPECT_EQ(HttpStatusOf(absl::StatusCode::kInvalidArgument), 400);
  EXPECT_EQ(HttpStatusOf(absl::StatusCode::kInternal), 500);
}

TEST(RestStatusTest, LongErrorsAreCutAsByGrpc) {
  const std::string json = ErrorJson(InvalidParameter("x", "less", std::string(1 << 20, 'y')));
  EXPECT_LT(json.size(), size_t{2} << 10);
  EXPECT_EQ(Tree::parse(json)["info"]["metadata"]["parameter"], "x");
}

TEST(RestStatusTest, ErrorsTellWhatGrpcsTell) {
  const Tree error = Tree::parse(ErrorJson(WithOperator(OutOfRange("beta", ">= 0", "-1"), "Relu")));
  EXPECT_EQ(error["error"], "Relu: beta: want >= 0, got -1");
  EXPECT_EQ(error["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(error["info"]["reason"], "OUT_OF_RANGE");
  EXPECT_EQ(error["info"]["domain"], "opserve.dev");
  const Tree metadata = {{"code", "161002"},
                         {"operator", "Relu"},
                         {"parameter", "beta"},
                         {"want", ">= 0"},
                         {"got", "-1"}};
  EXPECT_EQ(error["info"]["metadata"], metadata);
  EXPECT_FALSE(error.contains("retry_after_ms"));
}

TEST(RestStatusTest, ErrorsThatPassTellWhenInMilliseconds) {
  const absl::Status busy = MakeError(
      {.reason = ErrorReason::kResourceLimit, .op = {}, .retry_after = absl::Milliseconds(150)});
  EXPECT_EQ(Tree::parse(ErrorJson(busy))["retry_after_ms"], 150);
}

}  // namespace
}  // namespace opserve::server
