// Outputs that come, against what was asked for.
#include "client/cpp/wire/answered_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/values/shared_region.h"
#include "core/base/strings.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;

v1::Tensor Output(const std::string& name, std::initializer_list<int64_t> shape) {
  v1::Tensor output;
  output.set_name(name);
  output.set_dtype(v1::DATA_TYPE_FLOAT32);
  output.mutable_shape()->Assign(shape.begin(), shape.end());
  return output;
}

RawEntries Raw(std::initializer_list<size_t> sizes) {
  RawEntries raw;
  for (const size_t size : sizes) raw.Add({AllocateTensorBytes(size), size});
  return raw;
}

// Of outputs whose bytes are entries of 32 bytes.
std::string Complaint(const std::vector<v1::Tensor>& outputs, const AskedOutputs& asked = {}) {
  RawEntries raw = Raw({32, 32});
  absl::Status status = ReadOutputs("Answer", outputs, raw, asked).status();
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  return std::string(ToStd(status.message()));
}

v1::Tensor Changed(const std::function<void(v1::Tensor&)>& change) {
  v1::Tensor output = Output("out", {8});
  output.set_raw_index(0);
  change(output);
  return output;
}

TEST(AnsweredOutputsTest, SoundOnesAreTaken) {
  EXPECT_EQ(Complaint({Changed([](v1::Tensor&) {})}), "");
  EXPECT_EQ(Complaint({Output("masked", {0})}), "");
  EXPECT_EQ(Complaint({Changed([](v1::Tensor& output) {
              for (int i = 0; i < 7; ++i) output.add_shape(1);
            })}),
            "");
}

TEST(AnsweredOutputsTest, UnsoundOnesAreNamed) {
  const auto complaint = [](const std::function<void(v1::Tensor&)>& change) {
    return Complaint({Changed(change)});
  };
  EXPECT_THAT(complaint([](v1::Tensor& output) { output.clear_name(); }), HasSubstr("want names"));
  EXPECT_THAT(complaint([](v1::Tensor& output) { output.set_dtype(v1::DATA_TYPE_UNSPECIFIED); }),
              HasSubstr("out: want a dtype"));
  EXPECT_THAT(
      complaint([](v1::Tensor& output) { output.set_dtype(static_cast<v1::DataType>(99)); }),
      HasSubstr("out: want a dtype"));
  EXPECT_THAT(complaint([](v1::Tensor& output) { output.set_shape(0, -8); }),
              HasSubstr("out: want extents >= 0"));
  EXPECT_THAT(complaint([](v1::Tensor& output) { output.set_shape(0, int64_t{1} << 62); }),
              HasSubstr("out: want a size in bytes below 2^63"));
  EXPECT_THAT(complaint([](v1::Tensor& output) { output.set_shape(0, int64_t{1} << 40); }),
              HasSubstr("out: want 4398046511104 bytes for float32[1099511627776], got 32"));
  EXPECT_THAT(complaint([](v1::Tensor& output) {
                for (int i = 0; i < 8; ++i) output.add_shape(1);
              }),
              HasSubstr("out: want a rank of at most 8, got 9"));
  EXPECT_THAT(complaint([](v1::Tensor& output) { output.set_storage_offset(1); }),
              HasSubstr("out: want a dense tensor"));
  EXPECT_THAT(complaint([](v1::Tensor& output) { output.set_raw_index(2); }),
              HasSubstr("out: want a raw_index below 2 that is its own, got 2"));
  EXPECT_THAT(complaint([](v1::Tensor& output) { output.mutable_values(); }),
              HasSubstr("out: want raw bytes, got data of a kind"));
  EXPECT_THAT(complaint([](v1::Tensor& output) { output.mutable_shared(); }),
              HasSubstr("out: want bytes where they were asked for"));
}

TEST(AnsweredOutputsTest, TogetherTheyAreWhatACallMayHave) {
  const v1::Tensor one = Changed([](v1::Tensor&) {});
  EXPECT_THAT(Complaint({}), HasSubstr("outputs: want one at least, got none"));
  EXPECT_THAT(Complaint({one, one}), HasSubstr("out: want one output of that name, got another"));
  EXPECT_THAT(Complaint({one, Changed([](v1::Tensor& output) { output.set_name("b"); })}),
              HasSubstr("b: want a raw_index below 2 that is its own, got 0"));
  std::vector<v1::Tensor> many;
  for (size_t i = 0; i <= kMaxOutputs; ++i) many.push_back(Output(std::to_string(i), {0}));
  EXPECT_THAT(Complaint(many), HasSubstr("outputs: want at most 1024, got more"));
  const AskedOutputs nothing;
  AnsweredOutputs planned("Plan", nothing);
  EXPECT_THAT(planned.Describe(Output("a", {int64_t{1} << 60})), testing::IsOk());
  EXPECT_THAT(ToStd(planned.Describe(Output("b", {int64_t{1} << 60})).status().message()),
              HasSubstr("b: want outputs of less than 2^63 bytes in all"));
}

