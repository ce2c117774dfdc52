// A call in a batch is the call by itself: the same bits, and the same error.
#include <gtest/gtest.h>

#include <iterator>

#include "core/op/op_table.h"
#include "tests/server/mistakes/malformed_calls.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/cases.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr int kCallsOfABatch = 100;

class BatchConformanceTest : public ServerTest {
 protected:
  void ExpectAlike(const std::vector<v1::ExecuteRequest>& singles) {
    v1::ExecuteBatchRequest batch;
    for (const v1::ExecuteRequest& single : singles) AddToBatch(batch, single);
    const auto together = tcp().ExecuteBatch(batch);
    ASSERT_THAT(together, IsOk()) << together.message;
    for (size_t i = 0; i < singles.size(); ++i) {
      const auto alone = unix_socket().Execute(singles[i]);
      const int index = static_cast<int>(i);
      const google::rpc::Status& error = together.response.results(index).error();
      EXPECT_EQ(alone.ok(), !together.response.results(index).has_error()) << error.message();
      if (alone.ok()) {
        EXPECT_EQ(ResultOf(together.response, index).SerializeAsString(),
                  alone.response.SerializeAsString());
      } else {
        ExpectSameError(alone, error);
      }
      // Only then: the text of each call takes as long as the call.
      if (HasFailure()) FAIL() << singles[i].call().ShortDebugString().substr(0, 300);
    }
  }

  static void ExpectSameError(const Outcome& alone, const google::rpc::Status& error) {
    // It names indices of the message that it came in.
    if (alone.message.find("raw_index below") != std::string::npos) {
      EXPECT_NE(error.message().find("raw_index below"), std::string::npos) << error.message();
      return;
    }
    EXPECT_EQ(error.message(), alone.message);
    google::rpc::ErrorInfo info;
    ASSERT_EQ(error.details_size(), 1);
    ASSERT_TRUE(info.ParseFromString(error.details(0).value()));
    EXPECT_EQ(info.reason(), alone.info.reason());
    EXPECT_EQ(info.metadata().size(), alone.info.metadata().size());
  }
};

TEST_F(BatchConformanceTest, GoodCalls) {
  std::vector<v1::ExecuteRequest> singles;
  for (int i = 0; i < 3; ++i) {
    for (const Operator* op : AllOperators()) singles.push_back(GoodCall(*op));
    for (const v1::DataType dtype :
         {v1::DATA_TYPE_FLOAT32, v1::DATA_TYPE_FLOAT16, v1::DATA_TYPE_BFLOAT16})
      singles.push_back(SampleRequest(dtype));
    singles.push_back(LongRequest(1 << 20));
  }
  ExpectAlike(singles);
  ExpectAliveAndEmpty();
}

// Calls that are alike and follow each other run in series.
TEST_F(BatchConformanceTest, CallsInARow) {
  std::vector<v1::ExecuteRequest> singles;
  for (const Operator* op : AllOperators()) {
    for (int i = 0; i < 6; ++i) {
      v1::ExecuteRequest single = GoodCall(*op);
      if (i == 3) single.mutable_raw(0)->append("12345678");
      if (i == 5) single.mutable_raw(0)->clear();
      singles.push_back(single);
    }
  }
  ExpectAlike(singles);
  ExpectAliveAndEmpty();
}

v1::ExecuteRequest Named(const Operator& op, const std::string& choice) {
  v1::ExecuteRequest single = GoodCall(op);
  AttributeOf(single, "reduction").set_string_value(choice);
  return single;
}

// Names of one length, so that only their bytes tell the calls apart, and the number between them.
TEST_F(BatchConformanceTest, ChoicesByName) {
  std::vector<v1::ExecuteRequest> singles;
  for (const Operator* op : AllOperators()) {
    if (op->FindAttribute("reduction") < 0) continue;
    for (const char* choice : {"none", "none", "mean", "none", "sum", "summ", "mean", "maen"})
      singles.push_back(Named(*op, choice));
    singles.push_back(GoodCall(*op));
    singles.push_back(Named(*op, "mean"));
  }
  ExpectAlike(singles);
  ExpectAliveAndEmpty();
}

// Mistakes of the whole message are left out: there they are those of the batch.
bool IsOfTheCall(const MalformedCall& call) {
  return call.parameter != "message" && call.parameter != "raw" &&
         call.parameter != "output_encoding";
}

class BatchMistakesTest : public BatchConformanceTest,
                          public ::testing::WithParamInterface<const Operator*> {};

INSTANTIATE_TEST_SUITE_P(Operators, BatchMistakesTest, ::testing::ValuesIn(OperatorsOfShard()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST_P(BatchMistakesTest, Errors) {
  // Of a batch in which an input has no data, entries may be left over; else they are a mistake of
  // the whole.
  v1::ExecuteRequest lacking = GoodCall(*GetParam());
  lacking.mutable_call()->mutable_inputs(0)->clear_data();
  std::vector<v1::ExecuteRequest> singles = {lacking};
  for (const auto& mistakes : {InputMistakes(*GetParam()), AttributeMistakes(*GetParam()),
                               CallMistakes(*GetParam()), OwnMistakes(*GetParam())}) {
    for (const MalformedCall& call : mistakes) {
      if (!IsOfTheCall(call)) continue;
      singles.push_back(call.request);
      if (singles.size() % 7 == 0) singles.push_back(GoodCall(*GetParam()));
      if (singles.size() < kCallsOfABatch) continue;
      ExpectAlike(singles);
      singles = {lacking};
    }
  }
  ExpectAlike(singles);
  ExpectAliveAndEmpty();
}

}  // namespace
}  // namespace opserve::testing
