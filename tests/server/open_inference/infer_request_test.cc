// ModelInferRequests as calls of opserve.v1: what they become, and what is refused.
#include "server/open_inference/infer_request.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/op_error.h"
#include "server/codec/message_scanner.h"
#include "server/codec/wire_format.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using inference::InferParameter;
using inference::ModelInferRequest;
using testing::ExpectError;
using testing::IsOk;

ModelInferRequest::InferInputTensor& AddInput(ModelInferRequest& request, const std::string& name,
                                              const std::string& datatype = "FP32",
                                              const std::vector<int64_t>& shape = {2}) {
  ModelInferRequest::InferInputTensor& input = *request.add_inputs();
  input.set_name(name);
  input.set_datatype(datatype);
  for (const int64_t extent : shape) input.add_shape(extent);
  return input;
}

// SmoothL1LossBackward, its inputs in raw entries.
ModelInferRequest Sample() {
  ModelInferRequest request;
  request.set_model_name("SmoothL1LossBackward");
  for (const char* name : {"grad_out", "self", "target"}) AddInput(request, name);
  return request;
}

InferParameter& Parameter(ModelInferRequest& request, const std::string& name) {
  return (*request.mutable_parameters())[name];
}

v1::Call Decoded(const ModelInferRequest& request, size_t raw_entries) {
  const absl::StatusOr<DecodedInfer> decoded = DecodeInferRequest(request, raw_entries);
  EXPECT_THAT(decoded, IsOk());
  return decoded.ok() ? decoded->call : v1::Call();
}

std::optional<v1::Attribute> AttributeOf(const v1::Call& call, const std::string& name) {
  for (const v1::Attribute& attribute : call.attributes()) {
    if (attribute.name() == name) return attribute;
  }
  return std::nullopt;
}

TEST(InferRequestTest, InputsTakeTheRawEntriesInTheirOrder) {
  ModelInferRequest request = Sample();
  request.mutable_inputs(1)->set_datatype("BF16");
  const v1::Call call = Decoded(request, 3);
  EXPECT_EQ(call.op(), "SmoothL1LossBackward");
  ASSERT_EQ(call.inputs_size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(call.inputs(i).name(), request.inputs(i).name());
    EXPECT_EQ(call.inputs(i).raw_index(), static_cast<uint32_t>(i));
  }
  EXPECT_EQ(call.inputs(0).dtype(), v1::DATA_TYPE_FLOAT32);
  EXPECT_EQ(call.inputs(1).dtype(), v1::DATA_TYPE_BFLOAT16);
}

TEST(InferRequestTest, ContentsAreValuesInTheListOfTheirDatatype) {
  ModelInferRequest request;
  request.set_model_name("Cast");
  AddInput(request, "a", "FP32").mutable_contents()->add_fp32_contents(0.5F);
  AddInput(request, "b", "FP64").mutable_contents()->add_fp64_contents(0.25);
  AddInput(request, "c", "INT16").mutable_contents()->add_int_contents(-3);
  AddInput(request, "d", "INT64").mutable_contents()->add_int64_contents(-4);
  AddInput(request, "e", "UINT8").mutable_contents()->add_uint_contents(5);
  AddInput(request, "f", "UINT64").mutable_contents()->add_uint64_contents(6);
  AddInput(request, "g", "BOOL").mutable_contents()->add_bool_contents(true);
  const v1::Call call = Decoded(request, 0);
  ASSERT_EQ(call.inputs_size(), 7);
  EXPECT_EQ(call.inputs(0).values().floats(0), 0.5);
  EXPECT_EQ(call.inputs(1).values().floats(0), 0.25);
  EXPECT_EQ(call.inputs(2).values().ints(0), -3);
  EXPECT_EQ(call.inputs(3).values().ints(0), -4);
  EXPECT_EQ(call.inputs(4).values().ints(0), 5);
  EXPECT_EQ(call.inputs(5).values().uints(0), 6u);
  EXPECT_TRUE(call.inputs(6).values().bools(0));
}

