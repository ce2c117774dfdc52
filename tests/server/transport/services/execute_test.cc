// Calls that succeed, over TCP and over a unix socket.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

enum class Transport { kTcp, kUnix };

class ExecuteTest : public ServerTest, public ::testing::WithParamInterface<Transport> {
 protected:
  v1::ExecuteResponse Run(const v1::ExecuteRequest& request) {
    const auto answer = (GetParam() == Transport::kTcp ? tcp() : unix_socket()).Execute(request);
    EXPECT_THAT(answer, IsOk());
    return answer.response;
  }
};

INSTANTIATE_TEST_SUITE_P(Transports, ExecuteTest,
                         ::testing::Values(Transport::kTcp, Transport::kUnix),
                         [](const auto& test) {
                           return test.param == Transport::kTcp ? "Tcp" : "Unix";
                         });

TEST_P(ExecuteTest, TheSampleInEveryDType) {
  for (const v1::DataType dtype :
       {v1::DATA_TYPE_FLOAT32, v1::DATA_TYPE_FLOAT16, v1::DATA_TYPE_BFLOAT16}) {
    const v1::ExecuteResponse response = Run(SampleRequest(dtype));
    ASSERT_EQ(response.outputs_size(), 1);
    EXPECT_EQ(response.outputs(0).name(), "grad_input");
    EXPECT_EQ(response.outputs(0).dtype(), dtype);
    EXPECT_EQ(Shape(response.outputs(0).shape().begin(), response.outputs(0).shape().end()),
              (Shape{4, 2}));
    EXPECT_EQ(OutputOf(response), SampleGradient());
  }
}

TEST_P(ExecuteTest, AnOutputThatIsAskedToBeAScalar) {
  v1::ExecuteRequest request = SampleRequest();
  v1::Tensor& output = *request.mutable_call()->add_outputs();
  output.set_name("grad_input");
  EXPECT_EQ(OutputOf(Run(request)), SampleGradient());
  output.set_scalar(true);
  const auto refused = tcp().Execute(request);
  EXPECT_EQ(refused.parameter(), "grad_input");
  EXPECT_EQ(refused.info.reason(), "SHAPE_MISMATCH");
}

TEST_P(ExecuteTest, TellsHowItWasExecutedWhenAsked) {
  for (const v1::TensorEncoding encoding : {v1::TENSOR_ENCODING_RAW, v1::TENSOR_ENCODING_VALUES}) {
    v1::ExecuteRequest request = SampleRequest();
    request.set_output_encoding(encoding);
    EXPECT_FALSE(Run(request).has_execution());
    request.mutable_call()->set_report_execution(true);
    const v1::ExecuteResponse response = Run(request);
    EXPECT_EQ(OutputOf(response), SampleGradient());
    EXPECT_EQ(response.execution().device(), "cpu:0");
    EXPECT_EQ(response.execution().queued_ns(), 0);
    EXPECT_GT(response.execution().executed_ns(), 0);
  }
  v1::ExecuteRequest large;
  large.mutable_call()->set_op("L1Loss");
  AddInput(large, "self", v1::DATA_TYPE_FLOAT32, {kLarge}, std::vector<double>(kLarge, 1));
  AddInput(large, "target", v1::DATA_TYPE_FLOAT32, {kLarge}, std::vector<double>(kLarge, 2));
  large.mutable_call()->set_report_execution(true);
  const v1::Execution execution = Run(large).execution();
  EXPECT_GT(execution.queued_ns(), 0);
  EXPECT_GT(execution.executed_ns(), 0);
}

TEST_P(ExecuteTest, CallsThatDifferInTheirBytesAlone) {
  v1::ExecuteRequest request = SampleRequest();
  EXPECT_EQ(OutputOf(Run(request)), SampleGradient());
  const std::string twos = BytesOf(v1::DATA_TYPE_FLOAT32, std::vector<double>(8, 2));
  for (std::string& entry : *request.mutable_raw()) entry = twos;
  EXPECT_EQ(OutputOf(Run(request)), std::vector<double>(8, 0));
  request.mutable_raw(1)->resize(28);
  const auto refused = tcp().Execute(request);
  EXPECT_EQ(refused.parameter(), "self");
  EXPECT_EQ(refused.aclnn_code(), "161002");
}

