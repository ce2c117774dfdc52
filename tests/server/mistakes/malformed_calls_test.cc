// Hundreds of malformed calls of each operator, made from its schema, against a real server: each
// is refused with the right code, names the right parameter, and leaves the server whole.
#include "tests/server/mistakes/malformed_calls.h"

#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "tests/server/session_client.h"
#include "tests/server/test_server.h"
#include "tests/support/cases.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

// All tests share one server.
class MalformedCallsTest : public ::testing::TestWithParam<const Operator*> {
 protected:
  static void SetUpTestSuite() {
    running_ = std::make_unique<TestServer>();
    running_->Start();
  }
  static void TearDownTestSuite() { running_ = nullptr; }

  static Client& tcp() { return running_->tcp(); }
  static int64_t used_bytes() { return running_->used_bytes(); }
  const Operator& op() const { return *GetParam(); }

  void SetUp() override {
    good_ = GoodCall(op());
    good_.set_output_encoding(v1::TENSOR_ENCODING_VALUES);  // leases end before the answer leaves
  }

  void ExpectRefused(const MalformedCalls& calls) {
    ASSERT_FALSE(calls.empty());
    for (size_t i = 0; i < calls.size(); ++i) {
      const MalformedCall& call = calls[i];
      SCOPED_TRACE(call.label.substr(0, 200));
      Check(call, tcp().Execute(call.request));
      if (call.in_plan) Check(call, tcp().GetWorkspaceSize(PlanOf(call.request)));
      Check(call, InSession(call.request));
      EXPECT_EQ(used_bytes(), 0);
      if (i % 16 == 0) {
        EXPECT_THAT(tcp().Execute(good_), IsOk());
      }
    }
    EXPECT_THAT(tcp().Execute(good_), IsOk());
    RecordProperty("calls", static_cast<int>(calls.size()));
  }

  static void Check(const MalformedCall& call, const Outcome& outcome) {
    EXPECT_EQ(outcome.code, call.status) << outcome.message;
    ASSERT_TRUE(outcome.has_info) << outcome.message;
    EXPECT_EQ(outcome.info.domain(), "opserve.dev");
    EXPECT_EQ(outcome.aclnn_code(), call.code) << outcome.message;
    EXPECT_EQ(outcome.parameter(), call.parameter) << outcome.message;
    const auto& metadata = outcome.info.metadata();
    EXPECT_EQ(metadata.count("want"), 1U) << outcome.message;
    EXPECT_EQ(metadata.count("got"), 1U) << outcome.message;
    const bool has_operator = call.parameter != "operator" && call.parameter != "message" &&
                              call.parameter != "output_encoding";
    EXPECT_EQ(metadata.count("operator"), has_operator ? 1U : 0U) << outcome.message;
    if (!has_operator) return;
    EXPECT_EQ(metadata.at("operator"), call.request.call().op());
    EXPECT_TRUE(outcome.message.starts_with(call.request.call().op() + ": ")) << outcome.message;
  }

  // The same call as a command of a session, which goes on unless the message itself is at fault.
  Outcome InSession(const v1::ExecuteRequest& request) {
    if (session_ == nullptr)
      session_ =
          std::make_unique<SessionClient>(running_->server().addresses()[0], absl::Minutes(4));
    v1::Command command;
    *command.mutable_execute()->mutable_call() = request.call();
    command.mutable_execute()->set_output_encoding(request.output_encoding());
    session_->Send(command, {request.raw().begin(), request.raw().end()});
    Outcome outcome;
    while (const std::optional<v1::Answer> answer = session_->Receive()) {
      if (answer->id() != session_->last_id()) continue;
      outcome.code =
          absl::StatusCodeToString(static_cast<absl::StatusCode>(answer->error().code()));
      outcome.message = answer->error().message();
      outcome.has_info = answer->error().details_size() >= 1 &&
                         outcome.info.ParseFromString(answer->error().details(0).value());
      return outcome;
    }
    outcome = session_->End();
    session_ = nullptr;
    EXPECT_EQ(outcome.parameter(), "message") << outcome.message;
    return outcome;
  }

  // The same call without bytes.
  static v1::GetWorkspaceSizeRequest PlanOf(const v1::ExecuteRequest& request) {
    v1::GetWorkspaceSizeRequest plan;
    *plan.mutable_call() = request.call();
    for (v1::Tensor& input : *plan.mutable_call()->mutable_inputs()) input.clear_data();
    return plan;
  }

  v1::ExecuteRequest good_;
  std::unique_ptr<SessionClient> session_;

 private:
  static inline std::unique_ptr<TestServer> running_;
};

// Bytes as a field of a message.
std::string Framed(int field, const std::string& bytes) {
  google::protobuf::UnknownFieldSet set;
  set.AddLengthDelimited(field, bytes);
  std::string framed;
  set.SerializeToString(&framed);
  return framed;
}

INSTANTIATE_TEST_SUITE_P(Operators, MalformedCallsTest, ::testing::ValuesIn(OperatorsOfShard()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST_P(MalformedCallsTest, Inputs) { ExpectRefused(InputMistakes(op())); }

TEST_P(MalformedCallsTest, Attributes) { ExpectRefused(AttributeMistakes(op())); }

TEST_P(MalformedCallsTest, OutputsAndCall) { ExpectRefused(CallMistakes(op())); }

// Write rows for a new operator in tests/server/mistakes/own_mistakes.cc.
TEST_P(MalformedCallsTest, ItsOwnRules) { ExpectRefused(OwnMistakes(op())); }

// Cut anywhere, a request is refused: before its end nothing is a whole call.
TEST_P(MalformedCallsTest, CutMessages) {
  const std::string bytes = GoodCall(op()).SerializeAsString();
  const size_t step = bytes.size() / 43 + 1;
  for (size_t size = 0; size < bytes.size(); size += step) {
    const Outcome outcome = tcp().SendBytes("Execute", bytes.substr(0, size));
    EXPECT_TRUE(outcome.code == "INVALID_ARGUMENT" || outcome.code == "NOT_FOUND")
        << size << " bytes: " << outcome.code << ": " << outcome.message;
    EXPECT_TRUE(outcome.has_info) << outcome.message;
  }
  EXPECT_THAT(tcp().Execute(good_), IsOk());
  EXPECT_EQ(used_bytes(), 0);
}

// On the wire a tensor can say twice where its data is: the last word counts, and the raw entry is
// nobody's.
TEST_P(MalformedCallsTest, DataGivenTwice) {
  v1::ExecuteRequest request = good_;
  v1::Tensor values;
  for (int64_t i = NumElements(ShapeOf(request.call().inputs(0))).value_or(0); i > 0; --i)
    values.mutable_values()->add_ints(1);
  const std::string tensor =
      request.call().inputs(0).SerializeAsString() + values.SerializeAsString();
  request.mutable_call()->mutable_inputs()->DeleteSubrange(0, 1);
  const std::string call =
      request.call().SerializeAsString() + Framed(v1::Call::kInputsFieldNumber, tensor);
  request.clear_call();
  const Outcome outcome = tcp().SendBytes(
      "Execute", Framed(v1::ExecuteRequest::kCallFieldNumber, call) + request.SerializeAsString());
  EXPECT_EQ(outcome.aclnn_code(), "161002") << outcome.message;
  EXPECT_EQ(outcome.parameter(), "raw") << outcome.message;
  EXPECT_EQ(used_bytes(), 0);
}

}  // namespace
}  // namespace opserve::testing
