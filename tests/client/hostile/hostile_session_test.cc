// Sessions with servers that mean harm: every answer made wrong in every place, and answers at the
// wrong time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <opserve/session.h>

#include "absl/time/clock.h"
#include "client/cpp/values/printable_text.h"
#include "core/base/strings.h"
#include "core/base/waiter.h"
#include "tests/client/hostile/answer_mutations.h"
#include "tests/client/session/fake_session_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;
using Response = v1::SessionResponse;

// All that a client waits for where an answer is wrong. What is not answered ends here.
constexpr absl::Duration kPatience = absl::Milliseconds(100);
// Where all are sound, each comes in time.
constexpr absl::Duration kLongPatience = absl::Seconds(60);

const std::vector<float>& Values() {
  static const auto& values = *new std::vector<float>{1, 2};
  return values;
}
std::string ValueBytes() { return {reinterpret_cast<const char*>(Values().data()), 8}; }

void FillOutput(v1::Tensor& output) {
  output.set_name("y");
  output.set_dtype(v1::DATA_TYPE_FLOAT32);
  output.add_shape(2);
}

// A message of one answer, with the values where it has bytes.
Response Alone(const v1::Answer& answer) {
  Response message;
  *message.add_answers() = answer;
  if (answer.has_chunk()) message.add_raw(ValueBytes());
  for (const v1::Tensor& output : answer.outputs().outputs())
    if (output.has_raw_index()) message.add_raw(ValueBytes());
  return message;
}

// The answers of a sound server that are not nothing.
std::vector<Response> SoundAnswers(const ReceivedCommand& received) {
  const v1::Command& command = received.message;
  const bool is_chunked = command.has_execute_chunked();
  const bool has_chunks = command.has_download() || command.has_run_executor();
  v1::Answer answer = AnswerTo(received);
  if (command.has_query_event()) answer.mutable_event()->set_reached(true);
  if (command.has_query_memory()) answer.mutable_memory()->set_limit_bytes(7);
  if (command.has_query_elapsed_time()) answer.mutable_elapsed_time()->set_elapsed_ns(5);
  if (command.has_create_executor()) FillOutput(*answer.mutable_executor()->add_outputs());
  if (command.has_execute() || is_chunked) FillOutput(*answer.mutable_outputs()->add_outputs());
  if (command.has_execute()) answer.mutable_outputs()->mutable_outputs(0)->set_raw_index(0);
  if (!is_chunked && !has_chunks) return {Alone(answer)};
  std::vector<Response> answers;
  answer.set_more(true);
  if (is_chunked) answers.push_back(Alone(answer));
  answer.set_more(has_chunks);
  answer.mutable_chunk()->set_output(command.has_download() ? "" : "y");
  answers.push_back(Alone(answer));
  if (has_chunks) answers.push_back(Alone(AnswerTo(received)));
  return answers;
}

// Each waits for what it asks; whatever comes, it ends.
struct Scenario {
  v1::Command::CommandCase command;
  std::function<absl::Status(Session&, Context&, Stream&)> run;
};

absl::Status Receive(Context& context, Stream& stream, absl::Duration patience) {
  const DeviceTensor y = context.NewTensor(DType::kFloat32, {2});
  const Executor executor = context.CreateExecutor(DeviceCall("Op").Output("y", y));
  ReceiveOptions options;
  options.timeout = patience;
  const auto result = stream.ExecuteAndReceive(executor, std::move(options));
  if (!result.ok()) return result.status();
  const auto values = result->Elements<float>("y");
  EXPECT_THAT(values, testing::IsOk());
  return values.status();
}

