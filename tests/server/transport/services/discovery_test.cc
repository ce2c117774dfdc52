// What the server says about itself, and phase one.
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "core/op/op_table.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

class DiscoveryTest : public ServerTest {};

TEST_F(DiscoveryTest, ServerInfo) {
  const auto answer = tcp().GetServerInfo();
  ASSERT_THAT(answer, IsOk());
  EXPECT_FALSE(answer.response.version().empty());
  EXPECT_EQ(answer.response.max_message_bytes(), config_.max_message_bytes);
  EXPECT_EQ(answer.response.memory_limit_bytes(), config_.memory_limit_bytes);
  EXPECT_GT(answer.response.recommended_chunk_bytes(), 0);
  EXPECT_EQ(answer.response.max_rank(), 8);
  EXPECT_EQ(answer.response.features_size(), 0);
}

class ServerLimitsTest : public ServerTest {
 protected:
  ServerLimitsTest() {
    config_.clients.max_call_time = absl::Seconds(7);
    config_.clients.max_program_steps = 5;
    config_.clients.max_inflated_bytes = 1 << 20;
  }
};

TEST_F(ServerLimitsTest, ServerInfoTellsEveryOne) {
  const auto answer = tcp().GetServerInfo();
  ASSERT_THAT(answer, IsOk());
  const v1::GetServerInfoResponse& info = answer.response;
  EXPECT_EQ(info.max_header_bytes(), 2 << 20);
  EXPECT_EQ(info.max_raw_entries(), 4096);
  EXPECT_EQ(info.max_batch_raw_entries(), 16384);
  EXPECT_EQ(info.max_batch_calls(), 4096);
  EXPECT_EQ(info.max_session_commands(), 16384);
  EXPECT_EQ(info.max_name_bytes(), 256);
  EXPECT_EQ(info.max_program_steps(), 5);
  EXPECT_EQ(info.max_attribute_elements(), 65536);
  EXPECT_EQ(info.max_values_bytes(), 4 << 20);
  EXPECT_EQ(info.max_inflated_bytes(), 1 << 20);
  EXPECT_EQ(info.max_call_time_ns(), 7000000000);
  ASSERT_EQ(info.features_size(), 1);
  EXPECT_EQ(info.features(0), "compression");
}

TEST_F(ServerLimitsTest, RefuseProgramsOfMoreSteps) {
  const auto code_of = [this](int steps) {
    v1::ExecuteRequest request = SampleRequest();
    request.clear_raw();
    v1::Call& call = *request.mutable_call();
    call.clear_op();
    call.clear_inputs();
    call.clear_attributes();
    for (int i = 0; i < steps; ++i) {
      v1::Step& step = *call.mutable_program()->add_steps();
      step.set_name(absl::StrCat("s", i));
      step.set_op("Relu");
      v1::Tensor& self = *step.add_inputs();
      self.set_name("self");
      self.set_dtype(v1::DATA_TYPE_FLOAT32);
      self.set_scalar(true);
      self.mutable_values()->add_floats(1);
    }
    v1::ProgramOutput& output = *call.mutable_program()->add_outputs();
    output.set_name("y");
    output.set_value("s0");
    return tcp().Execute(request);
  };
  EXPECT_THAT(code_of(5), IsOk());
  const auto refused = code_of(6);
  EXPECT_EQ(refused.code, "RESOURCE_EXHAUSTED") << refused.message;
  EXPECT_EQ(refused.parameter(), "steps");
}

TEST_F(DiscoveryTest, EveryOperatorHasItsSchema) {
  const auto answer = tcp().ListOperators({});
  ASSERT_THAT(answer, IsOk());
  ASSERT_EQ(static_cast<size_t>(answer.response.operators_size()), AllOperators().size());
  for (int i = 0; i < answer.response.operators_size(); ++i) {
    const v1::OperatorSchema& schema = answer.response.operators(i);
    const Operator& op = *AllOperators()[static_cast<size_t>(i)];
    EXPECT_EQ(schema.name(), std::string(op.name));
    EXPECT_EQ(schema.family(), std::string(FamilyOf(op)));
    EXPECT_FALSE(schema.family().empty());
    EXPECT_EQ(static_cast<size_t>(schema.inputs_size()), op.inputs.size());
    EXPECT_EQ(static_cast<size_t>(schema.attributes_size()), op.attributes.size());
    EXPECT_EQ(static_cast<size_t>(schema.outputs_size()), op.outputs.size());
    EXPECT_GT(schema.inputs(0).dtypes_size(), 0);
    EXPECT_EQ(schema.support(0).profile(), "host");
    EXPECT_EQ(schema.streams_in_chunks(), op.runs_in_pieces != nullptr);
    EXPECT_EQ(schema.has_gradient(), !op.gradient.op.empty());
    EXPECT_EQ(schema.gradient().op(), std::string(op.gradient.op));
    EXPECT_EQ(static_cast<size_t>(schema.gradient().inputs_size()), op.gradient.inputs.size());
    EXPECT_EQ(static_cast<size_t>(schema.gradient().outputs_size()), op.gradient.outputs.size());
    for (const v1::GradientInput& input : schema.gradient().inputs())
      EXPECT_NE(input.source_case(), v1::GradientInput::SOURCE_NOT_SET) << input.name();
    for (int j = 0; j < schema.attributes_size(); ++j) {
      const v1::AttributeParameter& attribute = schema.attributes(j);
      const AttributeParam& param = op.attributes[static_cast<size_t>(j)];
      EXPECT_NE(attribute.kind(), v1::ATTRIBUTE_KIND_UNSPECIFIED) << attribute.name();
      EXPECT_EQ(static_cast<size_t>(attribute.choices_size()), param.choices.size());
      EXPECT_EQ(attribute.has_range(), param.range.has_value());
      EXPECT_EQ(attribute.list_length(), param.list_length);
    }
  }
}

