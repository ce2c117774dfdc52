// The Open Inference Protocol on a real server, by its own messages.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/op/op_table.h"
#include "inference/open_inference.pb.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr char kService[] = "/inference.GRPCInferenceService/";

class InferenceTest : public ServerTest {
 protected:
  template <typename Response>
  Answer<Response> Call(const std::string& method, const google::protobuf::MessageLite& request) {
    const Answer<std::string> sent = tcp().Send(kService + method, request.SerializeAsString());
    Answer<Response> answer;
    static_cast<Outcome&>(answer) = sent;
    EXPECT_TRUE(!sent.ok() || answer.response.ParseFromString(sent.response));
    return answer;
  }
  auto Infer(const inference::ModelInferRequest& request) {
    return Call<inference::ModelInferResponse>("ModelInfer", request);
  }
};

std::string Floats(const std::vector<double>& elements) {
  return BytesOf(v1::DATA_TYPE_FLOAT32, elements);
}
std::vector<double> FloatsOf(const std::string& bytes) {
  return ElementsOf(v1::DATA_TYPE_FLOAT32, bytes);
}

void AddModelInput(inference::ModelInferRequest& request, const std::string& name,
                   const Shape& shape, const std::string& raw) {
  auto& input = *request.add_inputs();
  input.set_name(name);
  input.set_datatype("FP32");
  input.mutable_shape()->Add(shape.begin(), shape.end());
  request.add_raw_input_contents(raw);
}

// As SampleRequest.
inference::ModelInferRequest Sample() {
  inference::ModelInferRequest request;
  request.set_model_name("SmoothL1LossBackward");
  AddModelInput(request, "grad_out", {4, 2}, Floats(std::vector<double>(8, 1)));
  AddModelInput(request, "self", {4, 2}, Floats({0, 1, 2, 3, 4, 5, 6, 7}));
  AddModelInput(request, "target", {4, 2}, Floats(std::vector<double>(8, 1)));
  (*request.mutable_parameters())["reduction"].set_string_param("none");
  (*request.mutable_parameters())["beta"].set_double_param(1);
  return request;
}

TEST_F(InferenceTest, TheSample) {
  for (const char* id : {"", "1", "another", "ä"}) {
    inference::ModelInferRequest request = Sample();
    request.set_id(id);
    const auto answer = Infer(request);
    ASSERT_THAT(answer, IsOk());
    const inference::ModelInferResponse& response = answer.response;
    EXPECT_EQ(response.model_name(), "SmoothL1LossBackward");
    EXPECT_EQ(response.model_version(), "1");
    EXPECT_EQ(response.id(), id);
    ASSERT_EQ(response.outputs_size(), 1);
    EXPECT_EQ(response.outputs(0).name(), "grad_input");
    EXPECT_EQ(response.outputs(0).datatype(), "FP32");
    EXPECT_EQ(Shape(response.outputs(0).shape().begin(), response.outputs(0).shape().end()),
              (Shape{4, 2}));
    ASSERT_EQ(response.raw_output_contents_size(), 1);
    EXPECT_EQ(FloatsOf(response.raw_output_contents(0)), SampleGradient());
  }
  ExpectAliveAndEmpty();
}

// A plan is kept by all that a request says but its id and bytes.
TEST_F(InferenceTest, CallsThatDifferInTheirParametersAlone) {
  inference::ModelInferRequest request = Sample();
  ASSERT_THAT(Infer(request), IsOk());
  (*request.mutable_parameters())["reduction"].set_string_param("mean");
  std::vector<double> means = SampleGradient();
  for (double& element : means) element /= 8;
  EXPECT_EQ(FloatsOf(Infer(request).response.raw_output_contents(0)), means);
  request.set_raw_input_contents(0, Floats(std::vector<double>(8, 2)));
  for (double& element : means) element *= 2;
  EXPECT_EQ(FloatsOf(Infer(request).response.raw_output_contents(0)), means);
  request.set_raw_input_contents(0, Floats({1}));
  EXPECT_EQ(Infer(request).parameter(), "grad_out");
}

