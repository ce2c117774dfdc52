#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client/cpp/wire/messages.h"
#include "core/base/strings.h"
#include "opserve/v1/operator_service.pb.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

v1::ExecuteRequest Parsed(const Request& request) {
  std::string bytes;
  for (const Request::Piece& piece : request.pieces()) {
    bytes.append(piece.own).append(reinterpret_cast<const char*>(piece.view.data()),
                                   piece.view.size());
  }
  EXPECT_EQ(bytes.size(), request.size_bytes());
  v1::ExecuteRequest message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  return message;
}

TEST(ExecuteRequestTest, IsTheMessageOfTheApi) {
  const std::vector<float> small = {1, 2};
  Call call("Op");
  call.Input("x", TensorView::Of(small, {2, 2}).WithStrides({0, 1}, 0))
      .OnDevice("cpu:1")
      .OutputDType("out", DType::kBFloat16);
  call.Attribute("i", 1).Attribute("f", 0.5).Attribute("b", true).Attribute(
      "l", std::vector<int64_t>{1, 2});
  call.Attribute("m", std::vector<bool>{true, false}).ReportExecution();
  const v1::ExecuteRequest message = Parsed(MakeExecuteRequest(call));
  EXPECT_EQ(message.call().op(), "Op");
  EXPECT_EQ(message.call().device(), "cpu:1");
  EXPECT_TRUE(message.call().report_execution());
  EXPECT_EQ(message.call().inputs(0).dtype(), v1::DATA_TYPE_FLOAT32);
  EXPECT_THAT(message.call().inputs(0).strides(), ElementsAre(0, 1));
  EXPECT_EQ(message.call().attributes(0).int_value(), 1);
  EXPECT_EQ(message.call().attributes(1).float_value(), 0.5);
  EXPECT_TRUE(message.call().attributes(2).bool_value());
  EXPECT_THAT(message.call().attributes(3).int_list().values(), ElementsAre(1, 2));
  EXPECT_THAT(message.call().attributes(4).bool_list().values(), ElementsAre(true, false));
  EXPECT_EQ(message.call().outputs(0).dtype(), v1::DATA_TYPE_BFLOAT16);
  ASSERT_EQ(message.raw_size(), 1);
  EXPECT_EQ(message.raw(0), std::string("\0\0\x80\x3f\0\0\0\x40", 8));
}

TEST(ExecuteRequestTest, ChoicesGoByName) {
  const std::string name = "sum";
  Call call("Op");
  call.Attribute("a", "mean").Attribute("b", name).Attribute("c", std::string_view("none"));
  call.Attribute("d", true).Attribute("e", int64_t{1});
  const v1::ExecuteRequest message = Parsed(MakeExecuteRequest(call));
  EXPECT_EQ(message.call().attributes(0).string_value(), "mean");
  EXPECT_EQ(message.call().attributes(1).string_value(), "sum");
  EXPECT_EQ(message.call().attributes(2).string_value(), "none");
  EXPECT_TRUE(message.call().attributes(3).bool_value());
  EXPECT_EQ(message.call().attributes(4).int_value(), 1);
}

TEST(ExecuteRequestTest, LargeInputsAreReferredToAndSharedStorageIsSentOnce) {
  const std::vector<float> large(100000, 1.0f);
  const std::vector<float> empty;
  Call call("Op");
  call.Input("a", TensorView::Of(large, {100000}));
  call.Input("none", TensorView::Of(empty, {0}));
  call.Input("b", TensorView::Of(large, {50000}).WithStrides({2}, 1));
  const Request request = MakeExecuteRequest(call);
  size_t referred = 0;
  for (const Request::Piece& piece : request.pieces()) {
    if (static_cast<const void*>(piece.view.data()) == large.data()) ++referred;
  }
  EXPECT_EQ(referred, 1u);
  const v1::ExecuteRequest message = Parsed(request);
  ASSERT_EQ(message.raw_size(), 2);
  EXPECT_EQ(message.raw(0).size(), 400000u);
  EXPECT_EQ(message.raw(1).size(), 0u);
  EXPECT_EQ(message.call().inputs(2).raw_index(), 0u);
}