TEST_F(DiscoveryTest, DefaultsAreServed) {
  v1::ListOperatorsRequest request;
  request.add_names("SmoothL1LossBackward");
  const auto answer = tcp().ListOperators(request);
  ASSERT_THAT(answer, IsOk());
  ASSERT_EQ(answer.response.operators_size(), 1);
  const v1::OperatorSchema& schema = answer.response.operators(0);
  ASSERT_EQ(schema.attributes_size(), 2);
  EXPECT_EQ(schema.attributes(1).name(), "beta");
  EXPECT_EQ(schema.attributes(1).kind(), v1::ATTRIBUTE_KIND_FLOAT);
  EXPECT_EQ(schema.attributes(1).default_value().float_value(), 1);
}

TEST_F(DiscoveryTest, ChoicesRangesAndGradientsAreServed) {
  v1::ListOperatorsRequest request;
  request.add_names("SmoothL1Loss");
  request.add_names("GroupNorm");
  request.add_names("GroupNormBackward");
  const auto answer = tcp().ListOperators(request);
  ASSERT_THAT(answer, IsOk());
  const v1::OperatorSchema& loss = answer.response.operators(0);
  ASSERT_EQ(loss.attributes(0).choices_size(), 3);
  EXPECT_EQ(loss.attributes(0).choices(2).value(), 2);
  EXPECT_EQ(loss.attributes(0).choices(2).name(), "sum");
  EXPECT_FALSE(loss.attributes(0).has_range());
  EXPECT_TRUE(loss.attributes(1).range().has_minimum());
  EXPECT_FALSE(loss.attributes(1).range().has_maximum());
  EXPECT_FALSE(loss.attributes(1).range().minimum_excluded());
  EXPECT_EQ(loss.gradient().inputs(0).output_gradient(), "result");
  const v1::OperatorSchema& norm = answer.response.operators(1);
  EXPECT_TRUE(norm.attributes(4).range().minimum_excluded());
  const v1::Gradient& gradient = norm.gradient();
  EXPECT_EQ(gradient.op(), "GroupNormBackward");
  EXPECT_EQ(gradient.inputs(1).name(), "input");
  EXPECT_EQ(gradient.inputs(1).input(), "self");
  EXPECT_EQ(gradient.inputs(2).output(), "mean");
  EXPECT_EQ(gradient.outputs(1).name(), "grad_gamma");
  EXPECT_EQ(gradient.outputs(1).input(), "gamma");
  EXPECT_EQ(gradient.output_mask(), "output_mask");
  EXPECT_FALSE(answer.response.operators(2).has_gradient());
  EXPECT_EQ(answer.response.operators(2).attributes(4).list_length(), 3);
}

TEST_F(DiscoveryTest, UnknownOperatorIsNotFound) {
  v1::ListOperatorsRequest request;
  request.add_names("SmoothL1LossBackwards");
  const auto answer = tcp().ListOperators(request);
  EXPECT_EQ(answer.code, "NOT_FOUND");
  EXPECT_EQ(answer.info.reason(), "OPERATOR_NOT_FOUND");
}

TEST_F(DiscoveryTest, Devices) {
  const auto answer = tcp().ListDevices();
  ASSERT_THAT(answer, IsOk());
  ASSERT_EQ(answer.response.devices_size(), 1);
  const v1::Device& device = answer.response.devices(0);
  EXPECT_EQ(device.name(), "cpu:0");
  EXPECT_EQ(device.kind(), "cpu");
  EXPECT_EQ(device.profile(), "host");
  EXPECT_EQ(device.threads(), 2);
  EXPECT_EQ(static_cast<size_t>(device.operators_size()), AllOperators().size());
  EXPECT_EQ(device.memory().limit_bytes(), config_.memory_limit_bytes);
  EXPECT_EQ(device.memory().used_bytes(), 0);
}

