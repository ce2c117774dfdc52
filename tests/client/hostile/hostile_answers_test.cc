// Every answer of the API, made wrong in every place: each is a sound result or an error that says
// so, whatever it holds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/cpp/values/printable_text.h"
#include "client/cpp/wire/messages.h"
#include "core/base/strings.h"
#include "opserve/v1/operator_service.pb.h"
#include "opserve/v1/statistics.pb.h"
#include "tests/client/hostile/answer_mutations.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

void CheckError(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  const std::string message(ToStd(status.message()));
  EXPECT_EQ(PrintableText(message), message);
  EXPECT_LT(message.size(), 1000u);
}

void CheckOutput(const NamedTensor& output) {
  const Tensor& tensor = output.tensor;
  EXPECT_FALSE(output.name.empty());
  EXPECT_LE(tensor.shape().size(), 8u);
  EXPECT_NE(tensor.dtype(), DType::kUndefined);
  EXPECT_EQ(tensor.ToDoubles().size(), static_cast<size_t>(tensor.num_elements()));
}

void Check(const ExecuteResult& result) {
  EXPECT_FALSE(result.outputs.empty());
  for (const NamedTensor& output : result.outputs) CheckOutput(output);
}
void Check(const BatchResults& results) {
  EXPECT_EQ(results.size(), 2u);
  for (const absl::StatusOr<ExecuteResult>& result : results) {
    if (result.ok()) Check(*result);
  }
}
void Check(const ServerInfo& info) { EXPECT_GE(info.max_message_bytes, 0); }
void Check(const std::vector<OperatorSchema>& /*schemas*/) {}
void Check(const std::vector<Device>& devices) {
  for (const Device& device : devices) EXPECT_GE(device.memory.limit_bytes, 0);
}
void Check(const Plan& plan) {
  EXPECT_GE(plan.workspace_bytes, 0);
  int64_t bytes = 0;
  for (const PlannedOutput& output : plan.outputs)
    EXPECT_FALSE(__builtin_add_overflow(bytes, output.desc.size_bytes(), &bytes));
}
void Check(const Statistics& statistics) {
  EXPECT_GE(statistics.uptime, absl::ZeroDuration());
  for (const MethodStatistics& method : statistics.methods) {
    for (const auto& [name, calls] : method.ended) EXPECT_GE(calls, 0) << name;
  }
}

// Reads `valid`, and all that can be made of it.
template <typename Read>
void Attack(const google::protobuf::Message& valid, Read read) {
  int taken = 0;
  int refused = 0;
  const auto attack = [&](const std::string& bytes) {
    const auto result = read(Fragments(std::as_bytes(std::span(bytes))));
    result.ok() ? ++taken : ++refused;
    result.ok() ? Check(*result) : CheckError(result.status());
  };
  const std::string bytes = valid.SerializeAsString();
  ASSERT_THAT(read(Fragments(std::as_bytes(std::span(bytes)))), testing::IsOk());
  ForEachMutation(valid, [&](const std::string& what, const google::protobuf::Message& mutated) {
    SCOPED_TRACE(what);
    attack(mutated.SerializeAsString());
  });
  ForEachDamage(bytes, attack);
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

void FillOutput(const std::string& name, uint32_t raw_index, v1::Tensor& output) {
  output.set_name(name);
  output.set_dtype(v1::DATA_TYPE_FLOAT32);
  output.add_shape(2);
  output.add_shape(1);
  output.set_raw_index(raw_index);
}

TEST(HostileAnswersTest, Results) {
  v1::ExecuteResponse answer;
  FillOutput("a", 0, *answer.add_outputs());
  FillOutput("b", 1, *answer.add_outputs());
  answer.add_raw("8 bytes.");
  answer.add_raw("and more");
  Attack(answer, [](const Fragments& bytes) { return ReadExecuteResult(bytes); });
}

TEST(HostileAnswersTest, Batches) {
  v1::ExecuteBatchResponse answer;
  FillOutput("a", 0, *answer.add_results()->add_outputs());
  google::rpc::Status& error = *answer.add_results()->mutable_error();
  error.set_code(3);
  error.set_message("no");
  error.add_details()->set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  answer.add_raw("8 bytes.");
  Attack(answer, [](const Fragments& bytes) { return ReadBatchResults(bytes, 2); });
}

TEST(HostileAnswersTest, Plans) {
  v1::GetWorkspaceSizeResponse answer;
  FillOutput("a", 0, *answer.add_outputs());
  answer.set_workspace_bytes(64);
  answer.mutable_cost()->set_expected_ns(5);
  Attack(answer, [](const Fragments& bytes) { return ReadPlan(bytes); });
}

TEST(HostileAnswersTest, Discovery) {
  v1::GetServerInfoResponse info;
  info.set_version("1.0.0");
  info.set_max_message_bytes(1 << 20);
  Attack(info, &ReadServerInfo);
  v1::ListDevicesResponse devices;
  devices.add_devices()->set_name("cpu:0");
  devices.mutable_devices(0)->mutable_memory()->set_limit_bytes(7);
  devices.mutable_devices(0)->set_state(v1::DEVICE_STATE_LOST);
  Attack(devices, &ReadDevices);
  v1::ListOperatorsResponse operators;
  v1::OperatorSchema& schema = *operators.add_operators();
  schema.set_name("Op");
  schema.add_inputs()->add_dtypes(v1::DATA_TYPE_FLOAT32);
  schema.add_attributes()->mutable_default_value()->mutable_int_list()->add_values(3);
  schema.add_outputs()->set_name("out");
  schema.add_support()->add_dtypes(v1::DATA_TYPE_FLOAT32);
  Attack(operators, &ReadOperators);
}

TEST(HostileAnswersTest, Counts) {
  v1::GetStatisticsResponse answer;
  answer.set_uptime_ns(1);
  v1::MethodStatistics& method = *answer.add_methods();
  for (int i = 0; i < 3; ++i) {
    method.add_ended()->set_name("OK");
    method.mutable_ended(i)->set_calls(int64_t{1} << 62);
    answer.add_errors()->set_reason("DRAINING");
    answer.mutable_errors(i)->set_errors(int64_t{1} << 62);
  }
  answer.add_devices()->set_device("cpu:0");
  answer.mutable_engine()->set_queue_wait_ns(5);
  answer.add_operators()->set_op("L1Loss");
  answer.mutable_operators(0)->set_calls(6);
  Attack(answer, &ReadStatistics);
}

}  // namespace
}  // namespace opserve::client
