#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client/cpp/wire/messages.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "google/rpc/error_details.pb.h"
#include "opserve/v1/operator_service.pb.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string BytesOf(const Request& request) {
  std::string bytes;
  for (const Request::Piece& piece : request.pieces()) {
    bytes.append(piece.own).append(reinterpret_cast<const char*>(piece.view.data()),
                                   piece.view.size());
  }
  EXPECT_EQ(bytes.size(), request.size_bytes());
  return bytes;
}

TEST(BatchRequestTest, IsTheMessageOfTheApi) {
  const std::vector<float> a = {1, 2};
  const std::vector<float> large(5000, 3.0f);
  std::vector<Call> calls;
  for (int i = 0; i < 3; ++i) {
    calls.emplace_back("Op");
    calls.back().Input("x", TensorView::Of(a, {2})).Attribute("i", i);
  }
  calls[1].Input("y", TensorView::Of(large, {5000})).OnDevice("cpu:1");
  const std::string bytes = BytesOf(MakeExecuteBatchRequest(calls));
  v1::ExecuteBatchRequest message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  EXPECT_EQ(message.SerializeAsString(), bytes);
  ASSERT_EQ(message.calls_size(), 3);
  EXPECT_EQ(message.calls(2).attributes(0).int_value(), 2);
  EXPECT_EQ(message.calls(1).device(), "cpu:1");
  EXPECT_EQ(message.calls(2).device(), "");
  EXPECT_EQ(message.output_encoding(), v1::TENSOR_ENCODING_RAW);
  ASSERT_EQ(message.raw_size(), 2);  // shared by the calls
  for (const v1::Call& call : message.calls()) EXPECT_EQ(call.inputs(0).raw_index(), 0u);
  EXPECT_EQ(message.calls(1).inputs(1).raw_index(), 1u);
  EXPECT_EQ(message.raw(1).size(), 20000u);
}

