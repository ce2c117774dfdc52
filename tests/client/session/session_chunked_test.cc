// Chunked calls, against a fake server that adds its inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <opserve/session.h>

#include "absl/time/clock.h"
#include "core/base/waiter.h"
#include "tests/client/session/fake_session_server.h"
#include "tests/client/status_text.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;

// The operator "Add" on float32: its chunked inputs and its one whole scalar. One session only.
class AddingServer {
 public:
  int operator()(const ReceivedCommand& command, const SendAnswer& send) {
    if (command.message.has_execute_chunked()) return Begin(command, send);
    if (command.message.has_cancel()) {
      EXPECT_EQ(command.message.cancel().command(), call_.message.id());
      send(BadBetaOf(call_));
      return 0;
    }
    if (!command.message.has_input_chunk()) return AnswerAll(command, send);
    EXPECT_TRUE(command.message.quiet());
    EXPECT_EQ(command.message.input_chunk().command(), call_.message.id());
    EXPECT_LE(command.raw[0].size(), 4000u);
    arrived_[command.message.input_chunk().input()] += command.raw[0];
    return AddWhatIsThere(send);
  }

 private:
  int Begin(const ReceivedCommand& command, const SendAnswer& send) {
    call_ = command;
    for (const v1::Tensor& input : command.message.execute_chunked().call().inputs()) {
      if (input.has_chunked()) {
        arrived_[input.name()];
        total_ = 4;
        for (const int64_t extent : input.shape()) total_ *= static_cast<size_t>(extent);
      } else {
        std::memcpy(&whole_, command.raw.at(input.raw_index()).data(), 4);
      }
    }
    v1::Answer answer = AnswerTo(call_);
    answer.set_more(true);
    v1::Tensor& output = *answer.mutable_outputs()->add_outputs();
    output.set_name("out");
    output.set_dtype(v1::DATA_TYPE_FLOAT32);
    output.add_shape(static_cast<int64_t>(total_ / 4));
    send(answer);
    return 0;
  }

  int AddWhatIsThere(const SendAnswer& send) {
    size_t least = SIZE_MAX;
    size_t most = 0;
    for (const auto& [name, bytes] : arrived_) {
      least = std::min(least, bytes.size());
      most = std::max(most, bytes.size());
    }
    EXPECT_LE(most - least, 4000u) << "the inputs are too far apart";
    if (least == added_) return 0;
    std::vector<float> sums((least - added_) / 4, whole_);
    for (const auto& [name, bytes] : arrived_) {
      for (size_t i = 0; i < sums.size(); ++i) {
        float value = 0;
        std::memcpy(&value, bytes.data() + added_ + 4 * i, 4);
        sums[i] += value;
      }
    }
    v1::Answer answer = AnswerTo(call_);
    answer.mutable_chunk()->set_output("out");
    answer.mutable_chunk()->set_offset_bytes(static_cast<int64_t>(added_));
    added_ = least;
    answer.set_more(added_ < total_);
    send(answer, {std::string(reinterpret_cast<const char*>(sums.data()), 4 * sums.size())});
    return 0;
  }

  ReceivedCommand call_;
  std::map<std::string, std::string> arrived_;
  float whole_ = 0;
  size_t total_ = 0;
  size_t added_ = 0;
};

class SessionChunkedTest : public ::testing::Test {
 protected:
  static constexpr int64_t kCount = 30001;

  SessionChunkedTest() { std::iota(a_.begin(), a_.end(), 0.0f); }

  Call Add() {
    Call call("Add");
    call.Input("a", TensorView::Of(a_, {kCount}))
        .Input("b", TensorView::Of(b_, {kCount}))
        .Input("scalar", TensorView::Of(scalar_, {}));
    return call;
  }
  // The same without storage of "a".
  Call AddWithoutA() {
    Call call("Add");
    call.Input("a", TensorView::OfBytes(DType::kFloat32, std::vector<int64_t>{kCount}, {}))
        .Input("b", TensorView::Of(b_, {kCount}));
    return call;
  }

  FakeSessionServer server_{AddingServer()};
  Session session_{*Client::Connect(server_.target())->OpenSession()};
  std::vector<float> a_ = std::vector<float>(kCount);
  std::vector<float> b_ = std::vector<float>(kCount, 1000.0f);
  std::vector<float> scalar_ = {0.5f};
};

TEST_F(SessionChunkedTest, SendsAlternatingChunksAndGathers) {
  const absl::StatusOr<ExecuteResult> result = session_.ExecuteChunked(Add());
  ASSERT_THAT(result, testing::IsOk());
  const std::span<const float> out = result->Find("out")->As<float>();
  ASSERT_EQ(out.size(), static_cast<size_t>(kCount));
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], a_[i] + 1000.5f);
  EXPECT_EQ(server_.received(v1::Command::kInputChunk).size(), 2u * 121);
}

