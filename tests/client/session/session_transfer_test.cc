// Uploads and downloads of a session, against a fake server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include <opserve/session.h>

#include "absl/time/clock.h"
#include "client/cpp/session/transfer.h"
#include "core/base/clock.h"
#include "core/base/waiter.h"
#include "tests/client/session/fake_session_server.h"
#include "tests/client/status_text.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rows as (offset, row_bytes, rows, stride), which a failing test prints.
std::vector<int64_t> Numbers(const Rows& rows) {
  return {rows.offset_bytes, rows.row_bytes, rows.rows, rows.stride_bytes};
}

std::vector<int64_t> RowsOfView(std::initializer_list<int64_t> shape,
                                std::initializer_list<int64_t> strides, int64_t offset) {
  const auto tensor =
      DeviceTensor::Of({}, DType::kFloat32, shape, 100).WithStrides(strides, offset);
  const absl::StatusOr<Rows> rows = RowsOf(tensor, "x");
  return rows.ok() ? Numbers(*rows) : std::vector<int64_t>();
}

TEST(RowsTest, FindsEvenlySpacedRows) {
  EXPECT_THAT(RowsOfView({}, {}, 3), ElementsAre(112, 4, 1, 0));
  EXPECT_THAT(RowsOfView({4, 2}, {2, 1}, 0), ElementsAre(100, 32, 1, 0));
  EXPECT_THAT(RowsOfView({4, 2}, {3, 1}, 1), ElementsAre(104, 8, 4, 12));
  EXPECT_THAT(RowsOfView({5}, {2}, 0), ElementsAre(100, 4, 5, 8));
  EXPECT_THAT(RowsOfView({2, 3, 4}, {15, 5, 1}, 0), ElementsAre(100, 16, 6, 20));
  EXPECT_THAT(RowsOfView({2, 1, 4}, {15, 99, 1}, 0), ElementsAre(100, 16, 2, 60));
  EXPECT_THAT(RowsOfView({0, 4}, {9, 9}, 5), ElementsAre(100, 0, 1, 0));
  EXPECT_TRUE(RowsOfView({2, 3, 4}, {16, 5, 1}, 0).empty());
  EXPECT_TRUE(RowsOfView({4, 2}, {1, 4}, 0).empty());
  EXPECT_TRUE(RowsOfView({4, 2}, {0, 1}, 0).empty());
  EXPECT_TRUE(RowsOfView({2}, {-1}, 0).empty());
}

TEST(RowsTest, OffsetsThatOverflowAreRefused) {
  const auto tensor = DeviceTensor::Of({}, DType::kFloat32, {2}, INT64_MAX).WithStrides({1}, 1);
  EXPECT_FALSE(RowsOf(tensor, "x").ok());
  EXPECT_FALSE(RowsOf(DeviceTensor::Of({}, DType::kFloat32, {2}, -4), "x").ok());
}

// The pieces cover every byte once, in order.
TEST(RowsTest, PiecesCoverAllBytes) {
  for (const int64_t row_bytes : {1, 7, 64}) {
    for (const int64_t rows : {1, 2, 9}) {
      for (const int64_t chunk : {1, 5, 7, 64, 100, 10000}) {
        const Rows all{.offset_bytes = 3, .row_bytes = row_bytes, .rows = rows, .stride_bytes = 70};
        int64_t next = 0;
        ForEachPiece(all, chunk, [&](const Rows& piece, int64_t offset) {
          EXPECT_EQ(offset, next);
          EXPECT_LE(piece.size_bytes(), chunk);
          EXPECT_EQ(piece.offset_bytes, 3 + offset / row_bytes * 70 + offset % row_bytes);
          next += piece.size_bytes();
          return true;
        });
        EXPECT_EQ(next, row_bytes * rows);
      }
    }
  }
}

class SessionTransferTest : public ::testing::Test {
 protected:
  explicit SessionTransferTest(OnCommand on_command = AnswerAll)
      : server_(std::move(on_command)),
        session_(*Client::Connect(server_.target())->OpenSession()),
        context_(session_.CreateContext()),
        stream_(context_.CreateStream()) {}

  std::vector<ReceivedCommand> Uploads() { return server_.received(v1::Command::kUpload); }

  FakeSessionServer server_;
  Session session_;
  Context context_;
  Stream stream_;
};