// Results: an output, an error, a masked-out output and a large one.
v1::ExecuteBatchResponse GoodBatchAnswer() {
  v1::ExecuteBatchResponse answer;
  const auto add = [&answer](const std::string& bytes) {
    v1::Tensor& output = *answer.add_results()->add_outputs();
    output.set_name("out");
    output.set_dtype(v1::DATA_TYPE_FLOAT32);
    output.add_shape(static_cast<int64_t>(bytes.size() / 4));
    output.set_raw_index(static_cast<uint32_t>(answer.raw_size()));
    answer.add_raw(bytes);
  };
  add(std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  google::rpc::Status& error = *answer.add_results()->mutable_error();
  error.set_code(3);
  error.set_message("Op: beta: want >= 0, got -1");
  google::rpc::ErrorInfo info;
  info.set_reason("INVALID_PARAMETER");
  info.set_domain("opserve.dev");
  (*info.mutable_metadata())["parameter"] = "beta";
  google::protobuf::Any& any = *error.add_details();
  any.set_type_url("type.googleapis.com/google.rpc.ErrorInfo");
  any.set_value(info.SerializeAsString());
  v1::Tensor& masked = *answer.add_results()->add_outputs();
  masked.set_name("masked");
  masked.set_dtype(v1::DATA_TYPE_FLOAT32);
  masked.add_shape(0);
  add(std::string(20000, '\0'));
  return answer;
}

absl::StatusOr<BatchResults> ReadPieces(const std::string& bytes, size_t piece, size_t calls) {
  Fragments fragments;
  for (size_t i = 0; i < bytes.size(); i += piece)
    fragments.Append(std::as_bytes(std::span(bytes).subspan(i, std::min(piece, bytes.size() - i))));
  return ReadBatchResults(fragments, calls);
}

TEST(BatchResultsTest, ReadsPiecesOfAnyLength) {
  const std::string bytes = GoodBatchAnswer().SerializeAsString();
  for (const size_t piece :
       {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{100}, bytes.size()}) {
    const absl::StatusOr<BatchResults> results = ReadPieces(bytes, piece, 4);
    ASSERT_THAT(results, testing::IsOk());
    ASSERT_EQ(results->size(), 4u);
    EXPECT_THAT((*results)[0]->Find("out")->As<float>(), ElementsAre(1, 2));
    const absl::Status& error = (*results)[1].status();
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(error.message(), "Op: beta: want >= 0, got -1");
    EXPECT_EQ(GetErrorDetail(error)->parameter, "beta");
    EXPECT_EQ((*results)[2]->outputs[0].tensor.num_elements(), 0);
    EXPECT_EQ((*results)[3]->Find("out")->num_elements(), 5000);
  }
}

TEST(BatchResultsTest, OutputsAreAlignedAndOutliveTheOthers) {
  v1::ExecuteBatchResponse answer;
  for (int i = 0; i < 5; ++i) answer.MergeFrom(GoodBatchAnswer());
  for (int i = 0; i < answer.results_size(); ++i) {
    v1::BatchResult& result = *answer.mutable_results(i);
    if (result.outputs_size() == 1 && result.outputs(0).has_raw_index())
      result.mutable_outputs(0)->set_raw_index(
          static_cast<uint32_t>(i / 4 * 2 + (i % 4 == 0 ? 0 : 1)));
  }
  Tensor kept;
  {
    const absl::StatusOr<BatchResults> results = ReadPieces(answer.SerializeAsString(), 4096, 20);
    ASSERT_THAT(results, testing::IsOk());
    for (size_t i = 0; i < results->size(); i += 4) {
      kept = *(*results)[i]->Find("out");
      EXPECT_EQ(reinterpret_cast<uintptr_t>(kept.bytes().data()) % 64, 0u);
    }
  }
  EXPECT_THAT(kept.As<float>(), ElementsAre(1, 2));
}

TEST(BatchResultsTest, BadAnswersAreInternalErrors) {
  const auto error = [](void (*damage)(v1::ExecuteBatchResponse&)) {
    v1::ExecuteBatchResponse answer = GoodBatchAnswer();
    damage(answer);
    const absl::Status status = ReadPieces(answer.SerializeAsString(), 50, 4).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
    return std::string(ToStd(status.message()));
  };
  using Response = v1::ExecuteBatchResponse;
  EXPECT_THAT(error([](Response& answer) { answer.mutable_results()->RemoveLast(); }),
              HasSubstr("results: want 4, as many as calls, got 3"));
  EXPECT_THAT(error([](Response& answer) {
                answer.mutable_results(0)->mutable_outputs(0)->set_raw_index(2);
              }),
              HasSubstr("want a raw_index below 2 that is its own, got 2"));
  EXPECT_THAT(error([](Response& answer) {
                answer.mutable_results(0)->mutable_outputs(0)->set_raw_index(1);
                answer.mutable_raw()->SwapElements(0, 1);
              }),
              HasSubstr("that is its own, got 1"));
  EXPECT_THAT(error([](Response& answer) { answer.add_raw("more"); }),
              HasSubstr("raw: want 2 entries, one for each output, got 3"));
  EXPECT_THAT(error([](Response& answer) { answer.add_results(); }),
              HasSubstr("results: want at most 4, got more"));
  EXPECT_THAT(error([](Response& answer) { answer.mutable_results(0)->clear_outputs(); }),
              HasSubstr("outputs: want one at least, got none"));
  EXPECT_THAT(error([](Response& answer) {
                *answer.mutable_results(1)->add_outputs() = answer.results(2).outputs(0);
              }),
              HasSubstr("results: want outputs or an error, got both"));
  EXPECT_THAT(error([](Response& answer) { answer.mutable_raw(0)->pop_back(); }),
              HasSubstr("out: want 8 bytes for float32[2], got 7"));
  EXPECT_THAT(error([](Response& answer) { answer.mutable_results(1)->mutable_error()->Clear(); }),
              HasSubstr("error: want a code of an error, got OK"));
  const std::string bytes = GoodBatchAnswer().SerializeAsString();
  EXPECT_FALSE(ReadPieces(bytes.substr(0, bytes.size() - 1), 64, 4).ok());
  EXPECT_FALSE(ReadPieces("\x0a\x02\x0a\x05", 64, 1).ok());
}

}  // namespace
}  // namespace opserve::client
