#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/codec/batch_request.h"
#include "tests/server/codec/wire_bytes.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using opserve::testing::MakeRng;
using opserve::testing::Rng;

absl::StatusOr<BatchRequest> Read(std::string bytes, Rng& rng) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  OPSERVE_ASSIGN_OR_RETURN(
      ScannedMessage scanned,
      ScanMessage(InPieces(*owner, rng), v1::ExecuteBatchRequest::kRawFieldNumber,
                  {.max_header_bytes = kMaxHeaderBytes, .max_bulk_entries = kMaxBatchRawEntries}));
  return ReadBatchRequest(std::move(scanned), owner);
}

// One of few kinds of calls, so that many of a batch are alike; kind 3 is out of the ordinary.
v1::Call RandomCall(Rng& rng, uint32_t raw_entries) {
  v1::Call call;
  const size_t kind = Below(rng, 4);
  call.set_op(kind == 0 ? "L1Loss" : "SmoothL1LossBackward");
  const size_t inputs = kind == 3 ? 12 : kind + 1;
  for (size_t i = 0; i < inputs; ++i) {
    v1::Tensor& tensor = *call.add_inputs();
    tensor.set_name("input" + std::to_string(i));
    tensor.set_dtype(v1::DATA_TYPE_FLOAT32);
    tensor.add_shape(static_cast<int64_t>(kind));
    if (kind == 2 && i == 0)
      tensor.mutable_values()->add_floats(static_cast<double>(Below(rng, 3)));
    else if (raw_entries > 0)
      tensor.set_raw_index(static_cast<uint32_t>(Below(rng, raw_entries)));
  }
  call.add_attributes()->set_name("beta");
  call.mutable_attributes(0)->set_float_value(0.5 * static_cast<double>(Below(rng, 2)));
  return call;
}

// The call as it was sent.
v1::Call Original(const BatchRequest& batch, size_t index) {
  const BatchedCall& batched = batch.calls[index];
  v1::Call call = *batch.distinct[batched.distinct].call;
  if (batch.distinct[batched.distinct].raw_index == DistinctCall::RawIndex::kOfBatch) return call;
  for (v1::Tensor& tensor : *call.mutable_inputs())
    if (tensor.has_raw_index()) tensor.set_raw_index(batched.entries[tensor.raw_index()]);
  return call;
}

void UseEveryEntry(v1::ExecuteBatchRequest& request) {
  v1::Call& call = *request.add_calls();
  for (int i = 0; i < request.raw_size(); ++i)
    call.add_inputs()->set_raw_index(static_cast<uint32_t>(i));
}

TEST(BatchRequestTest, ReadsWhatGeneratedCodeWrote) {
  Rng rng = MakeRng(1);
  for (int i = 0; i < 200; ++i) {
    v1::ExecuteBatchRequest request;
    // Indices of one byte and of two.
    for (size_t j = Below(rng, 300); j > 0; --j) request.add_raw(RandomBytes(rng, Below(rng, 40)));
    for (size_t j = Below(rng, 30); j > 0; --j)
      *request.add_calls() = RandomCall(rng, static_cast<uint32_t>(request.raw_size()));
    UseEveryEntry(request);
    request.set_output_encoding(v1::TENSOR_ENCODING_VALUES);
    absl::StatusOr<BatchRequest> read = Read(request.SerializeAsString(), rng);
    ASSERT_THAT(read, testing::IsOk());
    const BatchRequest batch = *std::move(read);  // addresses must survive it
    v1::ExecuteBatchRequest joined;
    joined.set_output_encoding(static_cast<v1::TensorEncoding>(batch.output_encoding));
    for (size_t j = 0; j < batch.calls.size(); ++j) *joined.add_calls() = Original(batch, j);
    for (const Fragments& entry : batch.raw) joined.add_raw(Flatten(entry));
    ASSERT_EQ(joined.SerializeAsString(), request.SerializeAsString());
  }
}

v1::ExecuteBatchRequest Alike(int calls) {
  v1::ExecuteBatchRequest request;
  for (int i = 0; i < calls; ++i) {
    v1::Tensor& tensor = *request.add_calls()->add_inputs();
    tensor.set_name("self");
    tensor.set_raw_index(static_cast<uint32_t>(i));
    request.add_raw("1234");
  }
  return request;
}

TEST(BatchRequestTest, CallsThatAreAlikeAreParsedOnce) {
  Rng rng = MakeRng(2);
  v1::ExecuteBatchRequest request = Alike(300);
  request.mutable_calls(7)->set_device("cpu:1");
  const absl::StatusOr<BatchRequest> batch = Read(request.SerializeAsString(), rng);
  ASSERT_THAT(batch, testing::IsOk());
  EXPECT_EQ(batch->calls.size(), 300u);
  EXPECT_EQ(batch->distinct.size(), 2u);
  EXPECT_EQ(batch->calls[299].entries[0], 299u);
}