TEST_F(SessionChunkedTest, SourcesAndSinksNeedNoMemory) {
  ChunkedOptions options;
  int64_t next = 0;
  options.sources.emplace_back("a", [&](int64_t offset, std::span<std::byte> chunk) {
    EXPECT_EQ(offset, next);
    next += static_cast<int64_t>(chunk.size());
    std::memcpy(chunk.data(), reinterpret_cast<const char*>(a_.data()) + offset, chunk.size());
    return absl::OkStatus();
  });
  std::string bytes;
  options.sink = [&](const PlannedOutput& output, int64_t offset,
                     std::span<const std::byte> piece) {
    EXPECT_EQ(output.name, "out");
    EXPECT_EQ(output.desc.num_elements(), kCount);
    EXPECT_EQ(offset, bytes.size());
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return absl::OkStatus();
  };
  const absl::StatusOr<ExecuteResult> result =
      session_.ExecuteChunked(AddWithoutA(), std::move(options));
  ASSERT_THAT(result, testing::IsOk());
  EXPECT_EQ(next, 4 * kCount);
  ASSERT_EQ(bytes.size(), 4u * kCount);
  float last = 0;
  std::memcpy(&last, bytes.data() + bytes.size() - 4, 4);
  EXPECT_EQ(last, kCount - 1 + 1000.0f);
}

TEST_F(SessionChunkedTest, FailingSourcesEndTheCallAndNotTheSession) {
  ChunkedOptions options;
  options.sources.emplace_back("a", [](int64_t offset, std::span<std::byte> /*chunk*/) {
    return offset < 5000 ? absl::OkStatus() : absl::DataLossError("unreadable");
  });
  EXPECT_EQ(session_.ExecuteChunked(AddWithoutA(), std::move(options)).status(),
            absl::DataLossError("unreadable"));
  EXPECT_EQ(session_.CreateContext().Synchronize(), absl::OkStatus());
}

TEST_F(SessionChunkedTest, FailingSinksEndTheCallAndNotTheSession) {
  ChunkedOptions options;
  options.sink = [](const PlannedOutput& /*output*/, int64_t /*offset*/,
                    std::span<const std::byte> /*bytes*/) {
    return absl::DataLossError("disk full");
  };
  EXPECT_EQ(session_.ExecuteChunked(Add(), std::move(options)).status(),
            absl::DataLossError("disk full"));
  EXPECT_EQ(session_.CreateContext().Synchronize(), absl::OkStatus());
}

TEST_F(SessionChunkedTest, MistakesAreFoundHere) {
  ChunkedOptions options;
  options.sources.emplace_back("c", nullptr);
  EXPECT_THAT(Message(session_.ExecuteChunked(Add(), std::move(options)).status()),
              HasSubstr("Add: sources: want names of the call's inputs, got c"));
  ChunkedOptions with_source;
  with_source.sources.emplace_back(
      "a", [](int64_t /*offset*/, std::span<std::byte> /*chunk*/) { return absl::OkStatus(); });
  EXPECT_THAT(Message(session_.ExecuteChunked(Add(), std::move(with_source)).status()),
              HasSubstr("Add: a: want a dense view of shape [30001] without storage"));
  EXPECT_FALSE(session_.ExecuteChunked(AddWithoutA()).ok());
  Call mismatch = Add();
  mismatch.Input("d", TensorView::Of(scalar_, {2}));
  EXPECT_THAT(Message(session_.ExecuteChunked(mismatch).status()),
              HasSubstr("Add: d: want a shape that broadcasts with [30001], got [2]"));
  EXPECT_TRUE(server_.received().empty());
}

TEST(SessionChunkedRefusalTest, RefusedCallsSendLittle) {
  const FakeSessionServer server([](const ReceivedCommand& command, const SendAnswer& send) {
    if (command.message.has_execute_chunked()) send(BadBetaOf(command));
    return 0;
  });
  const Client client = *Client::Connect(server.target());
  Session session = *client.OpenSession();
  const std::vector<float> large(8 << 20);
  const absl::Status status =
      session.ExecuteChunked(Call("Op").Input("x", TensorView::Of(large, {8 << 20}))).status();
  EXPECT_EQ(status.message(), "Op: beta: want >= 0, got -1");
  EXPECT_LT(server.received().size(), 8388u) << "a quarter of the chunks";
}

TEST(SessionChunkedRefusalTest, WaitsEndInTimeWhateverTheServerDoes) {
  Waiter<bool> stop;
  const FakeSessionServer server(
      [&stop](const ReceivedCommand& command, const SendAnswer& /*send*/) {
        if (command.message.has_input_chunk()) stop.Wait(absl::InfiniteFuture());
        return 0;
      });
  Session session = *Client::Connect(server.target())->OpenSession();
  const auto values = std::make_shared<std::vector<float>>(8 << 20);
  TensorView view = TensorView::Of(*values, {8 << 20});
  view.owner = values;
  ChunkedOptions options;
  options.timeout = absl::Milliseconds(100);
  const absl::Status status =
      session.ExecuteChunked(Call("Op").Input("x", view), std::move(options)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(status), HasSubstr("no end of ExecuteChunked of Op in time"));
  stop.Set(true);
  server.WaitUntil([](const std::vector<ReceivedCommand>& received) {
    return !received.empty() && received.back().message.has_cancel();
  });
  EXPECT_EQ(server.received()[0].message.timeout_ns(), 100'000'000);
}

}  // namespace
}  // namespace opserve::client
