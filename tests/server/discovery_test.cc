// What the server says about itself, and phase one.
#include <gtest/gtest.h>

#include <set>

#include "core/op/op_table.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"

namespace opserve::testing {
namespace {

class DiscoveryTest : public ServerTest {};

TEST_F(DiscoveryTest, ServerInfo) {
  const auto answer = tcp().GetServerInfo();
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_FALSE(answer.response.version().empty());
  EXPECT_EQ(answer.response.max_message_bytes(), config_.max_message_bytes);
  EXPECT_EQ(answer.response.memory_limit_bytes(), config_.memory_limit_bytes);
  EXPECT_GT(answer.response.recommended_chunk_bytes(), 0);
  EXPECT_EQ(answer.response.max_rank(), 8);
}

TEST_F(DiscoveryTest, EveryOperatorHasItsSchema) {
  const auto answer = tcp().ListOperators({});
  ASSERT_TRUE(answer.ok()) << answer.message;
  ASSERT_EQ(static_cast<size_t>(answer.response.operators_size()), AllOperators().size());
  for (int i = 0; i < answer.response.operators_size(); ++i) {
    const v1::OperatorSchema& schema = answer.response.operators(i);
    const Operator& op = *AllOperators()[static_cast<size_t>(i)];
    EXPECT_EQ(schema.name(), std::string(op.name));
    EXPECT_EQ(static_cast<size_t>(schema.inputs_size()), op.inputs.size());
    EXPECT_EQ(static_cast<size_t>(schema.attributes_size()), op.attributes.size());
    EXPECT_EQ(static_cast<size_t>(schema.outputs_size()), op.outputs.size());
    EXPECT_GT(schema.inputs(0).dtypes_size(), 0);
    EXPECT_EQ(schema.support(0).profile(), "host");
    EXPECT_EQ(schema.streams_in_chunks(), op.runs_in_pieces != nullptr);
    for (const v1::AttributeParameter& attribute : schema.attributes()) {
      EXPECT_NE(attribute.kind(), v1::ATTRIBUTE_KIND_UNSPECIFIED) << attribute.name();
    }
  }
}

TEST_F(DiscoveryTest, DefaultsAreServed) {
  v1::ListOperatorsRequest request;
  request.add_names("SmoothL1LossBackward");
  const auto answer = tcp().ListOperators(request);
  ASSERT_TRUE(answer.ok()) << answer.message;
  ASSERT_EQ(answer.response.operators_size(), 1);
  const v1::OperatorSchema& schema = answer.response.operators(0);
  ASSERT_EQ(schema.attributes_size(), 2);
  EXPECT_EQ(schema.attributes(1).name(), "beta");
  EXPECT_EQ(schema.attributes(1).kind(), v1::ATTRIBUTE_KIND_FLOAT);
  EXPECT_EQ(schema.attributes(1).default_value().float_value(), 1);
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
  ASSERT_TRUE(answer.ok()) << answer.message;
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
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_GE(answer.response.workspace_bytes(), 0);
  EXPECT_EQ(answer.response.input_bytes(), 96);
  EXPECT_EQ(answer.response.output_bytes(), 32);
  EXPECT_EQ(answer.response.device(), "cpu:0");
  ASSERT_EQ(answer.response.outputs_size(), 1);
  EXPECT_EQ(answer.response.outputs(0).name(), "grad_input");
  EXPECT_EQ(answer.response.outputs(0).data_case(), v1::Tensor::DATA_NOT_SET);
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
  EXPECT_TRUE(tcp().GetWorkspaceSize(request).ok());
  request.mutable_call()->mutable_inputs(0)->set_raw_index(0);
  const auto answer = tcp().GetWorkspaceSize(request);
  EXPECT_EQ(answer.aclnn_code(), "161002");
  EXPECT_EQ(answer.parameter(), "grad_out");
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
