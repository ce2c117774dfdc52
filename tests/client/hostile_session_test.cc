// Sessions with servers that mean harm: every answer made wrong in every place, and answers at the
// wrong time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "client/cpp/printable_text.h"
#include "client/cpp/session.h"
#include "client/cpp/waiter.h"
#include "core/base/strings.h"
#include "tests/client/answer_mutations.h"
#include "tests/client/fake_session_server.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;
using Request = v1::SessionRequest;
using Response = v1::SessionResponse;

// All that a client waits for. What is not answered ends here.
constexpr absl::Duration kPatience = absl::Milliseconds(100);

const std::vector<float>& Values() {
  static const auto& values = *new std::vector<float>{1, 2};
  return values;
}
std::string ValueBytes() { return {reinterpret_cast<const char*>(Values().data()), 8}; }

void FillOutput(v1::Tensor& output) {
  output.set_name("y");
  output.set_dtype(v1::DTYPE_FLOAT32);
  output.add_shape(2);
}

// The answers of a sound server that are not nothing.
std::vector<Response> SoundAnswers(const Request& request) {
  Response answer = AnswerTo(request);
  if (request.has_query_event()) answer.mutable_event()->set_reached(true);
  if (request.has_query_memory()) answer.mutable_memory()->set_limit_bytes(7);
  if (request.has_query_elapsed_time()) answer.mutable_elapsed_time()->set_seconds(0.5);
  if (request.has_get_workspace_size()) FillOutput(*answer.mutable_executor()->add_outputs());
  if (request.has_inline_execute()) {
    FillOutput(*answer.mutable_outputs()->add_outputs());
    answer.mutable_outputs()->mutable_outputs(0)->set_raw_index(0);
    answer.add_raw(ValueBytes());
  }
  std::vector<Response> answers;
  if (request.has_chunked_execute()) {
    answer.set_more(true);
    FillOutput(*answer.mutable_outputs()->add_outputs());
    answers.push_back(answer);
  }
  if (request.has_download() || request.has_execute() || request.has_chunked_execute()) {
    answer.set_more(!request.has_chunked_execute());
    answer.mutable_chunk()->set_output(request.has_download() ? "" : "y");
    answer.add_raw(ValueBytes());
    answers.push_back(answer);
  }
  if (request.has_download() || request.has_execute()) answer = AnswerTo(request);
  if (!request.has_chunked_execute()) answers.push_back(answer);
  return answers;
}

// Each waits for what it asks; whatever comes, it ends.
struct Scenario {
  Request::CommandCase command;
  std::function<absl::Status(Session&, Context&, Stream&)> run;
};

const CallOptions kSoon{.timeout = kPatience};

absl::Status Receive(Context& context, Stream& stream) {
  const DeviceTensor y = context.NewTensor(DType::kFloat32, {2});
  const Executor executor = context.GetWorkspaceSize(DeviceCall("Op").Output("y", y));
  ReceiveOptions options;
  options.timeout = kPatience;
  const auto result = stream.ExecuteAndReceive(executor, std::move(options));
  if (!result.ok()) return result.status();
  const auto values = result->Elements<float>("y");
  EXPECT_TRUE(values.ok());
  return values.status();
}

std::vector<Scenario> Scenarios() {
  const auto events = [](Context& context) { return context.CreateEvent(); };
  const Call call =
      Call("Op").Input("x", TensorView::Of(Values(), {2})).OutputDType("y", DType::kFloat32);
  return {
      {Request::kQueryEvent,
       [=](Session&, Context& context, Stream&) { return events(context).Query(kSoon).status(); }},
      {Request::kQueryElapsedTime,
       [=](Session&, Context& context, Stream&) {
         return events(context).TimeUntil(events(context), kSoon).status();
       }},
      {Request::kQueryMemory,
       [](Session&, Context& context, Stream&) { return context.QueryMemory(kSoon).status(); }},
      {Request::kSynchronize,
       [](Session&, Context&, Stream& stream) { return stream.Synchronize(kSoon); }},
      {Request::kGetWorkspaceSize,
       [](Session&, Context& context, Stream&) {
         return context.GetWorkspaceSize(DeviceCall("Op")).plan(kSoon).status();
       }},
      {Request::kExecute,
       [](Session&, Context& context, Stream& stream) { return Receive(context, stream); }},
      {Request::kDownload,
       [](Session&, Context& context, Stream& stream) {
         return stream.Download(context.NewTensor(DType::kFloat32, {2}), kSoon).status();
       }},
      {Request::kInlineExecute,
       [=](Session& session, Context&, Stream&) { return session.Execute(call, kSoon).status(); }},
      {Request::kChunkedExecute,
       [=](Session& session, Context&, Stream&) {
         ChunkedOptions options;
         options.timeout = kPatience;
         return session.ExecuteChunked(call, std::move(options)).status();
       }},
  };
}