TEST_P(ExecuteTest, EveryReduction) {
  for (int reduction = 0; reduction <= 2; ++reduction) {
    v1::ExecuteRequest request = SampleRequest();
    request.mutable_call()->mutable_attributes(0)->set_int_value(reduction);
    std::vector<double> expected = SampleGradient();
    if (reduction == 1) {
      for (double& element : expected) element /= 8;
    }
    EXPECT_EQ(OutputOf(Run(request)), expected) << reduction;
  }
}

TEST_P(ExecuteTest, Broadcasting) {
  v1::ExecuteRequest request;
  request.mutable_call()->set_op("SmoothL1LossBackward");
  AddInput(request, "self", v1::DATA_TYPE_FLOAT32, {3, 1}, {0, 1, 5});
  AddInput(request, "target", v1::DATA_TYPE_FLOAT32, {2}, {1, 0.5});
  AddInput(request, "grad_out", v1::DATA_TYPE_FLOAT32, {}, {2});
  AddInt(*request.mutable_call(), "reduction", 2);
  const v1::ExecuteResponse response = Run(request);
  EXPECT_EQ(OutputOf(response), (std::vector<double>{-2, -1, 0, 1, 2, 2}));
}

TEST_P(ExecuteTest, StridedInputsAndOneStorageForSeveral) {
  v1::ExecuteRequest request = SampleRequest();
  v1::Call& call = *request.mutable_call();
  // self is the transpose of a [2, 4] matrix that starts at element 1; target and grad_out are the
  // one element 0, repeated.
  request.clear_raw();
  request.add_raw(BytesOf(v1::DATA_TYPE_FLOAT32, {1, 0, 2, 4, 6, 1, 3, 5, 7}));
  for (v1::Tensor& tensor : *call.mutable_inputs()) {
    tensor.set_raw_index(0);
    const bool is_self = tensor.name() == "self";
    tensor.add_strides(is_self ? 1 : 0);
    tensor.add_strides(is_self ? 4 : 0);
    tensor.set_storage_offset(is_self ? 1 : 0);
  }
  EXPECT_EQ(OutputOf(Run(request)), SampleGradient());
}

TEST_P(ExecuteTest, EmptyTensors) {
  v1::ExecuteRequest request;
  request.mutable_call()->set_op("SmoothL1LossBackward");
  for (const char* name : {"grad_out", "self", "target"})
    AddInput(request, name, v1::DATA_TYPE_FLOAT32, {4, 0, 2}, {});
  AddInt(*request.mutable_call(), "reduction", 0);
  AddFloat(*request.mutable_call(), "beta", 1);
  const v1::ExecuteResponse response = Run(request);
  ASSERT_EQ(response.outputs_size(), 1);
  EXPECT_EQ(Shape(response.outputs(0).shape().begin(), response.outputs(0).shape().end()),
            (Shape{4, 0, 2}));
  ASSERT_EQ(response.raw_size(), 1);
  EXPECT_EQ(response.raw(0), "");
}

TEST_P(ExecuteTest, ValuesInAndOut) {
  v1::ExecuteRequest request = SampleRequest();
  request.set_output_encoding(v1::TENSOR_ENCODING_VALUES);
  for (v1::Tensor& tensor : *request.mutable_call()->mutable_inputs()) {
    const std::vector<double> elements =
        ElementsOf(tensor.dtype(), request.raw(static_cast<int>(tensor.raw_index())));
    tensor.mutable_values()->mutable_floats()->Add(elements.begin(), elements.end());
  }
  request.clear_raw();
  const v1::ExecuteResponse response = Run(request);
  ASSERT_EQ(response.outputs_size(), 1);
  EXPECT_TRUE(response.outputs(0).has_values());
  EXPECT_EQ(response.raw_size(), 0);
  EXPECT_EQ(OutputOf(response), SampleGradient());
}

