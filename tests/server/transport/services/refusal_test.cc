// Calls that must be refused: a clear status that names the parameter, a server that lives, and
// nothing kept.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr int kGradOut = 0;
constexpr int kSelf = 1;
constexpr int kTarget = 2;

struct Refusal {
  std::string label;
  void (*spoil)(v1::ExecuteRequest& request);
  std::string code;       // aclnn code; empty where there is none
  std::string parameter;  // named by the error
  std::string status = "INVALID_ARGUMENT";
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.label; }

v1::Tensor& Input(v1::ExecuteRequest& request, int index) {
  return *request.mutable_call()->mutable_inputs(index);
}

void SetShape(v1::Tensor& tensor, const Shape& shape) {
  tensor.clear_shape();
  tensor.mutable_shape()->Add(shape.begin(), shape.end());
}

void SetStrides(v1::Tensor& tensor, const Shape& strides) {
  tensor.clear_strides();
  tensor.mutable_strides()->Add(strides.begin(), strides.end());
}

const Refusal kArguments[] = {
    {"BetaNegative", [](auto& r) { r.mutable_call()->mutable_attributes(1)->set_float_value(-1); },
     "161002", "beta"},
    {"BetaNan",
     [](auto& r) {
       r.mutable_call()->mutable_attributes(1)->set_float_value(
           std::numeric_limits<double>::quiet_NaN());
     },
     "161002", "beta"},
    {"BetaOfWrongType",
     [](auto& r) { r.mutable_call()->mutable_attributes(1)->set_bool_value(true); }, "161002",
     "beta"},
    {"BetaWithoutValue", [](auto& r) { r.mutable_call()->mutable_attributes(1)->clear_value(); },
     "161002", "beta"},
    {"ReductionSeven", [](auto& r) { r.mutable_call()->mutable_attributes(0)->set_int_value(7); },
     "161002", "reduction"},
    {"AttributeUnknown", [](auto& r) { AddFloat(*r.mutable_call(), "betta", 1); }, "161002",
     "betta"},
    {"AttributeTwice", [](auto& r) { AddFloat(*r.mutable_call(), "beta", 1); }, "161002", "beta"},
    {"AttributeAlsoAsTensor", [](auto& r) { AddInput(r, "beta", v1::DATA_TYPE_FLOAT32, {}, {1}); },
     "161002", "beta"},
    {"AttributeTensorOfRankTwo",
     [](auto& r) {
       r.mutable_call()->mutable_attributes()->RemoveLast();
       AddInput(r, "beta", v1::DATA_TYPE_FLOAT32, {1, 1}, {1});
     },
     "161002", "beta"},
    {"InputUnknown", [](auto& r) { Input(r, kSelf).set_name("slef"); }, "161002", "slef"},
    {"InputTwice", [](auto& r) { Input(r, kSelf).set_name("target"); }, "161002", "target"},
    {"InputNameTooLong", [](auto& r) { Input(r, kSelf).set_name(std::string(1 << 20, 'x')); },
     "161002", "input"},
    {"OutputUnknown", [](auto& r) { r.mutable_call()->add_outputs()->set_name("grad"); }, "161002",
     "grad"},
    {"OutputOfAnotherShape",
     [](auto& r) {
       v1::Tensor& output = *r.mutable_call()->add_outputs();
       output.set_name("grad_input");
       SetShape(output, {8});
     },
     "161002", "grad_input"},
    {"OutputWithData",
     [](auto& r) {
       v1::Tensor& output = *r.mutable_call()->add_outputs();
       output.set_name("grad_input");
       output.set_raw_index(0);
     },
     "161002", "grad_input"},
    {"OutputWithStrides",
     [](auto& r) {
       v1::Tensor& output = *r.mutable_call()->add_outputs();
       output.set_name("grad_input");
       SetStrides(output, {1, 4});
     },
     "161002", "grad_input"},
    {"EncodingUnknown", [](auto& r) { r.set_output_encoding(static_cast<v1::TensorEncoding>(9)); },
     "161002", "output_encoding"},
    {"OperatorUnknown", [](auto& r) { r.mutable_call()->set_op("SmoothL2LossBackward"); }, "",
     "operator", "NOT_FOUND"},
    {"OperatorMissing", [](auto& r) { r.mutable_call()->clear_op(); }, "", "operator", "NOT_FOUND"},
    {"OperatorNameTooLong", [](auto& r) { r.mutable_call()->set_op(std::string(1 << 20, 'x')); },
     "", "operator", "NOT_FOUND"},
    {"DeviceUnknown", [](auto& r) { r.mutable_call()->set_device("npu:7"); }, "", "device",
     "NOT_FOUND"},
};