// Where the one before has an index of two bytes, it has one of a byte, and then a field that the
// API does not know, around the bytes that both share.
TEST(BatchRequestTest, ACallOfTheSameLengthIsNotAlikeForThat) {
  Rng rng = MakeRng(4);
  const std::string tail =
      "\x0a\x09"
      "nine_long";
  std::string bytes;
  for (const std::string index : {"\x30\xc8\x01", "\x30\x05\x5a"}) {
    const std::string tensor = index + tail;
    const std::string call = std::string("\x12") + static_cast<char>(tensor.size()) + tensor;
    bytes += std::string("\x0a") + static_cast<char>(call.size()) + call;
  }
  v1::ExecuteBatchRequest request;
  ASSERT_TRUE(request.ParseFromString(bytes));
  ASSERT_EQ(request.calls(0).inputs(0).raw_index(), 200u);
  ASSERT_EQ(request.calls(1).inputs(0).raw_index(), 5u);
  v1::ExecuteBatchRequest others;
  // So many that the two bytes together would be an index, too.
  for (int i = 0; i < 12'000; ++i) others.add_raw("1234");
  UseEveryEntry(others);
  // Generated code would write the fields in another order.
  const absl::StatusOr<BatchRequest> batch = Read(bytes + others.SerializeAsString(), rng);
  ASSERT_THAT(batch, testing::IsOk());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Original(*batch, i).SerializeAsString(),
              request.calls(static_cast<int>(i)).SerializeAsString());
  }
}

TEST(BatchRequestTest, WhatSaysTwiceWhereItsDataIsMeansTheLast) {
  Rng rng = MakeRng(3);
  v1::Tensor raw;
  raw.set_raw_index(1);
  v1::Tensor other_raw;
  other_raw.set_raw_index(2);
  v1::Tensor values;
  values.mutable_values()->add_floats(1);
  v1::Tensor buffer;
  buffer.mutable_buffer()->set_buffer(1);
  v1::Tensor chunked;
  chunked.mutable_chunked();
  v1::Tensor shared;
  shared.mutable_shared()->set_region("r");
  for (const v1::Tensor& first : {raw, other_raw, values, buffer, chunked, shared}) {
    for (const v1::Tensor& last : {raw, values, buffer, chunked, shared}) {
      // As protobuf reads it, whatever protobuf itself would write.
      const std::string tensor = first.SerializeAsString() + last.SerializeAsString();
      v1::Tensor merged;
      ASSERT_TRUE(merged.ParseFromString(tensor));
      std::string call = "\x12";
      call += static_cast<char>(tensor.size());
      call += tensor;
      std::string bytes = "\x0a";
      bytes += static_cast<char>(call.size());
      bytes += call + Alike(3).SerializeAsString();
      const absl::StatusOr<BatchRequest> batch = Read(bytes, rng);
      ASSERT_THAT(batch, testing::IsOk());
      EXPECT_EQ(Original(*batch, 0).inputs(0).SerializeAsString(), merged.SerializeAsString());
      EXPECT_EQ(batch->calls[0].entries.size(), last.has_raw_index() ? 1u : 0u);
    }
  }
}

TEST(BatchRequestTest, IndicesThatAreTooLargeAreLeftForTheCallToRefuse) {
  Rng rng = MakeRng(4);
  v1::ExecuteBatchRequest request = Alike(3);
  request.add_calls()->add_inputs()->set_raw_index(3);
  request.add_calls()->add_inputs()->set_raw_index(0xffffffff);
  const absl::StatusOr<BatchRequest> batch = Read(request.SerializeAsString(), rng);
  ASSERT_THAT(batch, testing::IsOk());
  for (const size_t i : {3, 4}) {
    EXPECT_EQ(batch->distinct[batch->calls[i].distinct].raw_index,
              DistinctCall::RawIndex::kOfBatch);
    EXPECT_EQ(Original(*batch, i).SerializeAsString(),
              request.calls(static_cast<int>(i)).SerializeAsString());
  }
}

void ExpectRefused(const std::string& bytes, std::string_view parameter, ErrorReason reason) {
  Rng rng = MakeRng(5);
  const absl::Status status = Read(bytes, rng).status();
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(detail->reason, reason) << status;
  EXPECT_EQ(detail->parameter, parameter) << status;
}

