#include "server/codec/call_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/base/op_error.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using opserve::testing::AclnnCode;
using opserve::testing::kParamInvalid;
using opserve::testing::kParamNullptr;

constexpr std::array<std::byte, 32> kBytes = {};

Fragments EntryOf(size_t bytes) { return Fragments(std::span(kBytes).first(bytes)); }

v1::Tensor& AddTensor(v1::Call& call, const std::string& name, v1::DataType dtype,
                      const std::vector<int64_t>& shape) {
  v1::Tensor& tensor = *call.add_inputs();
  tensor.set_name(name);
  tensor.set_dtype(dtype);
  tensor.mutable_shape()->Add(shape.begin(), shape.end());
  return tensor;
}

v1::Call SampleCall() {
  v1::Call call;
  call.set_op("SmoothL1LossBackward");
  call.set_device("cpu:0");
  AddTensor(call, "self", v1::DATA_TYPE_FLOAT32, {4, 2}).set_raw_index(1);
  AddTensor(call, "target", v1::DATA_TYPE_FLOAT16, {2}).mutable_values()->add_ints(1);
  call.mutable_inputs(1)->mutable_values()->add_ints(2);
  AddTensor(call, "grad_out", v1::DATA_TYPE_FLOAT32, {}).set_raw_index(0);
  v1::Tensor& beta = AddTensor(call, "beta", v1::DATA_TYPE_FLOAT64, {});
  beta.mutable_values()->add_floats(0.25);
  v1::Attribute& reduction = *call.add_attributes();
  reduction.set_name("reduction");
  reduction.set_int_value(2);
  return call;
}

ErrorDetail DetailOf(const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  EXPECT_TRUE(detail.has_value()) << status;
  return detail.value_or(ErrorDetail());
}

TEST(CallCodecTest, NamesDescriptionsAttributesAndStorages) {
  const v1::Call call = SampleCall();
  const std::vector<Fragments> raw = {EntryOf(4), EntryOf(32)};
  const absl::StatusOr<NamedCall> named = DecodeCall(call, TensorData::kMessage, raw);
  ASSERT_THAT(named, testing::IsOk());
  EXPECT_EQ(named->op->name, "SmoothL1LossBackward");
  EXPECT_EQ(named->device, "cpu:0");
  ASSERT_EQ(named->inputs.size(), 3u);
  EXPECT_EQ(named->inputs[0].name, "self");
  EXPECT_EQ(named->inputs[0].desc.strides, (Dims{2, 1}));
  EXPECT_EQ(named->inputs[0].storage, 1);
  EXPECT_EQ(named->inputs[1].desc.dtype, DType::kFloat16);
  EXPECT_EQ(named->inputs[1].storage, 2);
  EXPECT_EQ(named->inputs[2].storage, 0);
  ASSERT_EQ(named->attributes.size(), 2u);
  EXPECT_EQ(named->attributes[0].name, "beta");
  EXPECT_EQ(named->attributes[0].value, AttributeValue(0.25));
  EXPECT_EQ(named->attributes[1].value, AttributeValue(int64_t{2}));

  const absl::StatusOr<CallStorages> storages = DecodeStorages(call, raw);
  ASSERT_THAT(storages, testing::IsOk());
  ASSERT_EQ(storages->fragments.size(), 4u);
  EXPECT_EQ(storages->fragments[1].size_bytes(), 32u);
  std::array<uint16_t, 2> halves = {};
  ASSERT_EQ(storages->fragments[2].size_bytes(), sizeof(halves));
  storages->fragments[2].CopyTo(reinterpret_cast<std::byte*>(halves.data()), 0, sizeof(halves));
  EXPECT_EQ(halves, (std::array<uint16_t, 2>{0x3c00, 0x4000}));
}