TEST_F(InferenceTest, TypedContentsAndAnAttributeAsATensor) {
  inference::ModelInferRequest request = Sample();
  for (int i = 0; i < 3; ++i) {
    for (const double element : FloatsOf(request.raw_input_contents(i)))
      request.mutable_inputs(i)->mutable_contents()->add_fp32_contents(static_cast<float>(element));
  }
  request.clear_raw_input_contents();
  EXPECT_EQ(FloatsOf(Infer(request).response.raw_output_contents(0)), SampleGradient());
  request.mutable_parameters()->erase("reduction");
  auto& reduction = *request.add_inputs();
  reduction.set_name("reduction");
  reduction.set_datatype("INT32");
  reduction.mutable_contents()->add_int_contents(0);
  EXPECT_EQ(FloatsOf(Infer(request).response.raw_output_contents(0)), SampleGradient());
}

TEST_F(InferenceTest, LargeCallsRunOnWorkers) {
  inference::ModelInferRequest request;
  request.set_model_name("L1LossBackward");
  AddModelInput(request, "grad_output", {}, Floats({2}));
  AddModelInput(request, "self", {kLarge}, Floats(std::vector<double>(kLarge, 1)));
  AddModelInput(request, "target", {kLarge}, Floats(std::vector<double>(kLarge, 3)));
  (*request.mutable_parameters())["reduction"].set_int64_param(2);
  const auto answer = Infer(request);
  ASSERT_THAT(answer, IsOk());
  const std::vector<double> gradient = FloatsOf(answer.response.raw_output_contents(0));
  ASSERT_EQ(gradient.size(), static_cast<size_t>(kLarge));
  EXPECT_EQ(gradient, std::vector<double>(kLarge, -2));
  ExpectAliveAndEmpty();
}

inference::ModelInferRequest GroupNorm() {
  inference::ModelInferRequest request;
  request.set_model_name("GroupNormBackward");
  AddModelInput(request, "grad_out", {1, 2, 2}, Floats({1, 2, 3, 4}));
  AddModelInput(request, "input", {1, 2, 2}, Floats({1, 2, 3, 4}));
  AddModelInput(request, "mean", {1, 1}, Floats({2.5}));
  AddModelInput(request, "rstd", {1, 1}, Floats({1}));
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, int64_t>>{{"N", 1}, {"C", 2}, {"HxW", 2}, {"group", 1}})
    (*request.mutable_parameters())[name].set_int64_param(value);
  return request;
}

TEST_F(InferenceTest, EachOutputHasOneRawEntry) {
  inference::ModelInferRequest request = GroupNorm();
  const auto all = Infer(request);
  ASSERT_THAT(all, IsOk());
  EXPECT_EQ(all.response.outputs_size(), 3);
  EXPECT_EQ(all.response.raw_output_contents_size(), 3);

  request.add_outputs()->set_name("grad_beta");
  const auto one = Infer(request);
  ASSERT_THAT(one, IsOk());
  ASSERT_EQ(one.response.outputs_size(), 1);
  EXPECT_EQ(one.response.outputs(0).name(), "grad_beta");
  ASSERT_EQ(one.response.raw_output_contents_size(), 1);
  EXPECT_EQ(FloatsOf(one.response.raw_output_contents(0)), (std::vector<double>{3, 7}));

  (*request.mutable_parameters())["output_mask"].set_string_param("[true,false,false]");
  const auto masked = Infer(request);
  ASSERT_THAT(masked, IsOk());
  ASSERT_EQ(masked.response.raw_output_contents_size(), 1);
  EXPECT_EQ(masked.response.raw_output_contents(0), "");
}