TEST(BatchRequestTest, Limits) {
  v1::ExecuteBatchRequest request;
  for (size_t i = 0; i <= kMaxBatchCalls; ++i) request.add_calls();
  ExpectRefused(request.SerializeAsString(), "calls", ErrorReason::kOutOfRange);
  request = Alike(2);
  request.mutable_calls(0)->mutable_inputs(0)->set_raw_index(1);
  ExpectRefused(request.SerializeAsString(), "raw", ErrorReason::kInvalidParameter);
  request.Clear();
  for (size_t i = 0; i <= kMaxBatchRawEntries; ++i) request.add_raw("");
  ExpectRefused(request.SerializeAsString(), "message", ErrorReason::kMalformedMessage);
  request.Clear();
  request.add_calls()->set_op(std::string(kMaxHeaderBytes, 'x'));
  ExpectRefused(request.SerializeAsString(), "message", ErrorReason::kResourceLimit);
}

TEST(BatchRequestTest, RefusesWhatIsNoBatch) {
  const std::string good = Alike(2).SerializeAsString();
  for (const std::string& bytes :
       {std::string("\x0a\x02\x0a\x05", 4),          // a call that ends inside a name
        std::string("\x0a\x03\x0a\x01\xff", 5),      // a name that is not UTF-8
        std::string("\x0a\x04\x12\x02\x30\x80", 6),  // a tensor that ends inside its raw_index
        std::string("\x10\x80", 2),                  // an encoding that does not end
        std::string("\x0a\x02\x0b\x00", 4),          // a group
        good + '\0', good.substr(0, good.size() - 1)})
    ExpectRefused(bytes, "message", ErrorReason::kMalformedMessage);
  Rng rng = MakeRng(9);
  EXPECT_THAT(Read("", rng), testing::IsOk());
}

TEST(PackEntriesTest, KeepsTheBytesAndAlignsThem) {
  Rng rng = MakeRng(6);
  MemoryPool pool(int64_t{1} << 20, MemorySource::Host(), Clock::Real());
  v1::ExecuteBatchRequest request;
  for (size_t i = 0; i < 100; ++i) request.add_raw(RandomBytes(rng, Below(rng, 300)));
  request.add_raw(RandomBytes(rng, 10000));
  UseEveryEntry(request);
  absl::StatusOr<BatchRequest> batch = Read(request.SerializeAsString(), rng);
  ASSERT_THAT(batch, testing::IsOk());
  PackEntries(pool, ClientId::kNone, *batch);
  EXPECT_GT(pool.stats().used_bytes, 0);
  for (int i = 0; i < request.raw_size(); ++i) {
    const Fragments& entry = batch->raw[static_cast<size_t>(i)];
    EXPECT_EQ(Flatten(entry), request.raw(i));
    if (i == 100 || entry.size_bytes() == 0) continue;
    ASSERT_EQ(entry.pieces().size(), 1u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(entry.pieces()[0].data()) % alignof(double), 0u);
  }
}

TEST(PackEntriesTest, PacksLargeOnesThatSeveralCallsUse) {
  Rng rng = MakeRng(8);
  MemoryPool pool(int64_t{1} << 20, MemorySource::Host(), Clock::Real());
  v1::ExecuteBatchRequest request;
  for (int i = 0; i < 3; ++i) request.add_raw(RandomBytes(rng, 50000));
  UseEveryEntry(request);
  request.add_calls()->add_inputs()->set_raw_index(1);
  absl::StatusOr<BatchRequest> batch = Read(request.SerializeAsString(), rng);
  ASSERT_THAT(batch, testing::IsOk());
  EXPECT_EQ(batch->reused, std::vector<bool>({false, true, false}));
  PackEntries(pool, ClientId::kNone, *batch);
  for (int i = 0; i < request.raw_size(); ++i)
    EXPECT_EQ(Flatten(batch->raw[static_cast<size_t>(i)]), request.raw(i));
  EXPECT_TRUE(batch->raw[1].LiesAligned(alignof(double)));
  EXPECT_GE(batch->packed.size(), 50000u);
  EXPECT_LT(batch->packed.size(), 2 * 50000u);
}

TEST(PackEntriesTest, LeavesThemWhereThePoolIsFull) {
  Rng rng = MakeRng(7);
  MemoryPool pool(64, MemorySource::Host(), Clock::Real());
  v1::ExecuteBatchRequest request = Alike(100);
  absl::StatusOr<BatchRequest> batch = Read(request.SerializeAsString(), rng);
  ASSERT_THAT(batch, testing::IsOk());
  PackEntries(pool, ClientId::kNone, *batch);
  EXPECT_EQ(pool.stats().used_bytes, 0);
  for (const Fragments& entry : batch->raw) EXPECT_EQ(Flatten(entry), "1234");
}

}  // namespace
}  // namespace opserve::server