TEST_P(ExecuteTest, AttributesAsTensors) {
  v1::ExecuteRequest request = SampleRequest();
  request.mutable_call()->clear_attributes();
  AddInput(request, "beta", v1::DATA_TYPE_FLOAT32, {}, {0.5});
  v1::Tensor& reduction = *request.mutable_call()->add_inputs();
  reduction.set_name("reduction");
  reduction.set_dtype(v1::DATA_TYPE_INT64);
  reduction.add_shape(1);
  reduction.mutable_values()->add_ints(2);
  EXPECT_EQ(OutputOf(Run(request)), SampleGradient());
}

TEST_P(ExecuteTest, RequestedOutputDType) {
  v1::ExecuteRequest request = SampleRequest();
  v1::Tensor& output = *request.mutable_call()->add_outputs();
  output.set_name("grad_input");
  output.set_dtype(v1::DATA_TYPE_FLOAT16);
  const v1::ExecuteResponse response = Run(request);
  ASSERT_EQ(response.outputs_size(), 1);
  EXPECT_EQ(response.outputs(0).dtype(), v1::DATA_TYPE_FLOAT16);
  EXPECT_EQ(OutputOf(response), SampleGradient());
}

TEST_P(ExecuteTest, ForwardLoss) {
  v1::ExecuteRequest request = SampleRequest();
  request.mutable_call()->set_op("L1Loss");
  request.mutable_call()->mutable_inputs()->DeleteSubrange(0, 1);
  for (v1::Tensor& tensor : *request.mutable_call()->mutable_inputs())
    tensor.set_raw_index(tensor.raw_index() - 1);
  request.mutable_raw()->DeleteSubrange(0, 1);
  request.mutable_call()->mutable_attributes()->RemoveLast();
  request.mutable_call()->mutable_attributes(0)->set_int_value(2);
  const v1::ExecuteResponse response = Run(request);
  ASSERT_EQ(response.outputs_size(), 1);
  EXPECT_EQ(response.outputs(0).shape_size(), 0);
  EXPECT_EQ(OutputOf(response), std::vector<double>{22});
}

constexpr int64_t kElements = 300'000;

// Large enough for many slices, the workers, and answers that are lent to the transport.
v1::ExecuteRequest LargeRequest(std::vector<double>* expected) {
  std::vector<double> self;
  std::vector<double> target;
  for (int64_t i = 0; i < kElements; ++i) {
    self.push_back(static_cast<double>(i % 1009) / 64 - 8);
    target.push_back(static_cast<double>(i % 97) / 64);
    expected->push_back(std::clamp(self.back() - target.back(), -1.0, 1.0));
  }
  v1::ExecuteRequest request;
  request.mutable_call()->set_op("SmoothL1LossBackward");
  AddInput(request, "grad_out", v1::DATA_TYPE_FLOAT32, {1}, {1});
  AddInput(request, "self", v1::DATA_TYPE_FLOAT32, {kElements}, self);
  AddInput(request, "target", v1::DATA_TYPE_FLOAT32, {kElements}, target);
  AddInt(*request.mutable_call(), "reduction", 0);
  AddFloat(*request.mutable_call(), "beta", 1);
  return request;
}

TEST_P(ExecuteTest, LargeTensors) {
  std::vector<double> expected;
  const v1::ExecuteRequest request = LargeRequest(&expected);
  EXPECT_EQ(OutputOf(Run(request)), expected);
  server().Shutdown(absl::Seconds(30));
  EXPECT_EQ(used_bytes(), 0);
}

TEST_P(ExecuteTest, ManyAtOnce) {
  std::vector<double> expected;
  const v1::ExecuteRequest large = LargeRequest(&expected);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 10; ++j) {
        if (i == 0) {
          EXPECT_EQ(OutputOf(Run(large)), expected);
        } else {
          EXPECT_EQ(OutputOf(Run(SampleRequest())), SampleGradient());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace opserve::testing