v1::GetWorkspaceSizeRequest SamplePlan() {
  v1::GetWorkspaceSizeRequest request;
  *request.mutable_call() = SampleRequest().call();
  for (v1::Tensor& tensor : *request.mutable_call()->mutable_inputs()) tensor.clear_data();
  return request;
}

TEST_F(DiscoveryTest, WorkspaceSize) {
  const auto answer = tcp().GetWorkspaceSize(SamplePlan());
  ASSERT_THAT(answer, IsOk());
  EXPECT_GE(answer.response.workspace_bytes(), 0);
  EXPECT_EQ(answer.response.input_bytes(), 96);
  EXPECT_EQ(answer.response.output_bytes(), 32);
  EXPECT_EQ(answer.response.device(), "cpu:0");
  ASSERT_EQ(answer.response.outputs_size(), 1);
  EXPECT_EQ(answer.response.outputs(0).name(), "grad_input");
  EXPECT_EQ(answer.response.outputs(0).data_case(), v1::Tensor::DATA_NOT_SET);
}

TEST_F(DiscoveryTest, ACallThatIsToBeExecutedCanBePlanned) {
  v1::ExecuteRequest request = SampleRequest();
  v1::GetWorkspaceSizeRequest plan;
  for (const int kind : {0, 1, 2, 3, 4}) {
    v1::Tensor& self = *request.mutable_call()->mutable_inputs(1);
    if (kind == 1) self.mutable_values();
    if (kind == 2) self.mutable_buffer()->set_buffer(7);
    if (kind == 3) self.mutable_chunked();
    if (kind == 4) self.mutable_shared()->set_region("nobody's");
    *plan.mutable_call() = request.call();
    const auto answer = tcp().GetWorkspaceSize(plan);
    EXPECT_THAT(answer, IsOk()) << kind;
    EXPECT_EQ(answer.response.input_bytes(), 96);
  }
  v1::Tensor& output = *plan.mutable_call()->add_outputs();
  output.set_name("grad_input");
  output.set_dtype(v1::DATA_TYPE_FLOAT32);
  output.add_shape(4);
  output.add_shape(2);
  output.add_strides(4);
  output.add_strides(1);
  EXPECT_EQ(tcp().GetWorkspaceSize(plan).parameter(), "grad_input");
  output.mutable_buffer()->set_buffer(8);
  EXPECT_THAT(tcp().GetWorkspaceSize(plan), IsOk());
}

TEST_F(DiscoveryTest, PlansTakeNoDataSaveOfAttributes) {
  v1::GetWorkspaceSizeRequest request = SamplePlan();
  request.mutable_call()->mutable_attributes()->RemoveLast();
  v1::Tensor& beta = *request.mutable_call()->add_inputs();
  beta.set_name("beta");
  beta.set_dtype(v1::DATA_TYPE_FLOAT32);
  beta.mutable_values()->add_floats(-1);
  EXPECT_EQ(tcp().GetWorkspaceSize(request).parameter(), "beta");
  beta.mutable_values()->set_floats(0, 1);
  EXPECT_THAT(tcp().GetWorkspaceSize(request), IsOk());
  request.mutable_call()->mutable_inputs(3)->set_raw_index(0);
  const auto answer = tcp().GetWorkspaceSize(request);
  EXPECT_EQ(answer.aclnn_code(), "161002");
  EXPECT_EQ(answer.parameter(), "beta");
}

TEST_F(DiscoveryTest, HealthOfTheServerAndOfTheService) {
  EXPECT_EQ(tcp().Health(""), "SERVING");
  EXPECT_EQ(tcp().Health("opserve.v1.OperatorService"), "SERVING");
  EXPECT_EQ(tcp().Health("another"), "NOT_FOUND");
}

TEST_F(DiscoveryTest, HealthChecksThatAreNone) {
  EXPECT_EQ(tcp().Health(std::string(4096, 'x')), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(tcp().Send("/grpc.health.v1.Health/Check", "\xff").code, "INVALID_ARGUMENT");
  EXPECT_EQ(tcp().Send("/grpc.health.v1.Health/Watch", "\xff").code, "INVALID_ARGUMENT");
}

TEST_F(DiscoveryTest, AWatchTellsTheStatusAndEveryChange) {
  HealthWatch watch(server().addresses()[0], "opserve.v1.SessionService");
  HealthWatch other(server().addresses()[0], "another");
  EXPECT_EQ(watch.Next(), "SERVING");
  EXPECT_EQ(other.Next(), "SERVICE_UNKNOWN");
  server().AnnounceStop();
  EXPECT_EQ(watch.Next(), "NOT_SERVING");
}

}  // namespace
}  // namespace opserve::testing