// What became of `scenario` with a server that answers it with `answers`.
absl::Status RunScenario(const Scenario& scenario,
                         const std::function<std::vector<Response>(const Request&)>& answers) {
  const FakeSessionServer server([&](const Request& request, const SendAnswer& send) {
    if (request.quiet()) return 0;
    const bool attacked = request.command_case() == scenario.command;
    for (const Response& answer : attacked ? answers(request) : SoundAnswers(request)) send(answer);
    return 0;
  });
  absl::StatusOr<Session> session = Client::Connect(server.target())->OpenSession();
  if (!session.ok()) return session.status();
  Context context = session->CreateContext();
  Stream stream = context.CreateStream();
  absl::Status status = scenario.run(*session, context, stream);
  const std::string message(ToStd(status.message()));
  EXPECT_EQ(PrintableText(message), message);
  EXPECT_LT(message.size(), 3000u);
  return status;
}

class HostileSessionTest : public ::testing::TestWithParam<size_t> {
 protected:
  const Scenario scenario_ = Scenarios()[GetParam()];
};

TEST_P(HostileSessionTest, SoundServersAreServed) {
  EXPECT_EQ(RunScenario(scenario_, SoundAnswers), absl::OkStatus());
}

// One after the other, on sessions of their own: each answer of the command in each wrong form.
TEST_P(HostileSessionTest, WrongAnswersAreErrors) {
  int failed = 0;
  const auto attack = [&](const Request& command, size_t index, const Response& mutated) {
    std::vector<Response> answers = SoundAnswers(command);
    answers[index] = mutated;
    return answers;
  };
  std::vector<Response> sound;
  EXPECT_TRUE(RunScenario(scenario_, [&](const Request& command) {
                return sound = SoundAnswers(command);
              }).ok());
  for (size_t i = 0; i < sound.size(); ++i) {
    ForEachMutation(sound[i], [&](const std::string& what, const google::protobuf::Message& made) {
      SCOPED_TRACE(what);
      const auto& mutated = static_cast<const Response&>(made);
      if (mutated.ByteSizeLong() > 10000) return;  // as any other text
      const absl::Time start = absl::Now();
      failed += !RunScenario(scenario_, [&](const Request& command) {
                   return attack(command, i, mutated);
                 }).ok();
      EXPECT_LT(absl::Now() - start, absl::Seconds(20));
    });
  }
  EXPECT_GT(failed, 0);
}

std::string NameOf(const ::testing::TestParamInfo<size_t>& info) {
  const auto kind = Scenarios()[info.param].command;
  return Request::descriptor()->FindFieldByNumber(kind)->camelcase_name();
}

INSTANTIATE_TEST_SUITE_P(Commands, HostileSessionTest,
                         ::testing::Range(size_t{0}, Scenarios().size()), NameOf);

std::string MessageOf(const absl::Status& status) { return std::string(ToStd(status.message())); }

// What a session with such limits says to its opening.
std::string Opening(const std::function<void(v1::SessionInfo&)>& change) {
  v1::SessionInfo info = SmallLimits();
  change(info);
  const FakeSessionServer server(AnswerAll, info);
  return MessageOf(Client::Connect(server.target())->OpenSession().status());
}

TEST(HostileLimitsTest, LimitsLeaveRoomForWork) {
  using Info = v1::SessionInfo;
  EXPECT_EQ(Opening([](Info&) {}), "");
  EXPECT_THAT(Opening([](Info& info) { info.set_recommended_chunk_bytes(1); }),
              HasSubstr("recommended_chunk_bytes: want at least 512, got 1"));
  EXPECT_THAT(Opening([](Info& info) { info.set_max_message_bytes(100); }),
              HasSubstr("max_message_bytes: want at least 4096, got 100"));
  EXPECT_THAT(Opening([](Info& info) { info.set_max_skew_bytes(0); }),
              HasSubstr("max_skew_bytes: want at least 512, got 0"));
  EXPECT_THAT(Opening([](Info& info) { info.set_window_bytes(-1); }),
              HasSubstr("window_bytes: want a number >= 0, got -1"));
}