TEST(AnsweredOutputsTest, EntriesThatNobodyUsesAreRefused) {
  RawEntries raw = Raw({32, 4});
  ASSERT_THAT(ReadOutputs("Answer", std::vector{Changed([](v1::Tensor&) {})}, raw, {}),
              testing::IsOk());
  EXPECT_THAT(ToStd(raw.CheckAllTaken("Answer").message()),
              HasSubstr("raw: want 1 entries, one for each output, got 2"));
}

TEST(AnsweredOutputsTest, DTypesThatWereAskedForCome) {
  const v1::Tensor one = Changed([](v1::Tensor&) {});
  Call call("Op");
  EXPECT_EQ(Complaint({one}, AskedOf(call.OutputDType("out", DType::kFloat32))), "");
  EXPECT_THAT(Complaint({one}, AskedOf(Call("Op").OutputDType("out", DType::kInt32))),
              HasSubstr("out: want int32[8], as was asked for, got float32[8]"));
  EXPECT_EQ(Complaint({Output("out", {0})}, AskedOf(Call("Op").OutputDType("out", DType::kInt32))),
            "")
      << "masked";
  EXPECT_THAT(Complaint({one}, AskedOf(Call("Op").OutputDType("b", DType::kInt32))),
              HasSubstr("b: want an output of that name, as was asked for, got none"));
}

TEST(AnsweredOutputsTest, PlansHaveTheTensorsOfTheirCall) {
  const DeviceTensor tensor = DeviceTensor::Of({}, DType::kFloat32, {8});
  const AskedOutputs asked = AskedOf(DeviceCall("Op").Output("out", tensor));
  const auto plan = [&asked](const v1::Tensor& output) {
    return ReadPlannedOutputs("Plan", std::vector{output}, asked).status();
  };
  EXPECT_THAT(plan(Output("out", {8})), testing::IsOk());
  EXPECT_THAT(plan(Output("out", {0})), testing::IsOk()) << "masked";
  EXPECT_THAT(ToStd(plan(Output("out", {9})).message()),
              HasSubstr("out: want float32[8], as was asked for, got float32[9]"));
  EXPECT_FALSE(plan(Output("other", {8})).ok());
}

class SharedOutputsTest : public ::testing::Test {
 protected:
  SharedOutputsTest() {
    const auto region = std::make_shared<SharedRegion>();
    region->id = std::string(16, 'i');
    SharedTensorView view;
    view.dtype = DType::kFloat32;
    view.shape = {8};
    view.shared = {.region = region, .offset_bytes = 64, .size_bytes = 32};
    view.storage = std::as_bytes(std::span(memory_));
    asked_ = AskedOf(Call("Op").Output("out", view));
    output_ = Output("out", {8});
    output_.mutable_shared()->set_region(region->id);
    output_.mutable_shared()->set_offset_bytes(64);
    output_.mutable_shared()->set_size_bytes(32);
  }

  std::vector<float> memory_ = std::vector<float>(8);
  AskedOutputs asked_;
  v1::Tensor output_;
};

TEST_F(SharedOutputsTest, AreWhereTheyWereAskedFor) {
  EXPECT_EQ(Complaint({output_}, asked_), "");
  v1::Tensor elsewhere = output_;
  elsewhere.mutable_shared()->set_offset_bytes(0);
  EXPECT_THAT(Complaint({elsewhere}, asked_), HasSubstr("want bytes where they were asked for"));
  v1::Tensor foreign = output_;
  foreign.mutable_shared()->set_region(std::string(16, 'j'));
  EXPECT_THAT(Complaint({foreign}, asked_), HasSubstr("want bytes where they were asked for"));
  v1::Tensor in_answer = output_;
  in_answer.set_raw_index(0);
  EXPECT_THAT(Complaint({in_answer}, asked_),
              HasSubstr("want bytes in shared memory, as was asked for"));
  EXPECT_THAT(Complaint({Output("out", {8})}, asked_), HasSubstr("out: want bytes, got none"));
  v1::Tensor smaller = output_;
  smaller.set_shape(0, 4);
  EXPECT_THAT(Complaint({smaller}, asked_), HasSubstr("out: want float32[8]"));
}

TEST(ElementsTest, AreOfTheirTypeOrAnError) {
  ExecuteResult result;
  result.outputs.push_back(
      {"out", Tensor(TensorDesc::Dense(DType::kFloat32, std::initializer_list<int64_t>{8}),
                     AllocateTensorBytes(32))});
  EXPECT_EQ(result.Elements<float>("out")->size(), 8u);
  EXPECT_EQ(result.Elements<int8_t>("out").status().message(),
            "the server's answer: out: want int8, got float32");
  EXPECT_EQ(result.Elements<float>("b").status().message(),
            "the server's answer: b: want float32, got no such output");
}

}  // namespace
}  // namespace opserve::client