TEST(InferRequestTest, ParametersAreAttributes) {
  ModelInferRequest request = Sample();
  Parameter(request, "reduction").set_int64_param(2);
  Parameter(request, "beta").set_double_param(0.5);
  const v1::Call call = Decoded(request, 3);
  EXPECT_EQ(AttributeOf(call, "reduction")->int_value(), 2);
  EXPECT_EQ(AttributeOf(call, "beta")->float_value(), 0.5);
  Parameter(request, "reduction").set_uint64_param(1);
  EXPECT_EQ(AttributeOf(Decoded(request, 3), "reduction")->int_value(), 1);
}

TEST(InferRequestTest, StringsAreReadAsTheAttributesKind) {
  ModelInferRequest request = Sample();
  Parameter(request, "reduction").set_string_param("mean");
  Parameter(request, "beta").set_string_param(" 1e-3 ");
  v1::Call call = Decoded(request, 3);
  EXPECT_EQ(AttributeOf(call, "reduction")->string_value(), "mean");
  EXPECT_EQ(AttributeOf(call, "beta")->float_value(), 1e-3);
  Parameter(request, "reduction").set_string_param("2");
  EXPECT_EQ(AttributeOf(Decoded(request, 3), "reduction")->int_value(), 2);

  request = ModelInferRequest();
  request.set_model_name("CtcLoss");
  Parameter(request, "input_lengths").set_string_param("[3, 2]");
  Parameter(request, "target_lengths").set_string_param("4,5");
  Parameter(request, "zero_infinity").set_string_param("True");
  call = Decoded(request, 0);
  EXPECT_EQ(AttributeOf(call, "input_lengths")->int_list().values_size(), 2);
  EXPECT_EQ(AttributeOf(call, "input_lengths")->int_list().values(1), 2);
  EXPECT_EQ(AttributeOf(call, "target_lengths")->int_list().values(0), 4);
  EXPECT_TRUE(AttributeOf(call, "zero_infinity")->bool_value());
  Parameter(request, "input_lengths").set_string_param("[]");
  EXPECT_EQ(AttributeOf(Decoded(request, 0), "input_lengths")->int_list().values_size(), 0);
}

TEST(InferRequestTest, WhatTheProtocolReservesIsNoAttribute) {
  ModelInferRequest request = Sample();
  Parameter(request, "triton_enable_empty_final_response").set_bool_param(true);
  Parameter(request, "priority").set_uint64_param(1);
  Parameter(request, "headers").set_string_param("x");
  Parameter(request, "binary_data_output").set_bool_param(true);
  Parameter(request, "content_type").set_string_param("np");
  Parameter(request, "sequence_id").set_int64_param(0);
  Parameter(request, "sequence_start").set_bool_param(false);
  Parameter(request, "opserve_device").set_string_param("cpu:1");
  (*request.mutable_inputs(0)->mutable_parameters())["binary_data_size"].set_int64_param(8);
  const v1::Call call = Decoded(request, 3);
  EXPECT_EQ(call.attributes_size(), 0);
  EXPECT_EQ(call.device(), "cpu:1");
}

TEST(InferRequestTest, TimeoutIsInMicroseconds) {
  ModelInferRequest request = Sample();
  EXPECT_EQ(DecodeInferRequest(request, 3)->timeout, absl::InfiniteDuration());
  Parameter(request, "timeout").set_int64_param(1500);
  EXPECT_EQ(DecodeInferRequest(request, 3)->timeout, absl::Microseconds(1500));
  Parameter(request, "timeout").set_string_param("0");
  EXPECT_EQ(DecodeInferRequest(request, 3)->timeout, absl::InfiniteDuration());
}