const Refusal kTensors[] = {
    {"TargetMissing",
     [](auto& r) {
       r.mutable_call()->mutable_inputs()->RemoveLast();
       r.mutable_raw()->RemoveLast();
     },
     "161001", "target"},
    {"TargetWithoutData",
     [](auto& r) {
       Input(r, kTarget).clear_data();
       r.mutable_raw()->RemoveLast();
     },
     "161001", "target"},
    {"ShapesThatDoNotBroadcast",
     [](auto& r) {
       SetShape(Input(r, kTarget), {3});
       r.mutable_raw(kTarget)->resize(12);
     },
     "161002", "target"},
    {"BytesTooShort", [](auto& r) { r.mutable_raw(kSelf)->pop_back(); }, "161002", "self"},
    {"BytesTooLong", [](auto& r) { r.mutable_raw(kSelf)->push_back('x'); }, "161002", "self"},
    {"BytesOfOneElementTooLong", [](auto& r) { r.mutable_raw(kSelf)->append(4, 'x'); }, "161002",
     "self"},
    {"NoBytes", [](auto& r) { r.mutable_raw(kSelf)->clear(); }, "161002", "self"},
    {"RankNine",
     [](auto& r) {
       for (int i = 0; i < 3; ++i) SetShape(Input(r, i), {1, 1, 1, 1, 1, 1, 1, 4, 2});
     },
     "161002", "grad_out"},
    {"RankOfAMillion", [](auto& r) { SetShape(Input(r, kSelf), Shape(1'000'000, 1)); }, "161002",
     "self"},
    {"StridesByTheMillion", [](auto& r) { SetStrides(Input(r, kSelf), Shape(1'000'000, 1)); },
     "161002", "self"},
    {"DTypeInt32", [](auto& r) { Input(r, kSelf).set_dtype(v1::DATA_TYPE_INT32); }, "161002",
     "self"},
    {"DTypeUnspecified", [](auto& r) { Input(r, kSelf).clear_dtype(); }, "161002", "self"},
    {"DTypeUnknown", [](auto& r) { Input(r, kSelf).set_dtype(static_cast<v1::DataType>(99)); },
     "161002", "self"},
    {"DTypeNegative", [](auto& r) { Input(r, kSelf).set_dtype(static_cast<v1::DataType>(-1)); },
     "161002", "self"},
    {"ExtentNegative",
     [](auto& r) {
       SetShape(Input(r, kSelf), {-4, 2});
     },
     "161002", "self"},
    {"StridesLeaveTheStorage",
     [](auto& r) {
       SetStrides(Input(r, kSelf), {3, 1});
     },
     "161002", "self"},
    {"StrideNegative",
     [](auto& r) {
       SetStrides(Input(r, kSelf), {-2, 1});
     },
     "161002", "self"},
    {"StridesTooFew", [](auto& r) { SetStrides(Input(r, kSelf), {2}); }, "161002", "self"},
    {"StridesOverflow",
     [](auto& r) {
       SetStrides(Input(r, kSelf), {int64_t{1} << 62, 1});
     },
     "161002", "self"},
    {"OffsetLeavesTheStorage", [](auto& r) { Input(r, kSelf).set_storage_offset(1); }, "161002",
     "self"},
    {"OffsetNegative", [](auto& r) { Input(r, kSelf).set_storage_offset(-1); }, "161002", "self"},
    {"OffsetOverflows",
     [](auto& r) { Input(r, kSelf).set_storage_offset(std::numeric_limits<int64_t>::max()); },
     "161002", "self"},
    {"StorageOfPartialElements",
     [](auto& r) {
       SetStrides(Input(r, kSelf), {0, 1});
       r.mutable_raw(kSelf)->resize(31);
     },
     "161002", "self"},
    {"ShapeOverflows",
     [](auto& r) {
       SetShape(Input(r, kSelf), {int64_t{1} << 62, 2});
     },
     "161002", "self"},
    {"BytesOverflow", [](auto& r) { SetShape(Input(r, kSelf), {int64_t{1} << 61}); }, "161002",
     "self"},
    {"FiveGibibytesAnnouncedSixteenBytesSent",
     [](auto& r) {
       for (int i = 0; i < 3; ++i) {
         SetShape(Input(r, i), {5, 1 << 28});
         r.mutable_raw(i)->resize(16);
       }
     },
     "161002", "grad_out"},
    {"BroadcastToMoreThanAnswersHold",
     [](auto& r) {
       SetShape(Input(r, kSelf), {int64_t{1} << 40});
       SetStrides(Input(r, kSelf), {0});
       for (const int i : {kGradOut, kTarget}) {
         SetShape(Input(r, i), {1});
         r.mutable_raw(i)->resize(4);
       }
     },
     "", "max_message_bytes", "RESOURCE_EXHAUSTED"},
    {"RawIndexBeyond", [](auto& r) { Input(r, kSelf).set_raw_index(3); }, "161002", "self"},
    {"RawIndexFarBeyond", [](auto& r) { Input(r, kSelf).set_raw_index(0xffffffffu); }, "161002",
     "self"},
    {"RawEntryUnused", [](auto& r) { r.add_raw("1234"); }, "161002", "raw"},
    {"RawEntriesByTheThousand",
     [](auto& r) {
       for (int i = 0; i < 5000; ++i) r.add_raw("");
     },
     "161002", "message"},
    {"ValuesTooFew",
     [](auto& r) {
       Input(r, kTarget).mutable_values()->add_floats(1);
       r.mutable_raw()->RemoveLast();
     },
     "161002", "target"},
    {"ValuesOfTwoLists",
     [](auto& r) {
       Input(r, kTarget).mutable_values()->add_floats(1);
       Input(r, kTarget).mutable_values()->add_ints(1);
       r.mutable_raw()->RemoveLast();
     },
     "161002", "target"},
    {"ValuesOfTheWrongList",
     [](auto& r) {
       for (int i = 0; i < 8; ++i) Input(r, kTarget).mutable_values()->add_bools(true);
       r.mutable_raw()->RemoveLast();
     },
     "161002", "target"},
};