TEST_F(InferenceTest, ErrorsAreTheNativeOnes) {
  inference::ModelInferRequest request = Sample();
  (*request.mutable_parameters())["bta"].set_double_param(1);
  const auto misspelt = Infer(request);
  EXPECT_EQ(misspelt.code, "INVALID_ARGUMENT");
  EXPECT_EQ(misspelt.parameter(), "bta");
  EXPECT_EQ(misspelt.aclnn_code(), "161002");
  EXPECT_NE(misspelt.message.find("did you mean \"beta\""), std::string::npos) << misspelt.message;

  request = Sample();
  request.set_model_name("SmoothL1LosBackward");
  EXPECT_EQ(Infer(request).code, "NOT_FOUND");
  request = Sample();
  request.mutable_inputs(0)->set_name("grad_ot");
  EXPECT_EQ(Infer(request).parameter(), "grad_ot");
  request = Sample();
  (*request.mutable_parameters())["opserve_device"].set_string_param("npu:7");
  EXPECT_EQ(Infer(request).info.reason(), "DEVICE_NOT_FOUND");
  request = Sample();
  request.add_outputs()->set_name("grad_inptu");
  EXPECT_EQ(Infer(request).parameter(), "grad_inptu");
  EXPECT_EQ(tcp().Send(std::string(kService) + "ModelInfer", "\x0a\xff").code, "INVALID_ARGUMENT");
  EXPECT_EQ(tcp().Send(std::string(kService) + "ModelInfer", "").code, "NOT_FOUND");
  ExpectAliveAndEmpty();
}

TEST_F(InferenceTest, TheSoonerOfTimeoutAndDeadlineCounts) {
  inference::ModelInferRequest request = Sample();
  (*request.mutable_parameters())["timeout"].set_int64_param(60000000);
  EXPECT_THAT(Infer(request), IsOk());
  // Gone before it can be read.
  inference::ModelInferRequest large;
  large.set_model_name("L1Loss");
  AddModelInput(large, "self", {kLarge}, Floats(std::vector<double>(kLarge, 1)));
  AddModelInput(large, "target", {kLarge}, Floats(std::vector<double>(kLarge, 3)));
  (*large.mutable_parameters())["timeout"].set_int64_param(1);
  EXPECT_EQ(Infer(large).code, "DEADLINE_EXCEEDED");
}

TEST_F(InferenceTest, WhatTheServerSaysOfItself) {
  const inference::ServerLiveRequest none;
  EXPECT_TRUE(Call<inference::ServerLiveResponse>("ServerLive", none).response.live());
  EXPECT_TRUE(Call<inference::ServerReadyResponse>("ServerReady", none).response.ready());
  const auto server = Call<inference::ServerMetadataResponse>("ServerMetadata", none).response;
  EXPECT_EQ(server.name(), "opserve");
  EXPECT_FALSE(server.version().empty());
  EXPECT_EQ(server.extensions_size(), 4);
  const auto index = Call<inference::RepositoryIndexResponse>("RepositoryIndex", none).response;
  ASSERT_EQ(static_cast<size_t>(index.models_size()), AllOperators().size());
  EXPECT_EQ(index.models(0).state(), "READY");
}

TEST_F(InferenceTest, WhatTheServerSaysOfAModel) {
  inference::ModelReadyRequest request;
  request.set_name("CtcLoss");
  EXPECT_TRUE(Call<inference::ModelReadyResponse>("ModelReady", request).response.ready());
  const auto metadata = Call<inference::ModelMetadataResponse>("ModelMetadata", request).response;
  EXPECT_EQ(metadata.inputs(0).name(), "log_probs");
  EXPECT_EQ(metadata.inputs(0).shape_size(), 3);
  const auto config = Call<inference::ModelConfigResponse>("ModelConfig", request);
  EXPECT_TRUE(config.response.has_config());
  request.set_version("3");
  for (const char* method : {"ModelReady", "ModelMetadata", "ModelConfig", "ModelStatistics"})
    EXPECT_EQ(Call<inference::ModelReadyResponse>(method, request).code, "NOT_FOUND") << method;
}