TEST(InferRequestTest, AnAbsentMaskFollowsTheOutputsThatAreAskedFor) {
  ModelInferRequest request;
  request.set_model_name("GroupNormBackward");
  request.add_outputs()->set_name("grad_gamma");
  v1::Call call = Decoded(request, 0);
  ASSERT_EQ(call.outputs_size(), 1);
  std::optional<v1::Attribute> mask = AttributeOf(call, "output_mask");
  ASSERT_TRUE(mask.has_value());
  ASSERT_EQ(mask->bool_list().values_size(), 3);
  EXPECT_FALSE(mask->bool_list().values(0));
  EXPECT_TRUE(mask->bool_list().values(1));
  EXPECT_FALSE(mask->bool_list().values(2));
  Parameter(request, "output_mask").set_string_param("[true,true,false]");
  call = Decoded(request, 0);
  EXPECT_EQ(call.attributes_size(), 1);
  EXPECT_TRUE(AttributeOf(call, "output_mask")->bool_list().values(0));
  request.clear_outputs();
  request.clear_parameters();
  EXPECT_EQ(Decoded(request, 0).attributes_size(), 0);
}

struct Mistake {
  const char* name;
  std::function<void(ModelInferRequest&)> make;
  size_t raw_entries;
  ErrorReason reason;
  const char* parameter;
};

const Mistake kMistakes[] = {
    {"UnknownModel", [](auto& r) { r.set_model_name("SmothL1Loss"); }, 3,
     ErrorReason::kOperatorNotFound, "operator"},
    {"UnknownVersion", [](auto& r) { r.set_model_version("2"); }, 3, ErrorReason::kOperatorNotFound,
     "model_version"},
    {"TooFewRawEntries", [](auto&) {}, 2, ErrorReason::kInvalidParameter, "raw_input_contents"},
    {"NoData", [](auto&) {}, 0, ErrorReason::kMissingParameter, "grad_out"},
    {"ContentsAndRaw", [](auto& r) { r.mutable_inputs(1)->mutable_contents(); }, 3,
     ErrorReason::kInvalidParameter, "self"},
    {"ContentsInAnotherList",
     [](auto& r) {
       r.mutable_inputs()->DeleteSubrange(1, 2);
       r.mutable_inputs(0)->mutable_contents()->add_fp64_contents(1);
     },
     0, ErrorReason::kInvalidParameter, "grad_out"},
    {"HalfContents",
     [](auto& r) {
       r.mutable_inputs(0)->set_datatype("BF16");
       r.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
     },
     0, ErrorReason::kInvalidParameter, "grad_out"},
    {"Bytes", [](auto& r) { r.mutable_inputs(0)->set_datatype("BYTES"); }, 3,
     ErrorReason::kDTypeUnsupported, "grad_out"},
    {"NoNumber", [](auto& r) { Parameter(r, "beta").set_string_param("1.0x"); }, 3,
     ErrorReason::kInvalidParameter, "beta"},
    {"HugeUnsigned", [](auto& r) { Parameter(r, "reduction").set_uint64_param(1ULL << 63); }, 3,
     ErrorReason::kOutOfRange, "reduction"},
    {"Sequence", [](auto& r) { Parameter(r, "sequence_id").set_string_param("a"); }, 3,
     ErrorReason::kInvalidParameter, "sequence_id"},
    {"NegativeTimeout", [](auto& r) { Parameter(r, "timeout").set_int64_param(-1); }, 3,
     ErrorReason::kOutOfRange, "timeout"},
    {"DeviceThatIsNoString", [](auto& r) { Parameter(r, "opserve_device").set_int64_param(1); }, 3,
     ErrorReason::kInvalidParameter, "opserve_device"},
    {"SharedMemory",
     [](auto& r) {
       (*r.mutable_inputs(2)->mutable_parameters())["shared_memory_region"].set_string_param("r");
     },
     3, ErrorReason::kNoSharedMemory, "target"},
    {"Classification",
     [](auto& r) {
       r.add_outputs()->set_name("grad_input");
       (*r.mutable_outputs(0)->mutable_parameters())["classification"].set_int64_param(3);
     },
     3, ErrorReason::kInvalidParameter, "grad_input"},
    {"ParameterOfATensor",
     [](auto& r) { (*r.mutable_inputs(0)->mutable_parameters())["strides"].set_int64_param(2); }, 3,
     ErrorReason::kUnknownParameter, "grad_out"},
};