// Many commands are not remembered for ever, and chunks are no larger than ours, whatever it says.
TEST(HostileLimitsTest, LimitsWithoutBoundsAreBounded) {
  v1::SessionInfo info = SmallLimits();
  const int64_t most = std::numeric_limits<int64_t>::max();
  info.set_max_queued_commands(most);
  info.set_recommended_chunk_bytes(most);
  info.set_max_message_bytes(most);
  info.set_max_skew_bytes(most);
  const FakeSessionServer server(AnswerAll, info);
  absl::StatusOr<Session> session = Client::Connect(server.target())->OpenSession();
  ASSERT_TRUE(session.ok()) << session.status();
  Context context = session->CreateContext();
  Stream stream = context.CreateStream();
  const std::vector<float> large(3 << 20);
  const DeviceTensor x = context.NewTensor(DType::kFloat32, {3 << 20});
  EXPECT_EQ(stream.Upload(x, TensorView::Of(large, {3 << 20})), absl::OkStatus());
  EXPECT_EQ(session->Close(), absl::OkStatus());
  const std::vector<Request> uploads = server.received(Request::kUpload);
  EXPECT_EQ(uploads.size(), 3u);
  for (const Request& upload : uploads) EXPECT_EQ(upload.raw(0).size(), size_t{4} << 20);
}

// What the caller lent is read until it is let go of, whatever is answered meanwhile.
TEST(HostileSessionTest, AnswersThatComeTwiceEndNoLoan) {
  const FakeSessionServer server([](const Request& request, const SendAnswer& send) {
    if (!request.has_inline_execute()) return AnswerAll(request, send);
    Response answer = SoundAnswers(request)[0];
    answer.set_more(true);
    for (int i = 0; i < 3; ++i) send(answer);
    return 0;
  });
  absl::StatusOr<Session> session = Client::Connect(server.target())->OpenSession();
  ASSERT_TRUE(session.ok());
  Waiter<absl::Status> ended;
  std::atomic<int> calls = 0;
  session->ExecuteAsync(Call("Op").Input("x", TensorView::Of(Values(), {2})),
                        [&](const absl::StatusOr<ExecuteResult>& result) {
                          if (calls.fetch_add(1) == 0) ended.Set(result.status());
                        });
  EXPECT_THAT(MessageOf(*ended.Wait(absl::InfiniteFuture())),
              HasSubstr("want one answer, got more"));
  session->Cancel();
  EXPECT_EQ(calls, 1);
}

TEST(HostileSessionTest, OneAnswerIsEnough) {
  for (const bool fails : {false, true}) {
    const FakeSessionServer server([fails](const Request& request, const SendAnswer& send) {
      if (request.quiet()) return 0;
      for (int i = 0; i < 2; ++i) send(fails ? BadBetaOf(request) : AnswerTo(request));
      return 0;
    });
    absl::StatusOr<Session> session = Client::Connect(server.target())->OpenSession();
    ASSERT_TRUE(session.ok());
    static_cast<void>(session->CreateContext().Synchronize());
    for (int i = 0; i < 5000 && session->status().ok(); ++i) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_THAT(MessageOf(session->status()), HasSubstr("want no answer but the one, got another"));
  }
}

TEST(HostileSessionTest, PlansAreNoReasonToTakeMemory) {
  const FakeSessionServer server([](const Request& request, const SendAnswer& send) {
    if (!request.has_get_workspace_size()) return AnswerAll(request, send);
    Response answer = AnswerTo(request);
    FillOutput(*answer.mutable_executor()->add_outputs());
    answer.mutable_executor()->mutable_outputs(0)->set_shape(0, int64_t{1} << 40);
    send(answer);
    return 0;
  });
  absl::StatusOr<Session> session = Client::Connect(server.target())->OpenSession();
  ASSERT_TRUE(session.ok());
  Context context = session->CreateContext();
  const absl::Status status =
      context.CreateStream().ExecuteAndReceive(context.GetWorkspaceSize(DeviceCall("Op"))).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(MessageOf(status), HasSubstr("outputs: want a sink, or at most 4294967296 bytes"));
}

TEST(HostileSessionTest, TheFirstWordHasATimeOut) {
  const FakeSessionServer server(AnswerAll, SmallLimits(), FirstWord::kNone);
  SessionOptions options;
  options.start_timeout = kPatience;
  const absl::Status status =
      Client::Connect(server.target())->OpenSession(std::move(options)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(MessageOf(status), HasSubstr("no end of the start of the session in time"));
}

}  // namespace
}  // namespace opserve::client