std::vector<Scenario> Scenarios(absl::Duration patience) {
  const CallOptions soon{.timeout = patience};
  const auto events = [](Context& context) { return context.CreateEvent(); };
  const Call call =
      Call("Op").Input("x", TensorView::Of(Values(), {2})).OutputDType("y", DType::kFloat32);
  return {
      {v1::Command::kQueryEvent,
       [=](Session&, Context& context, Stream&) { return events(context).Query(soon).status(); }},
      {v1::Command::kQueryElapsedTime,
       [=](Session&, Context& context, Stream&) {
         return events(context).TimeUntil(events(context), soon).status();
       }},
      {v1::Command::kQueryMemory,
       [=](Session&, Context& context, Stream&) { return context.QueryMemory(soon).status(); }},
      {v1::Command::kSynchronize,
       [=](Session&, Context&, Stream& stream) { return stream.Synchronize(soon); }},
      {v1::Command::kCreateExecutor,
       [=](Session&, Context& context, Stream&) {
         return context.CreateExecutor(DeviceCall("Op")).plan(soon).status();
       }},
      {v1::Command::kRunExecutor,
       [=](Session&, Context& context, Stream& stream) {
         return Receive(context, stream, patience);
       }},
      {v1::Command::kDownload,
       [=](Session&, Context& context, Stream& stream) {
         return stream.Download(context.NewTensor(DType::kFloat32, {2}), soon).status();
       }},
      {v1::Command::kExecute,
       [=](Session& session, Context&, Stream&) { return session.Execute(call, soon).status(); }},
      {v1::Command::kExecuteChunked,
       [=](Session& session, Context&, Stream&) {
         ChunkedOptions options;
         options.timeout = patience;
         return session.ExecuteChunked(call, std::move(options)).status();
       }},
  };
}

using Answers = std::function<std::vector<Response>(const ReceivedCommand&)>;

