// What a request says of shared memory, parted from the rest.
#include "server/open_inference/shared_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/op_error.h"
#include "inference/open_inference.pb.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using inference::InferParameter;
using inference::ModelInferRequest;
using testing::IsOk;
using Parameters = google::protobuf::Map<std::string, InferParameter>;

void SetPlace(const std::string& region, int64_t offset, int64_t bytes, Parameters& parameters) {
  parameters["shared_memory_region"].set_string_param(region);
  parameters["shared_memory_byte_size"].set_int64_param(bytes);
  if (offset != 0) parameters["shared_memory_offset"].set_int64_param(offset);
}

// Two inputs and two outputs, in the message.
ModelInferRequest InMessage() {
  ModelInferRequest request;
  request.set_model_name("Mul");
  for (const char* name : {"self", "other"}) {
    ModelInferRequest::InferInputTensor& input = *request.add_inputs();
    input.set_name(name);
    input.set_datatype("FP32");
    input.add_shape(2);
    (*input.mutable_parameters())["binary_data"].set_bool_param(true);
  }
  for (const char* name : {"out", "more"}) request.add_outputs()->set_name(name);
  return request;
}

TEST(SharedTensorsTest, WhatIsLeftIsTheSameWhereverTensorsAre) {
  ModelInferRequest request = InMessage();
  const std::string in_message = SeparateShared(request.SerializeAsString())->call;
  EXPECT_TRUE(SeparateShared(in_message)->shared_inputs.empty());
  for (const char* region : {"one", "two"}) {
    SetPlace(region, 16, 8, *request.mutable_inputs(1)->mutable_parameters());
    SetPlace(region, 0, 32, *request.mutable_outputs(1)->mutable_parameters());
    const absl::StatusOr<SharedTensors> parts = SeparateShared(request.SerializeAsString());
    ASSERT_THAT(parts, IsOk());
    EXPECT_EQ(parts->call, in_message) << region;
    EXPECT_FALSE(MentionsSharedMemory(parts->call));
    EXPECT_EQ(parts->inputs, 2u);
    ASSERT_EQ(parts->shared_inputs.size(), 1u);
    const SharedTensor& input = parts->shared_inputs.front();
    EXPECT_EQ(input.index, 1u);
    EXPECT_EQ(input.name, "other");
    EXPECT_EQ(input.region, region);
    EXPECT_EQ(input.offset, 16u);
    EXPECT_EQ(input.byte_size, 8u);
    ASSERT_EQ(parts->shared_outputs.size(), 1u);
    EXPECT_EQ(parts->shared_outputs.front().index, 1u);
    EXPECT_EQ(parts->shared_outputs.front().byte_size, 32u);
  }
}

TEST(SharedTensorsTest, MentionsThatAreNoParametersStay) {
  ModelInferRequest request = InMessage();
  request.mutable_inputs(0)->set_name("shared_memory_region");
  (*request.mutable_inputs(1)->mutable_parameters())["shared_memory_sizes"].set_int64_param(1);
  (*request.mutable_parameters())["shared_memory_region"].set_string_param("r");
  const absl::StatusOr<SharedTensors> parts = SeparateShared(request.SerializeAsString());
  ASSERT_THAT(parts, IsOk());
  EXPECT_TRUE(parts->shared_inputs.empty());
  ModelInferRequest left;
  ASSERT_TRUE(left.ParseFromString(parts->call));
  EXPECT_EQ(left.inputs(0).name(), "shared_memory_region");
  EXPECT_TRUE(left.inputs(1).parameters().contains("shared_memory_sizes"));
  EXPECT_TRUE(left.parameters().contains("shared_memory_region"));
}

TEST(SharedTensorsTest, NumbersMayComeAsTheClientsHaveThem) {
  ModelInferRequest request = InMessage();
  Parameters& parameters = *request.mutable_inputs(0)->mutable_parameters();
  parameters["shared_memory_region"].set_string_param("r");
  parameters["shared_memory_byte_size"].set_string_param("8");
  parameters["shared_memory_offset"].set_uint64_param(1);
  const absl::StatusOr<SharedTensors> parts = SeparateShared(request.SerializeAsString());
  ASSERT_THAT(parts, IsOk());
  EXPECT_EQ(parts->shared_inputs.front().byte_size, 8u);
  EXPECT_EQ(parts->shared_inputs.front().offset, 1u);
}

TEST(SharedTensorsTest, ErrorsNameTheTensor) {
  struct Case {
    std::function<void(ModelInferRequest::InferInputTensor&)> spoil;
    ErrorReason reason;
    std::string want;
  };
  const std::vector<Case> cases = {
      {[](auto& input) { input.mutable_parameters()->erase("shared_memory_region"); },
       ErrorReason::kMissingParameter, "shared_memory_region"},
      {[](auto& input) { input.mutable_parameters()->erase("shared_memory_byte_size"); },
       ErrorReason::kMissingParameter, "shared_memory_byte_size"},
      {[](auto& input) {
         (*input.mutable_parameters())["shared_memory_region"].set_bool_param(true);
       },
       ErrorReason::kInvalidParameter, "name of a region"},
      {[](auto& input) {
         (*input.mutable_parameters())["shared_memory_offset"].set_int64_param(-1);
       },
       ErrorReason::kOutOfRange, "shared_memory_offset >= 0"},
      {[](auto& input) {
         (*input.mutable_parameters())["shared_memory_byte_size"].set_double_param(8);
       },
       ErrorReason::kInvalidParameter, "an int"},
      {[](auto& input) { input.mutable_contents(); }, ErrorReason::kInvalidParameter,
       "no contents"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.want);
    ModelInferRequest request = InMessage();
    SetPlace("r", 4, 8, *request.mutable_inputs(1)->mutable_parameters());
    each.spoil(*request.mutable_inputs(1));
    const absl::Status status = SeparateShared(request.SerializeAsString()).status();
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    ASSERT_TRUE(detail.has_value()) << status;
    EXPECT_EQ(detail->reason, each.reason);
    EXPECT_EQ(detail->parameter, "other");
    EXPECT_THAT(detail->want, ::testing::HasSubstr(each.want));
  }
}

}  // namespace
}  // namespace opserve::server