v1::ExecuteResponse GoodAnswer() {
  v1::ExecuteResponse answer;
  v1::Tensor& output = *answer.add_outputs();
  output.set_name("out");
  output.set_dtype(v1::DATA_TYPE_FLOAT32);
  output.add_shape(2);
  output.set_raw_index(0);
  answer.add_raw(std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  return answer;
}

absl::StatusOr<ExecuteResult> ReadPieces(const std::string& bytes, size_t piece) {
  Fragments fragments;
  for (size_t i = 0; i < bytes.size(); i += piece) {
    fragments.Append(std::as_bytes(std::span(bytes).subspan(i, std::min(piece, bytes.size() - i))));
  }
  return ReadExecuteResult(fragments);
}

TEST(ExecuteResponseTest, ReadsPiecesOfAnyLength) {
  const std::string bytes = GoodAnswer().SerializeAsString();
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const absl::StatusOr<ExecuteResult> result = ReadPieces(bytes, piece);
    ASSERT_THAT(result, testing::IsOk());
    EXPECT_THAT(result->Find("out")->As<float>(), ElementsAre(1, 2));
    EXPECT_EQ(result->Find("other"), nullptr);
  }
}

TEST(ExecuteResponseTest, MaskedOutOutputsAreEmpty) {
  v1::ExecuteResponse answer = GoodAnswer();
  v1::Tensor& masked = *answer.add_outputs();
  masked.set_name("masked");
  masked.set_dtype(v1::DATA_TYPE_FLOAT16);
  masked.add_shape(0);
  const absl::StatusOr<ExecuteResult> result = ReadPieces(answer.SerializeAsString(), 7);
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_EQ(result->Find("masked")->num_elements(), 0);
}

TEST(ExecuteResponseTest, ReadsHowItWasExecuted) {
  v1::ExecuteResponse answer = GoodAnswer();
  EXPECT_FALSE(ReadPieces(answer.SerializeAsString(), 7)->execution.has_value());
  answer.mutable_execution()->set_device("cpu:3");
  answer.mutable_execution()->set_queued_ns(5);
  answer.mutable_execution()->set_executed_ns(7);
  const absl::StatusOr<ExecuteResult> result = ReadPieces(answer.SerializeAsString(), 7);
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_EQ(result->execution->device, "cpu:3");
  EXPECT_EQ(result->execution->queued, absl::Nanoseconds(5));
  EXPECT_EQ(result->execution->executed, absl::Nanoseconds(7));
  answer.mutable_execution()->set_queued_ns(-1);
  EXPECT_TRUE(absl::IsInternal(ReadPieces(answer.SerializeAsString(), 7).status()));
  answer.mutable_execution()->set_queued_ns(5);
  answer.mutable_execution()->set_device(std::string(5000, 'x'));
  EXPECT_TRUE(absl::IsInternal(ReadPieces(answer.SerializeAsString(), 7).status()));
}

TEST(ExecuteResponseTest, BadAnswersAreInternalErrors) {
  const auto error = [](void (*damage)(v1::ExecuteResponse&)) {
    v1::ExecuteResponse answer = GoodAnswer();
    damage(answer);
    return std::string(ToStd(ReadPieces(answer.SerializeAsString(), 5).status().message()));
  };
  EXPECT_THAT(
      error([](v1::ExecuteResponse& answer) { answer.mutable_outputs(0)->set_raw_index(1); }),
      HasSubstr("out: want a raw_index below 1 that is its own, got 1"));
  EXPECT_THAT(error([](v1::ExecuteResponse& answer) { answer.mutable_raw(0)->pop_back(); }),
              HasSubstr("out: want 8 bytes for float32[2], got 7"));
  EXPECT_THAT(error([](v1::ExecuteResponse& answer) { answer.mutable_outputs(0)->clear_data(); }),
              HasSubstr("out: want bytes, got none"));
  EXPECT_THAT(
      error([](v1::ExecuteResponse& answer) { answer.mutable_outputs(0)->mutable_values(); }),
      HasSubstr("out: want raw bytes"));
  EXPECT_THAT(error([](v1::ExecuteResponse& answer) { answer.mutable_outputs(0)->add_strides(1); }),
              HasSubstr("out: want a dense tensor"));
  EXPECT_THAT(
      error([](v1::ExecuteResponse& answer) { answer.mutable_outputs(0)->set_shape(0, -1); }),
      HasSubstr("no valid"));
  EXPECT_THAT(error([](v1::ExecuteResponse& answer) {
                answer.mutable_outputs(0)->set_dtype(v1::DATA_TYPE_UNSPECIFIED);
              }),
              HasSubstr("no valid"));
  EXPECT_EQ(ReadPieces("\xff", 1).status().code(), absl::StatusCode::kInternal);
  const std::string bytes = GoodAnswer().SerializeAsString();
  EXPECT_FALSE(ReadPieces(bytes.substr(0, bytes.size() - 1), 3).ok());
}

}  // namespace
}  // namespace opserve::client
