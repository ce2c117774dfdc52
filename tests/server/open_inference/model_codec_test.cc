// Operators as models: what clients read of them before they call.
#include "server/open_inference/model_codec.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/op/op_table.h"
#include "server/open_inference/datatype.h"
#include "server/open_inference/infer_request.h"
#include "server/open_inference/model_statistics.h"
#include "server/open_inference/parameter_value.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using testing::IsOk;
using Extents = std::vector<int64_t>;

TEST(ModelCodecTest, ShapesInWords) {
  EXPECT_EQ(VariableShape("any"), (Extents{-1}));
  EXPECT_EQ(VariableShape("(T, N, C)"), (Extents{-1, -1, -1}));
  EXPECT_EQ(VariableShape("(T, N, C), T > 0"), (Extents{-1, -1, -1}));
  EXPECT_EQ(VariableShape("(N, >= the longest target) padded, or (sum of lengths)"), (Extents{-1}));
  EXPECT_EQ(VariableShape("(N, C, ...)"), (Extents{-1}));
  EXPECT_EQ(VariableShape("()"), Extents());
  EXPECT_EQ(VariableShape("(N"), (Extents{-1}));
  EXPECT_EQ(VariableShape(""), (Extents{-1}));
}

TEST(ModelCodecTest, EveryDatatypeHasANameAndBack) {
  std::set<inference::DataType> of_config;
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const absl::StatusOr<DType> parsed = ParseDatatype(DatatypeName(dtype), "x");
    ASSERT_THAT(parsed, IsOk());
    EXPECT_EQ(*parsed, dtype);
    EXPECT_TRUE(of_config.insert(ConfigDataType(dtype)).second);
  }
  EXPECT_FALSE(of_config.contains(inference::TYPE_INVALID));
  for (const char* other : {"", "BYTES", "fp32", "FP8"})
    EXPECT_FALSE(ParseDatatype(other, "x").ok()) << other;
}

TEST(ModelCodecTest, ConfigAndMetadataOfEveryOperatorAgree) {
  for (const Operator* op : AllOperators()) {
    const inference::ModelMetadataResponse metadata = EncodeModelMetadata(*op);
    const inference::ModelConfig config = EncodeModelConfig(*op);
    EXPECT_EQ(metadata.name(), op->name);
    ASSERT_EQ(metadata.versions_size(), 1);
    EXPECT_EQ(metadata.versions(0), "1");
    EXPECT_EQ(config.max_batch_size(), 0);
    ASSERT_EQ(config.input_size(), metadata.inputs_size());
    for (int i = 0; i < config.input_size(); ++i) {
      EXPECT_EQ(config.input(i).name(), metadata.inputs(i).name());
      EXPECT_EQ("TYPE_" + metadata.inputs(i).datatype(),
                inference::DataType_Name(config.input(i).data_type()));
      EXPECT_EQ(config.input(i).optional(),
                op->inputs[static_cast<size_t>(i)].presence == Presence::kOptional);
    }
    ASSERT_EQ(config.output_size(), metadata.outputs_size());
    EXPECT_EQ(metadata.properties_size(), static_cast<int>(op->attributes.size()));
    EXPECT_EQ(config.parameters_size(), metadata.properties_size());
  }
}

TEST(ModelCodecTest, DescribesAttributes) {
  const Operator& op = **FindOperator("SmoothL1LossBackward");
  const inference::ModelMetadataResponse metadata = EncodeModelMetadata(op);
  EXPECT_EQ(metadata.properties().at("reduction"),
            "an int, 0 (none), 1 (mean) or 2 (sum), default 1");
  EXPECT_NE(metadata.properties().at("beta").find("default 1"), std::string::npos);
}

// A name that the protocol reserves would hide an attribute, or be hidden by it.
TEST(ModelCodecTest, NoAttributeHasAReservedName) {
  for (const Operator* op : AllOperators()) {
    for (const AttributeParam& attribute : op->attributes) {
      for (const char* reserved :
           {"timeout", "priority", "headers", "content_type", "binary_data_output"})
        EXPECT_NE(attribute.name, reserved) << op->name;
      for (const char* prefix : {"triton_", "sequence_", "opserve_", "shared_memory_"})
        EXPECT_FALSE(attribute.name.starts_with(prefix)) << op->name;
    }
  }
}

TEST(ModelCodecTest, NoOperatorHasMoreTensorsThanARequestMay) {
  for (const Operator* op : AllOperators()) {
    EXPECT_LE(op->inputs.size() + op->attributes.size(), kMaxInferTensors) << op->name;
    EXPECT_LE(op->outputs.size(), kMaxInferTensors) << op->name;
  }
}

TEST(ModelStatisticsTest, AnOperatorThatWasNotCalledHasItsZeros) {
  EngineStatistics statistics;
  OperatorStatistics called;
  called.op = "L1Loss";
  called.calls = 5;
  called.failed_calls = 1;
  called.ended[0] = 4;
  called.last_success = absl::FromUnixMillis(1'700'000'000'123) + absl::Microseconds(7);
  called.queue_wait = absl::Nanoseconds(30);
  called.execution = absl::Nanoseconds(70);
  statistics.operators.push_back(called);
  const auto one = EncodeModelStatistics(statistics, *FindOperator("L1Loss"));
  ASSERT_EQ(one.model_stats_size(), 1);
  EXPECT_EQ(one.model_stats(0).inference_count(), 4u);
  EXPECT_EQ(one.model_stats(0).last_inference(), 1'700'000'000'123u);
  EXPECT_EQ(one.model_stats(0).inference_stats().queue().count(), 5u);
  EXPECT_EQ(one.model_stats(0).inference_stats().queue().ns(), 30u);
  EXPECT_EQ(one.model_stats(0).inference_stats().success().ns(), 100u);
  EXPECT_EQ(one.model_stats(0).inference_stats().fail().count(), 1u);
  const auto other = EncodeModelStatistics(statistics, *FindOperator("MseLoss"));
  EXPECT_EQ(other.model_stats(0).version(), "1");
  EXPECT_EQ(other.model_stats(0).last_inference(), 0u);
  EXPECT_TRUE(other.model_stats(0).inference_stats().has_queue());
  EXPECT_EQ(other.model_stats(0).inference_stats().queue().count(), 0u);
  EXPECT_EQ(static_cast<size_t>(EncodeModelStatistics(statistics, nullptr).model_stats_size()),
            AllOperators().size());
}

}  // namespace
}  // namespace opserve::server