TEST(CallCodecTest, EveryAttributeForm) {
  v1::Call call;
  call.set_op("SmoothL1LossBackward");
  call.add_attributes()->set_int_value(-3);
  call.add_attributes()->set_float_value(0.5);
  call.add_attributes()->set_bool_value(true);
  call.add_attributes()->mutable_int_list()->add_values(7);
  call.add_attributes()->mutable_bool_list()->add_values(true);
  call.add_attributes()->mutable_float_list()->add_values(1.5);
  call.add_attributes()->mutable_int_list();
  call.add_attributes()->set_string_value("mean");
  call.add_attributes();
  const absl::StatusOr<NamedCall> named = DecodeCall(call, TensorData::kIgnored, {});
  ASSERT_THAT(named, testing::IsOk());
  const std::vector<AttributeValue> expected = {int64_t{-3},
                                                0.5,
                                                true,
                                                std::vector<int64_t>{7},
                                                std::vector<bool>{true},
                                                std::vector<double>{1.5},
                                                std::vector<int64_t>{},
                                                std::string("mean"),
                                                std::monostate()};
  ASSERT_EQ(named->attributes.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(named->attributes[i].value, expected[i]) << i;
}

TEST(CallCodecTest, StringsAreAsLongAsNames) {
  v1::Call call;
  call.set_op("SmoothL1LossBackward");
  v1::Attribute& reduction = *call.add_attributes();
  reduction.set_name("reduction");
  reduction.set_string_value(std::string(kMaxNameBytes, 'x'));
  EXPECT_THAT(DecodeCall(call, TensorData::kIgnored, {}), testing::IsOk());
  reduction.mutable_string_value()->push_back('x');
  const ErrorDetail detail = DetailOf(DecodeCall(call, TensorData::kIgnored, {}).status());
  EXPECT_EQ(AclnnCode(detail), kParamInvalid);
  EXPECT_EQ(detail.parameter, "reduction");
  EXPECT_EQ(detail.got, "one of 257");
}

TEST(CallCodecTest, OutputsAskForDTypeAndShape) {
  v1::Call call;
  call.set_op("L1Loss");
  v1::Tensor& output = *call.add_outputs();
  output.set_name("result");
  absl::StatusOr<NamedCall> named = DecodeCall(call, TensorData::kIgnored, {});
  ASSERT_THAT(named, testing::IsOk());
  EXPECT_EQ(named->outputs[0].dtype, DType::kUndefined);
  EXPECT_FALSE(named->outputs[0].shape.has_value());
  output.set_dtype(v1::DATA_TYPE_BFLOAT16);
  output.add_shape(3);
  named = DecodeCall(call, TensorData::kIgnored, {});
  ASSERT_THAT(named, testing::IsOk());
  EXPECT_EQ(named->outputs[0].dtype, DType::kBFloat16);
  EXPECT_EQ(named->outputs[0].shape, Dims{3});
}

TEST(CallCodecTest, AnOutputMayBeAskedToBeAScalar) {
  v1::Call call;
  call.set_op("L1Loss");
  v1::Tensor& output = *call.add_outputs();
  output.set_name("result");
  output.set_scalar(true);
  absl::StatusOr<NamedCall> named = DecodeCall(call, TensorData::kIgnored, {});
  ASSERT_THAT(named, testing::IsOk());
  EXPECT_EQ(named->outputs[0].shape, Dims());
  output.add_shape(3);
  named = DecodeCall(call, TensorData::kIgnored, {});
  const ErrorDetail detail = GetErrorDetail(named.status()).value_or(ErrorDetail());
  EXPECT_EQ(AclnnCode(detail), kParamInvalid);
  EXPECT_EQ(detail.parameter, "result");
}

TEST(CallCodecTest, ErrorsNameOperatorAndParameter) {
  v1::Call call = SampleCall();
  const std::vector<Fragments> raw = {EntryOf(4)};
  ErrorDetail detail = DetailOf(DecodeCall(call, TensorData::kMessage, raw).status());
  EXPECT_EQ(AclnnCode(detail), kParamInvalid);
  EXPECT_EQ(detail.op, "SmoothL1LossBackward");
  EXPECT_EQ(detail.parameter, "self");
  EXPECT_EQ(detail.want, "a raw_index below 1, the number of raw entries");
  EXPECT_EQ(detail.got, "1");

  call.mutable_inputs(0)->clear_data();
  detail = DetailOf(DecodeCall(call, TensorData::kMessage, raw).status());
  EXPECT_EQ(AclnnCode(detail), kParamNullptr);
  EXPECT_EQ(detail.parameter, "self");

  detail = DetailOf(DecodeStorages(call, {EntryOf(4), EntryOf(4)}).status());
  EXPECT_EQ(detail.op, "SmoothL1LossBackward");
  EXPECT_EQ(detail.parameter, "raw");
  EXPECT_EQ(detail.got, "entry 1, which none uses");

  call.set_op("Nothing");
  EXPECT_EQ(DetailOf(DecodeCall(call, TensorData::kMessage, raw).status()).reason,
            ErrorReason::kOperatorNotFound);
}

TEST(CallCodecTest, AttributeTensorsAreCheckedLikeOthers) {
  const auto refusal = [](const auto& change) {
    v1::Call call = SampleCall();
    change(*call.mutable_inputs(3));
    const std::vector<Fragments> raw = {EntryOf(4), EntryOf(32)};
    ErrorDetail detail = DetailOf(DecodeCall(call, TensorData::kMessage, raw).status());
    EXPECT_EQ(detail.parameter, "beta");
    return detail;
  };
  EXPECT_EQ(AclnnCode(refusal([](v1::Tensor& t) { t.clear_data(); })), kParamNullptr);
  EXPECT_EQ(refusal([](v1::Tensor& t) { t.clear_dtype(); }).got, "none");
  EXPECT_EQ(refusal([](v1::Tensor& t) { t.set_raw_index(0); }).want, "8 bytes for float64[]");
  EXPECT_EQ(refusal([](v1::Tensor& t) { t.set_raw_index(2); }).got, "2");
  EXPECT_EQ(refusal([](v1::Tensor& t) { t.add_shape(2); }).want, "2 values for float64[2]");
  EXPECT_EQ(refusal([](v1::Tensor& t) { t.set_storage_offset(1); }).want,
            "a dense tensor for an attribute");
  EXPECT_EQ(refusal([](v1::Tensor& t) {
              t.add_shape(int64_t{1} << 40);
              t.add_strides(0);
            }).want,
            "a dense tensor for an attribute");
  EXPECT_EQ(refusal([](v1::Tensor& t) { t.add_shape(int64_t{1} << 40); }).want,
            "at most 65536 elements for an attribute");
}

// Found by a client's author: a buffer for an attribute was looked up among the raw entries.
TEST(CallCodecTest, AttributesComeInTheMessageAlone) {
  const std::vector<Fragments> raw = {EntryOf(4), EntryOf(32)};
  for (const TensorData where : {TensorData::kMessage, TensorData::kMessageOrShared,
                                 TensorData::kMessageOrChunks, TensorData::kIgnored}) {
    for (const auto& change : {+[](v1::Tensor& t) { t.mutable_buffer()->set_buffer(1); },
                               +[](v1::Tensor& t) { t.mutable_shared(); },
                               +[](v1::Tensor& t) { t.mutable_chunked(); }}) {
      v1::Call call = SampleCall();
      change(*call.mutable_inputs(3));
      const ErrorDetail detail = DetailOf(DecodeCall(call, where, raw).status());
      EXPECT_EQ(detail.reason, ErrorReason::kInvalidParameter);
      EXPECT_EQ(detail.parameter, "beta");
    }
  }
}

TEST(CallCodecTest, AttributesOfAnExecutorAreValues) {
  const auto refusal = [](const auto& change) {
    v1::Call call = SampleCall();
    for (int i = 0; i < 3; ++i) call.mutable_inputs(i)->mutable_buffer()->set_buffer(1);
    change(*call.mutable_inputs(3));
    ErrorDetail detail = DetailOf(DecodeExecutorCall(call).status());
    EXPECT_EQ(detail.parameter, "beta");
    EXPECT_EQ(detail.want, "values for an attribute, as there are no raw entries");
    return detail;
  };
  EXPECT_EQ(AclnnCode(refusal([](v1::Tensor& t) { t.clear_data(); })), kParamNullptr);
  EXPECT_EQ(refusal([](v1::Tensor& t) { t.set_raw_index(0); }).got, "raw_index");
  EXPECT_EQ(refusal([](v1::Tensor& t) { t.mutable_buffer()->set_buffer(1); }).got,
            "buffer, which goes with a session's executors");
}

}  // namespace
}  // namespace opserve::server