// What became of `scenario` with a server that answers it with `answers`.
absl::Status RunScenario(const Scenario& scenario, const Answers& answers) {
  const FakeSessionServer server([&](const ReceivedCommand& command, const SendAnswer& send) {
    if (command.message.quiet()) return 0;
    const bool attacked = command.message.command_case() == scenario.command;
    for (const Response& answer : attacked ? answers(command) : SoundAnswers(command)) send(answer);
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
  const Scenario scenario_ = Scenarios(kPatience)[GetParam()];
  const Scenario sound_ = Scenarios(kLongPatience)[GetParam()];
};

TEST_P(HostileSessionTest, SoundServersAreServed) {
  EXPECT_EQ(RunScenario(sound_, SoundAnswers), absl::OkStatus());
}

// One after the other, on sessions of their own: each answer of the command in each wrong form.
TEST_P(HostileSessionTest, WrongAnswersAreErrors) {
  int failed = 0;
  const auto attack = [&](const ReceivedCommand& command, size_t index, const Response& mutated) {
    std::vector<Response> answers = SoundAnswers(command);
    answers[index] = mutated;
    return answers;
  };
  std::vector<Response> sound;
  EXPECT_THAT(
      RunScenario(sound_,
                  [&](const ReceivedCommand& command) { return sound = SoundAnswers(command); }),
      testing::IsOk());
  for (size_t i = 0; i < sound.size(); ++i) {
    ForEachMutation(sound[i], [&](const std::string& what, const google::protobuf::Message& made) {
      SCOPED_TRACE(what);
      const auto& mutated = static_cast<const Response&>(made);
      if (mutated.ByteSizeLong() > 10000) return;  // as any other text
      const absl::Time start = absl::Now();
      failed += !RunScenario(scenario_, [&](const ReceivedCommand& command) {
                   return attack(command, i, mutated);
                 }).ok();
      EXPECT_LT(absl::Now() - start, absl::Seconds(20));
    });
  }
  EXPECT_GT(failed, 0);
}

std::string NameOf(const ::testing::TestParamInfo<size_t>& info) {
  const auto kind = Scenarios(kPatience)[info.param].command;
  return v1::Command::descriptor()->FindFieldByNumber(kind)->camelcase_name();
}

INSTANTIATE_TEST_SUITE_P(Commands, HostileSessionTest,
                         ::testing::Range(size_t{0}, Scenarios(kPatience).size()), NameOf);

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
  ASSERT_THAT(session, testing::IsOk());
  Context context = session->CreateContext();
  Stream stream = context.CreateStream();
  const std::vector<float> large(3 << 20);
  const DeviceTensor x = context.NewTensor(DType::kFloat32, {3 << 20});
  EXPECT_EQ(stream.Upload(x, TensorView::Of(large, {3 << 20})), absl::OkStatus());
  EXPECT_EQ(session->Close(), absl::OkStatus());
  const std::vector<ReceivedCommand> uploads = server.received(v1::Command::kUpload);
  EXPECT_EQ(uploads.size(), 3u);
  for (const ReceivedCommand& upload : uploads) EXPECT_EQ(upload.raw[0].size(), size_t{4} << 20);
}

// What the caller lent is read until it is let go of, whatever is answered meanwhile.
TEST(HostileSessionTest, AnswersThatComeTwiceEndNoLoan) {
  const FakeSessionServer server([](const ReceivedCommand& command, const SendAnswer& send) {
    if (!command.message.has_execute()) return AnswerAll(command, send);
    Response answer = SoundAnswers(command)[0];
    answer.mutable_answers(0)->set_more(true);
    for (int i = 0; i < 3; ++i) send(answer);
    return 0;
  });
  absl::StatusOr<Session> session = Client::Connect(server.target())->OpenSession();
  ASSERT_THAT(session, testing::IsOk());
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

TEST(HostileSessionTest, EntriesAreOneAnswersEach) {
  struct Wrong {
    std::function<void(Response&)> change;
    const char* says;
  };
  const std::vector<Wrong> wrongs = {
      {[](Response& message) { message.add_raw("unused"); }, "entry 1, which none uses"},
      {[](Response& message) { message.clear_raw(); }, "raw_index: want one below 0"},
      {[](Response& message) { *message.add_answers() = message.answers(0); },
       "raw_index: want one below 1 that is its own, got 0"}};
  for (const Wrong& wrong : wrongs) {
    const FakeSessionServer server([&](const ReceivedCommand& command, const SendAnswer& send) {
      Response message = SoundAnswers(command)[0];
      wrong.change(message);
      send(message);
      return 0;
    });
    absl::StatusOr<Session> session = Client::Connect(server.target())->OpenSession();
    ASSERT_THAT(session, testing::IsOk());
    const Call call = Call("Op").Input("x", TensorView::Of(Values(), {2}));
    const absl::Status status = session->Execute(call).status();
    EXPECT_THAT(MessageOf(status), HasSubstr(wrong.says));
    EXPECT_EQ(session->status(), status);
  }
}

TEST(HostileSessionTest, OneAnswerIsEnough) {
  for (const bool fails : {false, true}) {
    const FakeSessionServer server([fails](const ReceivedCommand& command, const SendAnswer& send) {
      if (command.message.quiet()) return 0;
      for (int i = 0; i < 2; ++i) send(fails ? BadBetaOf(command) : AnswerTo(command));
      return 0;
    });
    absl::StatusOr<Session> session = Client::Connect(server.target())->OpenSession();
    ASSERT_THAT(session, testing::IsOk());
    static_cast<void>(session->CreateContext().Synchronize());
    for (int i = 0; i < 5000 && session->status().ok(); ++i) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_THAT(MessageOf(session->status()), HasSubstr("want no answer but the one, got another"));
  }
}

TEST(HostileSessionTest, PlansAreNoReasonToTakeMemory) {
  const FakeSessionServer server([](const ReceivedCommand& command, const SendAnswer& send) {
    if (!command.message.has_create_executor()) return AnswerAll(command, send);
    v1::Answer answer = AnswerTo(command);
    FillOutput(*answer.mutable_executor()->add_outputs());
    answer.mutable_executor()->mutable_outputs(0)->set_shape(0, int64_t{1} << 40);
    send(answer);
    return 0;
  });
  absl::StatusOr<Session> session = Client::Connect(server.target())->OpenSession();
  ASSERT_THAT(session, testing::IsOk());
  Context context = session->CreateContext();
  const absl::Status status =
      context.CreateStream().ExecuteAndReceive(context.CreateExecutor(DeviceCall("Op"))).status();
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
