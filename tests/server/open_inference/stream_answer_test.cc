// What a ModelStreamInferResponse has around an answer: marks, errors, bytes that are not copied.
#include "server/open_inference/stream_answer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/device/memory_pool.h"
#include "inference/open_inference.pb.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using inference::ModelInferResponse;
using inference::ModelStreamInferResponse;
using testing::IsOk;

std::string Flat(const WrittenMessage& message) {
  std::string bytes = message.begin;
  for (const WrittenMessage::Entry& entry : message.entries) {
    bytes.append(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
    bytes.append(entry.after);
  }
  return bytes;
}

ModelStreamInferResponse Parsed(const WrittenMessage& message) {
  ModelStreamInferResponse parsed;
  EXPECT_TRUE(parsed.ParseFromString(Flat(message)));
  return parsed;
}

void ExpectFinal(const ModelInferResponse& response) {
  ASSERT_EQ(response.parameters_size(), 1);
  EXPECT_TRUE(response.parameters().at("triton_final_response").bool_param());
}

// The answer with that id and raw entries of those sizes, each of one letter.
WrittenMessage AnswerOf(const std::string& id, const std::vector<size_t>& sizes, MemoryPool& pool) {
  ModelInferResponse header;
  header.set_model_name("Relu");
  header.set_id(id);
  RawWriter raw(ModelInferResponse::kRawOutputContentsFieldNumber);
  for (size_t i = 0; i < sizes.size(); ++i) {
    header.add_outputs()->set_name("out");
    absl::StatusOr<PooledBuffer> entry = pool.Acquire(sizes[i]);
    EXPECT_THAT(entry, IsOk());
    if (sizes[i] > 0) std::memset(entry->data(), 'a' + static_cast<int>(i), sizes[i]);
    raw.Add(*std::move(entry));
  }
  return std::move(raw).WriteAfter(header.SerializeAsString());
}

TEST(StreamAnswerTest, AnAnswerIsWhatItWasAndTheLastOne) {
  MemoryPool pool(1 << 20, MemorySource::Host(), Clock::Real());
  for (const std::vector<size_t>& sizes :
       std::vector<std::vector<size_t>>{{}, {0}, {8}, {kCopiedBytes + 1}, {0, 100'000, 3, 5000}}) {
    for (const char* id : {"", "seven"}) {
      const ModelStreamInferResponse parsed = Parsed(WrapStreamAnswer(AnswerOf(id, sizes, pool)));
      EXPECT_EQ(parsed.error_message(), "");
      const ModelInferResponse& response = parsed.infer_response();
      ExpectFinal(response);
      EXPECT_EQ(response.model_name(), "Relu");
      EXPECT_EQ(response.id(), id);
      ASSERT_EQ(response.raw_output_contents_size(), static_cast<int>(sizes.size()));
      for (size_t i = 0; i < sizes.size(); ++i) {
        EXPECT_EQ(response.raw_output_contents(static_cast<int>(i)),
                  std::string(sizes[i], static_cast<char>('a' + i)));
      }
    }
  }
}

TEST(StreamAnswerTest, LargeOutputsAreNotCopied) {
  MemoryPool pool(1 << 20, MemorySource::Host(), Clock::Real());
  WrittenMessage answer = AnswerOf("id", {100'000}, pool);
  const std::byte* const bytes = answer.entries.front().bytes.data();
  const WrittenMessage wrapped = WrapStreamAnswer(std::move(answer));
  ASSERT_EQ(wrapped.entries.size(), 1u);
  EXPECT_EQ(wrapped.entries.front().bytes.data(), bytes);
}

TEST(StreamAnswerTest, AnErrorHasTheRequestsIdAndNothingElse) {
  const absl::Status status = InvalidParameter("beta", "> 0", "-1");
  for (const char* id : {"", "seven"}) {
    const ModelStreamInferResponse parsed = Parsed(WriteStreamError(id, status));
    EXPECT_EQ(parsed.error_message(), "beta: want > 0, got -1");
    EXPECT_EQ(parsed.infer_response().id(), id);
    ExpectFinal(parsed.infer_response());
    EXPECT_EQ(parsed.infer_response().outputs_size(), 0);
    EXPECT_EQ(parsed.infer_response().raw_output_contents_size(), 0);
  }
}

}  // namespace
}  // namespace opserve::server
