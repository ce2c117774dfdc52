#include "server/transport/messages/raw_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/op_error.h"
#include "opserve/v1/operator_service.pb.h"
#include "server/codec/message_scanner.h"
#include "tests/server/codec/wire_bytes.h"
#include "tests/support/errors.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using opserve::testing::AclnnCode;
using opserve::testing::kParamInvalid;
using opserve::testing::MakeRng;
using opserve::testing::Rng;

grpc::ByteBuffer InSlices(std::string_view bytes, Rng& rng) {
  std::vector<grpc::Slice> slices;
  for (const std::span<const std::byte> piece : InPieces(bytes, rng))
    slices.emplace_back(piece.data(), piece.size());
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_THAT(buffer.Dump(&slices), testing::IsOk());
  std::string bytes;
  for (const grpc::Slice& slice : slices)
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

// `header` with these as its raw entries.
grpc::ByteBuffer Write(const v1::ExecuteResponse& header, std::vector<PooledBuffer> raw) {
  RawWriter writer(v1::ExecuteResponse::kRawFieldNumber);
  for (PooledBuffer& entry : raw) writer.Add(std::move(entry));
  return ToByteBuffer(std::move(writer).WriteAfter(header.SerializeAsString()));
}

absl::StatusOr<SplitMessage> Split(const grpc::ByteBuffer& buffer) {
  return ReadSplitMessage(buffer, v1::ExecuteRequest::kRawFieldNumber, kMaxRawEntries);
}

class RawMessageTest : public ::testing::Test {
 protected:
  PooledBuffer Filled(const std::string& bytes) {
    absl::StatusOr<PooledBuffer> buffer = pool_.Acquire(bytes.size());
    EXPECT_THAT(buffer, testing::IsOk());
    if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
    return *std::move(buffer);
  }

  MemoryPool pool_{int64_t{64} << 20, MemorySource::Host(), Clock::Real()};
};

TEST_F(RawMessageTest, ReadsWhatGeneratedCodeWrote) {
  Rng rng = MakeRng(1);
  for (int i = 0; i < 300; ++i) {
    v1::ExecuteRequest request;
    request.mutable_call()->set_op("SmoothL1LossBackward");
    request.mutable_call()->add_inputs()->set_name(std::string(Below(rng, 3000), 'n'));
    for (size_t j = Below(rng, 4); j > 0; --j) request.add_raw(RandomBytes(rng, Below(rng, 20000)));
    absl::StatusOr<SplitMessage> read = Split(InSlices(request.SerializeAsString(), rng));
    ASSERT_THAT(read, testing::IsOk());
    const SplitMessage moved = *std::move(read);  // addresses must survive it
    v1::ExecuteRequest joined;
    ASSERT_EQ(ParseHeader(moved.header, joined), absl::OkStatus());
    for (const Fragments& entry : moved.raw) joined.add_raw(Flatten(entry));
    ASSERT_EQ(joined.SerializeAsString(), request.SerializeAsString());
  }
}

TEST_F(RawMessageTest, GeneratedCodeReadsWhatItWrites) {
  Rng rng = MakeRng(2);
  for (int i = 0; i < 300; ++i) {
    v1::ExecuteResponse header;
    for (size_t j = Below(rng, 3); j > 0; --j)
      header.add_outputs()->set_name(std::string(Below(rng, 3000), 'n'));
    v1::ExecuteResponse expected = header;
    std::vector<PooledBuffer> raw;
    for (size_t j = Below(rng, 4); j > 0; --j) {
      expected.add_raw(RandomBytes(rng, Below(rng, Below(rng, 2) == 0 ? 100 : 20000)));
      raw.push_back(Filled(expected.raw(expected.raw_size() - 1)));
    }
    ASSERT_EQ(BytesOf(Write(header, std::move(raw))), expected.SerializeAsString());
  }
  EXPECT_EQ(pool_.stats().used_bytes, 0);
}

TEST_F(RawMessageTest, LargeEntriesAreLentUntilTheTransportIsDone) {
  std::vector<PooledBuffer> raw;
  raw.push_back(Filled(std::string(100000, 'x')));
  const std::byte* data = raw[0].data();
  {
    const grpc::ByteBuffer buffer = Write({}, std::move(raw));
    std::vector<grpc::Slice> slices;
    ASSERT_THAT(buffer.Dump(&slices), testing::IsOk());
    EXPECT_EQ(reinterpret_cast<const std::byte*>(slices.back().begin()), data);
    EXPECT_GE(pool_.stats().used_bytes, 100000);
  }
  EXPECT_EQ(pool_.stats().used_bytes, 0);
}

TEST_F(RawMessageTest, LongHeadersAndManySlicesTakeLongToRead) {
  const auto takes_long = [](size_t name_bytes, size_t raw_bytes, size_t slice_bytes) {
    v1::ExecuteRequest request;
    request.mutable_call()->set_op(std::string(name_bytes, 'x'));
    request.add_raw(std::string(raw_bytes, 'r'));
    const std::string whole = request.SerializeAsString();
    std::vector<grpc::Slice> slices;
    for (size_t at = 0; at < whole.size(); at += slice_bytes)
      slices.emplace_back(whole.data() + at, std::min(slice_bytes, whole.size() - at));
    return TakesLongToRead(grpc::ByteBuffer(slices.data(), slices.size()),
                           v1::ExecuteRequest::kRawFieldNumber, 1);
  };
  EXPECT_FALSE(takes_long(10, size_t{1} << 20, 100));
  EXPECT_FALSE(takes_long(kReadHereHeaderBytes / 2, size_t{1} << 20, 8192));
  EXPECT_TRUE(takes_long(kReadHereHeaderBytes, size_t{1} << 20, 8192));
  // gRPC joins slices that are smaller.
  EXPECT_TRUE(takes_long(10, 32 * kReadHereSlices, 32));
  EXPECT_FALSE(takes_long(10, 32 * kReadHereSlices, 64));
}

TEST_F(RawMessageTest, EmptyBuffersAreEmptyMessages) {
  EXPECT_THAT(Split(grpc::ByteBuffer()), testing::IsOk());
  const grpc::ByteBuffer response = Write({}, {});
  EXPECT_EQ(response.Length(), 0u);
}

TEST_F(RawMessageTest, RefusesMalformedHeaders) {
  Rng rng = MakeRng(3);
  // A truncated message and a string that is not UTF-8 inside `call`.
  for (const std::string_view bytes :
       {std::string_view("\x0a\x02\x0a\x05"), std::string_view("\x0a\x03\x0a\x01\xff")}) {
    v1::ExecuteRequest request;
    const absl::Status status = ParseHeader(Split(InSlices(bytes, rng))->header, request);
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    ASSERT_TRUE(detail.has_value()) << status;
    EXPECT_EQ(AclnnCode(*detail), kParamInvalid);
    EXPECT_EQ(detail->parameter, "message");
  }
}

}  // namespace
}  // namespace opserve::server
