#include "server/calls/batch_response.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/base/op_error.h"
#include "core/op/op_table.h"
#include "server/codec/output_codec.h"
#include "tests/server/codec/wire_bytes.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

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
      EXPECT_THAT(bytes, testing::IsOk());
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
    const ResultForm form(call, nullptr, {.encoding = GetParam()});
    const int raw_before = expected.raw_size();
    const size_t before = expected.ByteSizeLong();
    Expect(call, expected);
    EXPECT_LE(expected.ByteSizeLong() - before, form.max_batched_bytes()) << raw_before;
    writer.Add(form, Results(call), CallTimes());
  }
  EXPECT_TRUE(Flatten(std::move(writer).Write()) == expected.SerializeAsString());
  EXPECT_EQ(pool_.stats().used_bytes, 0);
}

TEST(BatchResponseErrorTest, ErrorsTakeNoMoreThanForetold) {
  std::string long_text;
  for (int i = 0; i < 5000; ++i) long_text += "梯";
  BatchResponseWriter writer;
  writer.AddError(MakeError({.reason = ErrorReason::kInvalidParameter,
                             .op = long_text,
                             .parameter = long_text,
                             .want = long_text,
                             .got = long_text,
                             .retry_after = absl::Hours(1)}));
  EXPECT_LE(Flatten(std::move(writer).Write()).size(), kMaxErrorResultBytes);
}

}  // namespace
}  // namespace opserve::server