class RefusalTest : public ServerTest, public ::testing::WithParamInterface<Refusal> {
 protected:
  // Some are refused for their size, which are too long, too.
  RefusalTest() { config_.clients.max_call_time = absl::ZeroDuration(); }
};

const auto kLabel = [](const auto& test) { return test.param.label; };
INSTANTIATE_TEST_SUITE_P(Arguments, RefusalTest, ::testing::ValuesIn(kArguments), kLabel);
INSTANTIATE_TEST_SUITE_P(Tensors, RefusalTest, ::testing::ValuesIn(kTensors), kLabel);

TEST_P(RefusalTest, IsClearAndHarmless) {
  v1::ExecuteRequest request = SampleRequest();
  GetParam().spoil(request);
  const auto answer = tcp().Execute(request);
  EXPECT_EQ(answer.code, GetParam().status) << answer.message;
  ASSERT_TRUE(answer.has_info) << answer.message;
  EXPECT_EQ(answer.info.domain(), "opserve.dev");
  EXPECT_EQ(answer.aclnn_code(), GetParam().code) << answer.message;
  EXPECT_EQ(answer.parameter(), GetParam().parameter) << answer.message;
  EXPECT_EQ(answer.info.metadata().count("want"), 1u) << answer.message;
  EXPECT_EQ(answer.info.metadata().count("got"), 1u) << answer.message;
  ExpectAliveAndEmpty();
}

class MalformedMessageTest : public ServerTest {};

TEST_F(MalformedMessageTest, IsRefusedByName) {
  const std::string sample = SampleRequest().SerializeAsString();
  const std::string truncated = sample.substr(0, sample.size() - 1);
  for (const std::string method : {"Execute", "GetWorkspaceSize", "ListOperators"}) {
    for (const std::string& bytes :
         {std::string("\x0b"), std::string("\xff\xff\xff"), truncated, sample + '\0'}) {
      const Outcome outcome = tcp().SendBytes(method, bytes);
      EXPECT_EQ(outcome.code, "INVALID_ARGUMENT") << method;
      EXPECT_EQ(outcome.aclnn_code(), "161002") << outcome.message;
      EXPECT_EQ(outcome.parameter(), "message") << outcome.message;
    }
  }
  EXPECT_EQ(tcp().SendBytes("Execute", "").code,
            "NOT_FOUND");  // an empty message calls no operator
  EXPECT_THAT(tcp().SendBytes("Execute", sample), IsOk());
  ExpectAliveAndEmpty();
}

// Two bytes a tensor or a name: objects of a hundred bytes each once parsed.
TEST_F(MalformedMessageTest, ManySmallObjectsAreRefusedBeforeTheyAreMade) {
  std::string many;
  for (int i = 0; i < (5 << 20) / 2; ++i) many.append("\x12\x00", 2);
  v1::ExecuteRequest execute;
  ASSERT_TRUE(execute.mutable_call()->ParseFromString(many));
  for (const auto& [method, bytes] : {std::pair("Execute", execute.SerializeAsString()),
                                      std::pair("GetWorkspaceSize", execute.SerializeAsString()),
                                      std::pair("ListOperators", many)}) {
    const Outcome outcome = tcp().SendBytes(method, bytes);
    EXPECT_EQ(outcome.code, "RESOURCE_EXHAUSTED") << method;
    EXPECT_EQ(outcome.parameter(), "message") << outcome.message;
  }
  v1::ListOperatorsRequest repeated;
  for (int i = 0; i < 1000; ++i) repeated.add_names("L1Loss");
  EXPECT_EQ(tcp().ListOperators(repeated).parameter(), "names");
  ExpectAliveAndEmpty();
}

}  // namespace
}  // namespace opserve::testing