std::vector<float> Iota(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST_F(SessionTransferTest, UploadsInChunks) {
  const std::vector<float> values = Iota(600);
  const DeviceTensor x = context_.NewTensor(DType::kFloat32, {600});
  EXPECT_EQ(stream_.Upload(x, TensorView::Of(values, {600})), absl::OkStatus());
  EXPECT_EQ(stream_.Synchronize(), absl::OkStatus());
  std::string bytes;
  for (const ReceivedCommand& command : Uploads()) {
    EXPECT_TRUE(command.message.quiet());
    const v1::BufferRange& to = command.message.upload().destination();
    EXPECT_EQ(to.offset_bytes(), bytes.size());
    EXPECT_EQ(to.row_bytes(), command.raw[0].size());
    EXPECT_LE(command.raw[0].size(), 1000u);
    bytes += command.raw[0];
  }
  EXPECT_EQ(Uploads().size(), 3u);
  EXPECT_EQ(bytes, std::string(reinterpret_cast<const char*>(values.data()), 2400));
}

TEST_F(SessionTransferTest, UploadsIntoRows) {
  const std::vector<float> values = Iota(6);
  const DeviceTensor x =
      DeviceTensor::Of(context_.Allocate(1000), DType::kFloat32, {3, 2}, 64).WithStrides({5, 1}, 1);
  EXPECT_EQ(stream_.Upload(x, TensorView::Of(values, {3, 2})), absl::OkStatus());
  EXPECT_EQ(stream_.Synchronize(), absl::OkStatus());
  ASSERT_EQ(Uploads().size(), 1u);
  const v1::BufferRange to = Uploads()[0].message.upload().destination();
  EXPECT_EQ(to.offset_bytes(), 68);
  EXPECT_EQ(to.row_bytes(), 8);
  EXPECT_EQ(to.rows(), 3);
  EXPECT_EQ(to.stride_bytes(), 20);
}

TEST_F(SessionTransferTest, OwnedMemoryIsKeptAndNotWaitedFor) {
  auto values = std::make_shared<const std::vector<float>>(Iota(5000));
  const std::weak_ptr<const void> watched = values;
  TensorView view = TensorView::Of(*values, {5000});
  view.owner = std::move(values);
  const DeviceTensor x = context_.NewTensor(DType::kFloat32, {5000});
  EXPECT_EQ(stream_.Upload(x, view), absl::OkStatus());
  view = TensorView();
  EXPECT_EQ(stream_.Synchronize(), absl::OkStatus());
  EXPECT_EQ(Uploads().size(), 20u);
  for (int i = 0; i < 5000 && !watched.expired(); ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(watched.expired());
}

TEST_F(SessionTransferTest, ReleasedIsCalledWhateverBecomesOfTheUpload) {
  const std::vector<float> values = Iota(5000);
  const DeviceTensor x = context_.NewTensor(DType::kFloat32, {5000});
  const auto upload = [&](int64_t count) {
    const Waiter<bool> released;
    const std::vector<int64_t> shape = {count};
    absl::Status status =
        stream_.UploadAsync(x, TensorView::Of(values, shape), [released] { released.Set(true); });
    EXPECT_TRUE(released.Wait(Clock::Real().Now() + absl::Seconds(30)).has_value());
    return status;
  };
  EXPECT_EQ(upload(5000), absl::OkStatus());
  EXPECT_EQ(upload(4999).code(), absl::StatusCode::kInvalidArgument);
  session_.Cancel();
  while (session_.status().ok()) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(upload(5000).code(), absl::StatusCode::kCancelled);
}

TEST_F(SessionTransferTest, MistakesAreFoundHere) {
  const std::vector<float> values = Iota(6);
  const DeviceTensor x = context_.NewTensor(DType::kFloat32, {6});
  EXPECT_THAT(Message(stream_.Upload(x, TensorView::Of(values, {2, 3}))),
              HasSubstr("from: want float32[6], as `to` is, got float32[2, 3]"));
  EXPECT_THAT(Message(stream_.Upload(context_.NewTensor(DType::kFloat32, {3}),
                                     TensorView::Of(values, {3}).WithStrides({2}))),
              HasSubstr("from: want a dense view"));
  EXPECT_THAT(Message(stream_.Upload(
                  DeviceTensor::Of(x.buffer, DType::kFloat32, {3, 2}).WithStrides({1, 3}),
                  TensorView::Of(values, {3, 2}))),
              HasSubstr("to: want a dense tensor, or evenly spaced rows"));
  const std::vector<float> few = Iota(5);
  EXPECT_FALSE(stream_.Upload(x, TensorView::Of(few, {6})).ok());
  EXPECT_THAT(Message(stream_.Fill(x, int32_t{1})), HasSubstr("to: want a tensor of int32"));
  EXPECT_THAT(Message(stream_.Copy(x, context_.NewTensor(DType::kFloat16, {6}))),
              HasSubstr("to: want 24 bytes, as `from` has, got 12"));
  std::vector<std::byte> memory(23);
  EXPECT_THAT(Message(stream_.DownloadTo(x, memory)), HasSubstr("memory: want 24 bytes"));
  EXPECT_EQ(stream_.Synchronize(), absl::OkStatus());
  EXPECT_TRUE(Uploads().empty());
}

// What a Download of these bytes answers, `step` bytes a chunk.
void SendBytes(const ReceivedCommand& command, const SendAnswer& send, const std::string& bytes,
               size_t step) {
  for (size_t i = 0; i < bytes.size(); i += step) {
    v1::Answer answer = AnswerTo(command);
    answer.set_more(i + step < bytes.size());
    answer.mutable_chunk()->set_offset_bytes(static_cast<int64_t>(i));
    send(answer, {bytes.substr(i, step)});
  }
}

class DownloadTest : public SessionTransferTest {
 protected:
  DownloadTest() : SessionTransferTest(&DownloadTest::Answer) {}

  // 40 bytes 1.0f … 10.0f in chunks of 7.
  static int Answer(const ReceivedCommand& command, const SendAnswer& send) {
    if (!command.message.has_download()) return AnswerAll(command, send);
    const std::vector<float> values = Iota(10);
    std::string bytes(reinterpret_cast<const char*>(values.data()), 40);
    if (command.message.download().source().offset_bytes() == 40) return 0;  // never
    if (command.message.download().source().offset_bytes() == 80) bytes.pop_back();
    if (command.message.download().source().offset_bytes() == 120) {
      v1::Answer late = AnswerTo(command);
      late.set_more(true);
      late.mutable_chunk()->set_offset_bytes(7);
      send(late, {"x"});
      return 0;
    }
    SendBytes(command, send, bytes, 7);
    return 0;
  }

  // Ten floats, the `i`th of the buffer.
  DeviceTensor Part(int64_t i) { return DeviceTensor::Of(buffer_, DType::kFloat32, {10}, 40 * i); }

  DeviceBuffer buffer_ = context_.Allocate(400);
};

TEST_F(DownloadTest, GathersChunks) {
  const absl::StatusOr<Tensor> tensor = stream_.Download(Part(0));
  ASSERT_THAT(tensor, testing::IsOk());
  EXPECT_EQ(tensor->As<float>()[9], 10.0f);
  EXPECT_EQ(server_.received(v1::Command::kDownload)[0].message.download().chunk_bytes(), 1000);
  std::vector<float> memory(10);
  EXPECT_EQ(stream_.DownloadTo(Part(0), std::as_writable_bytes(std::span(memory))),
            absl::OkStatus());
  EXPECT_EQ(memory, Iota(10));
}

TEST_F(DownloadTest, HandsOutChunksAsTheyCome) {
  std::string bytes;
  EXPECT_EQ(stream_.DownloadChunks(Part(0),
                                   [&](int64_t offset, std::span<const std::byte> piece) {
                                     EXPECT_EQ(offset, bytes.size());
                                     bytes.append(reinterpret_cast<const char*>(piece.data()),
                                                  piece.size());
                                     return absl::OkStatus();
                                   }),
            absl::OkStatus());
  EXPECT_EQ(bytes.size(), 40u);
}

TEST_F(DownloadTest, SinksMayFail) {
  int calls = 0;
  const absl::Status status = stream_.DownloadChunks(
      Part(0), [&](int64_t /*offset*/, std::span<const std::byte> /*bytes*/) {
        ++calls;
        return absl::DataLossError("disk full");
      });
  EXPECT_EQ(status, absl::DataLossError("disk full"));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(stream_.Synchronize(), absl::OkStatus());
}

TEST_F(DownloadTest, WaitsEndInTime) {
  std::vector<std::byte> memory(40);
  EXPECT_EQ(stream_.DownloadTo(Part(1), memory, {.timeout = absl::Milliseconds(30)}).code(),
            absl::StatusCode::kDeadlineExceeded);
  const absl::Status status =
      stream_.Download(Part(1), {.timeout = absl::Milliseconds(30)}).status();
  EXPECT_THAT(Message(status), HasSubstr("no end of Download in time"));
  EXPECT_EQ(stream_.Synchronize(), absl::OkStatus());
  const std::vector<ReceivedCommand> downloads = server_.received(v1::Command::kDownload);
  const std::vector<ReceivedCommand> cancels = server_.received(v1::Command::kCancel);
  ASSERT_EQ(downloads.size(), 2u);
  ASSERT_EQ(cancels.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(downloads[i].message.timeout_ns(), 30'000'000);
    EXPECT_EQ(cancels[i].message.cancel().command(), downloads[i].message.id());
  }
}

TEST_F(DownloadTest, BadChunksAreNamed) {
  EXPECT_THAT(Message(stream_.Download(Part(2)).status()), HasSubstr("want 40 in all, got 39"));
  EXPECT_EQ(stream_.Synchronize(), absl::OkStatus());
}

TEST_F(DownloadTest, ChunksOutOfOrderEndTheSession) {
  const absl::Status status = stream_.Download(Part(3)).status();
  EXPECT_THAT(Message(status), HasSubstr("offset_bytes: want 0, in order, got 7"));
  EXPECT_EQ(stream_.Synchronize(), status);
}

}  // namespace
}  // namespace opserve::client
