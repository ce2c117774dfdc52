// Calls whose request message never comes: no handler sees them, and they are counted as what
// became of them.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "opserve/v1/operator_service.grpc.pb.h"
#include "tests/server/outcome.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

// A call of which the server has the headers, and no more.
class BegunCall {
 public:
  BegunCall(const std::string& address, const std::string& method, absl::Duration timeout)
      : channel_(OwnChannel(address)), stub_(channel_) {
    RoundTrip();  // first, as connecting may take longer than the call has
    SetTimeout(context_, timeout);
    call_ = stub_.PrepareCall(&context_, "/opserve.v1.OperatorService/" + method, &queue_);
    call_->StartCall(nullptr);
    Step();
    RoundTrip();
  }

  ~BegunCall() {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  BegunCall(const BegunCall&) = delete;
  BegunCall& operator=(const BegunCall&) = delete;

  void Cancel() { context_.TryCancel(); }
  void EndRequest() {
    call_->WritesDone(nullptr);
    Step();
  }
  Outcome Wait() {
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Step();
    Outcome outcome;
    Describe(status, outcome);
    return outcome;
  }

 private:
  void Step() {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue_.Next(&tag, &ok));
  }
  // What was sent before is with the server.
  void RoundTrip() {
    grpc::ClientContext own_context;
    v1::GetServerInfoResponse info;
    const auto service = v1::OperatorService::NewStub(channel_);
    EXPECT_THAT(service->GetServerInfo(&own_context, {}, &info), IsOk());
  }

  const std::shared_ptr<grpc::Channel> channel_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

// The methods whose messages opserve reads by itself.
class MissingMessageTest : public ServerTest, public ::testing::WithParamInterface<const char*> {
 protected:
  const std::string& address() { return server().addresses()[0]; }
  std::string method() const { return GetParam(); }

  // Waits for the call's end; how it was counted: "CANCELLED CANCELLED" is the status, then the
  // reason.
  std::string Counted() {
    const absl::Time end = Clock::Real().Now() + absl::Seconds(60);
    while (Clock::Real().Now() < end) {
      const v1::GetStatisticsResponse now = tcp().GetStatistics().response;
      for (const v1::MethodStatistics& statistics : now.methods()) {
        if (statistics.method() != method()) continue;
        if (statistics.ended().empty() || now.errors().empty()) continue;
        EXPECT_EQ(statistics.request_bytes() + statistics.response_bytes(), 0);
        return OnlyOne(statistics, now);
      }
    }
    return "not within a minute";
  }

 private:
  static std::string OnlyOne(const v1::MethodStatistics& method,
                             const v1::GetStatisticsResponse& all) {
    if (method.ended_size() != 1 || all.errors_size() != 1) return all.ShortDebugString();
    if (method.ended(0).calls() != 1 || all.errors(0).errors() != 1) return all.ShortDebugString();
    return method.ended(0).name() + " " + all.errors(0).reason();
  }
};

INSTANTIATE_TEST_SUITE_P(Methods, MissingMessageTest,
                         ::testing::Values("Execute", "ExecuteBatch", "GetWorkspaceSize",
                                           "ListOperators"),
                         [](const auto& method) { return std::string(method.param); });

TEST_P(MissingMessageTest, OfAClientThatCancelsIsCancelled) {
  BegunCall call(address(), method(), absl::Minutes(2));
  call.Cancel();
  EXPECT_EQ(call.Wait().code, "CANCELLED");
  EXPECT_EQ(Counted(), "CANCELLED CANCELLED");
}

TEST_P(MissingMessageTest, BeforeTheDeadlineIsDeadlineExceeded) {
  BegunCall call(address(), method(), absl::Milliseconds(500));
  EXPECT_EQ(call.Wait().code, "DEADLINE_EXCEEDED");
  // The client cancels, too: it may be that the server hears of that first.
  const std::string counted = Counted();
  EXPECT_TRUE(counted == "DEADLINE_EXCEEDED DEADLINE_EXCEEDED" || counted == "CANCELLED CANCELLED")
      << counted;
}

TEST_P(MissingMessageTest, OfARequestThatHasEndedIsRefused) {
  BegunCall call(address(), method(), absl::Minutes(2));
  call.EndRequest();
  const Outcome outcome = call.Wait();
  EXPECT_EQ(outcome.code, "INVALID_ARGUMENT") << outcome.message;
  EXPECT_EQ(outcome.aclnn_code(), "161001");
  EXPECT_EQ(outcome.parameter(), "message");
  EXPECT_EQ(Counted(), "INVALID_ARGUMENT MISSING_PARAMETER");
}

}  // namespace
}  // namespace opserve::testing
