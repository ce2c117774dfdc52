#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/op_error.h"
#include "core/op/op_table.h"
#include "server/wire/batch_request.h"
#include "server/wire/batch_response.h"
#include "server/wire/output_codec.h"
#include "tests/server/wire_bytes.h"
#include "tests/support/seed.h"

namespace opserve::server {
namespace {

using opserve::testing::MakeRng;
using opserve::testing::Rng;

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
    absl::StatusOr<BatchRequest> read =
        ReadBatchRequest(InSlices(request.SerializeAsString(), rng));
    ASSERT_TRUE(read.ok()) << read.status();
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
  const absl::StatusOr<BatchRequest> batch =
      ReadBatchRequest(InSlices(request.SerializeAsString(), rng));
  ASSERT_TRUE(batch.ok()) << batch.status();
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
  const absl::StatusOr<BatchRequest> batch =
      ReadBatchRequest(InSlices(bytes + others.SerializeAsString(), rng));
  ASSERT_TRUE(batch.ok()) << batch.status();
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Original(*batch, i).SerializeAsString(),
              request.calls(static_cast<int>(i)).SerializeAsString());
  }
}

TEST(BatchRequestTest, WhatSaysTwiceWhereItsDataIsMeansTheLast) {
  Rng rng = MakeRng(3);
  v1::ExecuteBatchRequest request = Alike(3);
  // raw_index 0, raw_index 2, then typed values: as protobuf has it, a tensor with values.
  v1::Tensor twice;
  twice.set_raw_index(1);
  v1::Tensor values;
  values.mutable_values()->add_floats(1);
  const std::string tensor = twice.SerializeAsString() + values.SerializeAsString();
  v1::Tensor merged;
  ASSERT_TRUE(merged.ParseFromString(tensor));
  std::string call = "\x12";
  call += static_cast<char>(tensor.size());
  call += tensor;
  std::string bytes = "\x0a";
  bytes += static_cast<char>(call.size());
  bytes += call + request.SerializeAsString();
  const absl::StatusOr<BatchRequest> batch = ReadBatchRequest(InSlices(bytes, rng));
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(Original(*batch, 0).inputs(0).SerializeAsString(), merged.SerializeAsString());
  EXPECT_TRUE(batch->calls[0].entries.empty());
}

TEST(BatchRequestTest, IndicesThatAreTooLargeAreLeftForTheCallToRefuse) {
  Rng rng = MakeRng(4);
  v1::ExecuteBatchRequest request = Alike(3);
  request.add_calls()->add_inputs()->set_raw_index(3);
  request.add_calls()->add_inputs()->set_raw_index(0xffffffff);
  const absl::StatusOr<BatchRequest> batch =
      ReadBatchRequest(InSlices(request.SerializeAsString(), rng));
  ASSERT_TRUE(batch.ok()) << batch.status();
  for (const size_t i : {3, 4}) {
    EXPECT_EQ(batch->distinct[batch->calls[i].distinct].raw_index,
              DistinctCall::RawIndex::kOfBatch);
    EXPECT_EQ(Original(*batch, i).SerializeAsString(),
              request.calls(static_cast<int>(i)).SerializeAsString());
  }
}

void ExpectRefused(const std::string& bytes, std::string_view parameter, ErrorReason reason) {
  Rng rng = MakeRng(5);
  const absl::Status status = ReadBatchRequest(InSlices(bytes, rng)).status();
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(detail->reason, reason) << status;
  EXPECT_EQ(detail->parameter, parameter) << status;
}

TEST(BatchRequestTest, Limits) {
  v1::ExecuteBatchRequest request;
  for (size_t i = 0; i <= kMaxBatchCalls; ++i) request.add_calls();
  ExpectRefused(request.SerializeAsString(), "calls", ErrorReason::kParamInvalid);
  request = Alike(2);
  request.mutable_calls(0)->mutable_inputs(0)->set_raw_index(1);
  ExpectRefused(request.SerializeAsString(), "raw", ErrorReason::kParamInvalid);
  request.Clear();
  for (size_t i = 0; i <= kMaxBatchRawEntries; ++i) request.add_raw("");
  ExpectRefused(request.SerializeAsString(), "message", ErrorReason::kParamInvalid);
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
    ExpectRefused(bytes, "message", ErrorReason::kParamInvalid);
  EXPECT_TRUE(ReadBatchRequest(grpc::ByteBuffer()).ok());
}

TEST(PackEntriesTest, KeepsTheBytesAndAlignsThem) {
  Rng rng = MakeRng(6);
  MemoryPool pool(int64_t{1} << 20, MemorySource::Host(), Clock::Real());
  v1::ExecuteBatchRequest request;
  for (size_t i = 0; i < 100; ++i) request.add_raw(RandomBytes(rng, Below(rng, 300)));
  request.add_raw(RandomBytes(rng, 10000));
  UseEveryEntry(request);
  absl::StatusOr<BatchRequest> batch = ReadBatchRequest(InSlices(request.SerializeAsString(), rng));
  ASSERT_TRUE(batch.ok()) << batch.status();
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
  absl::StatusOr<BatchRequest> batch = ReadBatchRequest(InSlices(request.SerializeAsString(), rng));
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(batch->reused, std::vector<bool>({false, true, false}));
  PackEntries(pool, ClientId::kNone, *batch);
  for (int i = 0; i < request.raw_size(); ++i)
    EXPECT_EQ(Flatten(batch->raw[static_cast<size_t>(i)]), request.raw(i));
  EXPECT_TRUE(batch->raw[1].IsInPlace(alignof(double)));
  EXPECT_GE(batch->packed.size(), 50000u);
  EXPECT_LT(batch->packed.size(), 2 * 50000u);
}