TEST_F(InferenceTest, StatisticsGrowWithEveryCall) {
  inference::ModelStatisticsRequest of;
  of.set_name("SmoothL1LossBackward");
  const auto queued = [&] {
    const auto answer = Call<inference::ModelStatisticsResponse>("ModelStatistics", of);
    EXPECT_EQ(answer.response.model_stats(0).version(), "1");
    return answer.response.model_stats(0).inference_stats().queue().count();
  };
  EXPECT_EQ(queued(), 0u);
  ASSERT_THAT(Infer(Sample()), IsOk());
  EXPECT_EQ(queued(), 1u);
  ASSERT_THAT(tcp().Execute(SampleRequest()), IsOk());
  EXPECT_EQ(queued(), 2u);
  const auto counts = server().counts();
  const auto& infer = counts.methods[static_cast<size_t>(server::Method::kModelInfer)];
  EXPECT_EQ(infer.begun, 1);
  EXPECT_EQ(infer.ended[0], 1);
}

TEST_F(InferenceTest, TheTimeOfTheLastInferenceIsTold) {
  inference::ModelStatisticsRequest of;
  of.set_name("SmoothL1LossBackward");
  const auto last = [&] {
    const auto answer = Call<inference::ModelStatisticsResponse>("ModelStatistics", of);
    return static_cast<int64_t>(answer.response.model_stats(0).last_inference());
  };
  EXPECT_EQ(last(), 0);
  const int64_t before = absl::ToUnixMillis(Clock::Real().Now());
  ASSERT_THAT(Infer(Sample()), IsOk());
  const int64_t first = last();
  EXPECT_GE(first, before);
  EXPECT_LE(first, absl::ToUnixMillis(Clock::Real().Now()));
  inference::ModelInferRequest bad = Sample();
  bad.mutable_raw_input_contents()->RemoveLast();
  EXPECT_FALSE(Infer(bad).ok());
  EXPECT_EQ(last(), first);  // of one that succeeded
}

TEST_F(InferenceTest, WhatIsNotThereSaysSo) {
  const inference::ServerLiveRequest none;
  for (const char* method :
       {"RepositoryModelLoad", "RepositoryModelUnload", "SystemSharedMemoryRegister",
        "CudaSharedMemoryRegister", "CudaSharedMemoryUnregister", "TraceSetting", "LogSettings"})
    EXPECT_EQ(Call<inference::ServerLiveResponse>(method, none).code, "UNIMPLEMENTED") << method;
  for (const char* method :
       {"SystemSharedMemoryStatus", "CudaSharedMemoryStatus", "SystemSharedMemoryUnregister"})
    EXPECT_THAT(Call<inference::ServerLiveResponse>(method, none), IsOk()) << method;
}

TEST_F(InferenceTest, IsNotReadyWhileItDrains) {
  EXPECT_EQ(tcp().Health("inference.GRPCInferenceService"), "SERVING");
  server().AnnounceStop();
  const inference::ServerReadyRequest none;
  EXPECT_FALSE(Call<inference::ServerReadyResponse>("ServerReady", none).response.ready());
  EXPECT_EQ(tcp().Health("inference.GRPCInferenceService"), "NOT_SERVING");
  EXPECT_THAT(Infer(Sample()), IsOk());
}

class NoInferenceTest : public InferenceTest {
 protected:
  NoInferenceTest() { config_.clients.open_inference = false; }
};

TEST_F(NoInferenceTest, IsOffWhereItIsNotWanted) {
  EXPECT_EQ(Infer(Sample()).code, "UNIMPLEMENTED");
  EXPECT_EQ(tcp().Health("inference.GRPCInferenceService"), "NOT_FOUND");
  ExpectAliveAndEmpty();
}

class SmallAnswerTest : public InferenceTest {
 protected:
  SmallAnswerTest() { config_.max_message_bytes = 4096; }
};

TEST_F(SmallAnswerTest, AnAnswerThatNoMessageHoldsIsRefused) {
  inference::ModelInferRequest request;
  request.set_model_name("UpsampleNearest2d");
  AddModelInput(request, "self", {1, 1, 1, 1}, Floats({1}));
  (*request.mutable_parameters())["output_size"].set_string_param("[64,64]");
  const auto answer = Infer(request);
  EXPECT_EQ(answer.code, "RESOURCE_EXHAUSTED") << answer.message;
  EXPECT_EQ(answer.parameter(), "max_message_bytes");
}

}  // namespace
}  // namespace opserve::testing