class InferMistakeTest : public ::testing::TestWithParam<Mistake> {};

TEST_P(InferMistakeTest, IsNamed) {
  ModelInferRequest request = Sample();
  ASSERT_THAT(DecodeInferRequest(request, 3), IsOk());
  GetParam().make(request);
  const absl::Status status = DecodeInferRequest(request, GetParam().raw_entries).status();
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(detail->reason, GetParam().reason) << status;
  EXPECT_EQ(detail->parameter, GetParam().parameter) << status;
  EXPECT_FALSE(detail->want.empty());
  EXPECT_FALSE(detail->got.empty());
}

INSTANTIATE_TEST_SUITE_P(All, InferMistakeTest, ::testing::ValuesIn(kMistakes),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(InferHeaderTest, TheIdIsNotPartOfTheCall) {
  ModelInferRequest request = Sample();
  const std::string without = request.SerializeAsString();
  for (const std::string id : {"7", "ü", ""}) {
    request.set_id(id);
    const absl::StatusOr<InferHeader> split = SplitInferHeader(request.SerializeAsString());
    ASSERT_THAT(split, IsOk());
    EXPECT_EQ(split->call, without);
    EXPECT_EQ(split->id, id);
  }
  // The last one counts, as in any message.
  request.set_id("first");
  std::string twice = request.SerializeAsString();
  AppendStart(BytesTag(ModelInferRequest::kIdFieldNumber), 6, twice);
  twice.append("second");
  EXPECT_EQ(SplitInferHeader(twice)->id, "second");
}

TEST(InferHeaderTest, RefusesWhatParsingWouldMakeLarge) {
  for (const uint32_t field : {5u, 6u}) {
    std::string many;
    for (size_t i = 0; i <= kMaxInferTensors; ++i) AppendStart(BytesTag(field), 0, many);
    const absl::Status status = SplitInferHeader(many).status();
    EXPECT_EQ(GetErrorDetail(status)->parameter, field == 5 ? "inputs" : "outputs") << status;
    many.resize(many.size() - 2);
    EXPECT_THAT(SplitInferHeader(many), IsOk());
  }
}

TEST(InferHeaderTest, CountsTheParametersOfARequestAndItsTensors) {
  ModelInferRequest request = Sample();
  request.add_outputs()->set_name("grad_input");
  google::protobuf::Map<std::string, InferParameter>* const places[] = {
      request.mutable_parameters(), request.mutable_inputs(1)->mutable_parameters(),
      request.mutable_outputs(0)->mutable_parameters()};
  for (size_t i = 0; i < 256; ++i) (*places[i % 3])[std::to_string(i)].set_bool_param(true);
  EXPECT_THAT(SplitInferHeader(request.SerializeAsString()), IsOk());
  for (auto* place : places) {
    (*place)["one more"].set_bool_param(true);
    const absl::Status status = SplitInferHeader(request.SerializeAsString()).status();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(GetErrorDetail(status)->parameter, "parameters") << status;
    place->erase("one more");
  }
}

TEST(InferHeaderTest, RefusesAnIdThatIsNoText) {
  std::string header;
  AppendStart(BytesTag(ModelInferRequest::kIdFieldNumber), 2, header);
  header.append("\xc3(");
  EXPECT_EQ(SplitInferHeader(header).status().code(), absl::StatusCode::kInvalidArgument);
  // Nor one that another follows.
  AppendStart(BytesTag(ModelInferRequest::kIdFieldNumber), 1, header);
  header.append("a");
  EXPECT_EQ(SplitInferHeader(header).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace opserve::server