TEST(PackEntriesTest, LeavesThemWhereThePoolIsFull) {
  Rng rng = MakeRng(7);
  MemoryPool pool(64, MemorySource::Host(), Clock::Real());
  v1::ExecuteBatchRequest request = Alike(100);
  absl::StatusOr<BatchRequest> batch = ReadBatchRequest(InSlices(request.SerializeAsString(), rng));
  ASSERT_TRUE(batch.ok()) << batch.status();
  PackEntries(pool, ClientId::kNone, *batch);
  EXPECT_EQ(pool.stats().used_bytes, 0);
  for (const Fragments& entry : batch->raw) EXPECT_EQ(Flatten(entry), "1234");
}

// A planned call with `count` outputs, of which every other one is masked out.
OpCall CallWithOutputs(size_t elements) {
  const Operator* op = *FindOperator("GroupNormBackward");
  OpCall call = MakeOpCall(*op, Profile::kHost);
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const auto extent = static_cast<int64_t>(elements);
    call.outputs[i].wanted = i % 2 == 0;
    const std::vector<int64_t> shape = {call.outputs[i].wanted ? extent : 0};
    call.outputs[i].desc = TensorDesc::Dense(DType::kFloat32, shape);
  }
  return call;
}

class BatchResponseTest : public ::testing::TestWithParam<v1::TensorEncoding> {
 protected:
  // As the engine returns them.
  Outputs Results(const OpCall& call) {
    Outputs outputs;
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const OutputSlot& slot = call.outputs[i];
      absl::StatusOr<PooledBuffer> bytes =
          pool_.Acquire(slot.wanted ? static_cast<size_t>(slot.desc.size_bytes()) : 0);
      EXPECT_TRUE(bytes.ok()) << bytes.status();
      if (bytes->size() > 0) std::memset(bytes->data(), static_cast<int>(i) + 1, bytes->size());
      outputs.push_back({call.op->outputs[i].name, slot.desc, *std::move(bytes)});
    }
    return outputs;
  }

  // What Add does, by generated code.
  void Expect(const OpCall& call, v1::ExecuteBatchResponse& expected) {
    v1::BatchResult& result = *expected.add_results();
    EncodeOutputs(call, *result.mutable_outputs());
    const auto first = static_cast<uint32_t>(expected.raw_size());
    const OutputEncoder encoder(call, GetParam(), *result.mutable_outputs());
    for (v1::Tensor& tensor : *result.mutable_outputs())
      if (tensor.has_raw_index()) tensor.set_raw_index(tensor.raw_index() + first);
    for (const PooledBuffer& raw : encoder.Fill(Results(call), *result.mutable_outputs())) {
      expected.add_raw(std::string(reinterpret_cast<const char*>(raw.data()), raw.size()));
    }
  }

  MemoryPool pool_{int64_t{64} << 20, MemorySource::Host(), Clock::Real()};
};

INSTANTIATE_TEST_SUITE_P(Encodings, BatchResponseTest,
                         ::testing::Values(v1::TENSOR_ENCODING_RAW, v1::TENSOR_ENCODING_VALUES));

TEST_P(BatchResponseTest, GeneratedCodeReadsWhatItWrites) {
  // Without parts: protobuf writes a map in any order.
  const absl::Status error = MakeError({.reason = ErrorReason::kCancelled});
  v1::ExecuteBatchResponse expected;
  BatchResponseWriter writer;
  for (size_t i = 0; i < 200; ++i) {
    if (i % 5 == 0) {
      writer.AddError(error);
      *expected.add_results()->mutable_error() = EncodeStatusDetails(error);
      continue;
    }
    const OpCall call = CallWithOutputs(i % 7 == 0 ? 1000 : i % 3);
    const ResultForm form(call, nullptr, GetParam());
    const int raw_before = expected.raw_size();
    const size_t before = expected.ByteSizeLong();
    Expect(call, expected);
    EXPECT_LE(expected.ByteSizeLong() - before, form.max_batched_bytes()) << raw_before;
    writer.Add(form, Results(call));
  }
  EXPECT_TRUE(Flatten(std::move(writer).Write()) == expected.SerializeAsString());
  EXPECT_EQ(pool_.stats().used_bytes, 0);
}

TEST(BatchResponseErrorTest, ErrorsTakeNoMoreThanForetold) {
  std::string long_text;
  for (int i = 0; i < 5000; ++i) long_text += "梯";
  BatchResponseWriter writer;
  writer.AddError(MakeError({.reason = ErrorReason::kParamInvalid,
                             .op = long_text,
                             .parameter = long_text,
                             .want = long_text,
                             .got = long_text,
                             .retry_after = absl::Hours(1)}));
  EXPECT_LE(Flatten(std::move(writer).Write()).size(), kMaxErrorResultBytes);
}

}  // namespace
}  // namespace opserve::server
