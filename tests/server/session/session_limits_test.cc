// The bounds of a session, and what the transport is told of them.
#include <gtest/gtest.h>

#include "tests/server/session/session_fixture.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

// Executes a chain of so many steps on one element.
std::string ExecuteProgram(int steps, std::string_view more) {
  std::string program;
  std::string last = "x";
  for (int i = 0; i < steps; ++i) {
    const std::string name = absl::StrCat("step", i);
    absl::StrAppend(&program, "steps { name: '", name,
                    "' op: 'Relu' inputs { name: 'self' value: '", last, "' } } ");
    last = name;
  }
  return absl::StrCat("execute { ", std::string(more),
                      " call { inputs { name: 'x' dtype: DATA_TYPE_FLOAT32 shape: 1 raw_index: 0 } "
                      "program { ",
                      program, "outputs { name: 'y' value: '", last, "' } } } }");
}

class SessionLimitsTest : public SessionFixture {
 protected:
  uint64_t Upload(size_t size) {
    return session().Send("upload { destination { buffer: 1 } stream: 1 }",
                          {std::string(size, 'u')});
  }
};

TEST_F(SessionLimitsTest, AHundredThousandHandles) {
  constexpr int kHandles = 100'000;
  limits_.max_handles = kHandles;
  session().Do("create_context { context: 1 }");
  for (int i = 1; i < kHandles; ++i) {
    session().Send(absl::StrCat("quiet: true create_event { event: ", i, " context: 1 }"));
  }
  for (const char* kind : {"context", "stream", "event", "buffer", "executor", "command"}) {
    const std::string name(kind);
    std::string command = absl::StrCat("create_", name, " { ", name, ": 1000000 context: 1 }");
    if (name == "context") command = "create_context { context: 1000000 }";
    if (name == "buffer") command = "allocate { buffer: 1000000 context: 1 size_bytes: 1 }";
    if (name == "executor") command = "create_executor { executor: 1000000 context: 1 }";
    if (name == "command") command = "execute_chunked { call { op: 'L1Loss' } }";
    const Reply reply = session().Refuse(command, kLimit, kind);
    EXPECT_EQ(reply.part("want"), "at most 100000 handles in the session");
  }
  session().Do("destroy_event { event: 50000 }");
  session().Do("create_stream { stream: 1 context: 1 }");
  session().Do("destroy_context { context: 1 }");
  MakeStreams();
}

TEST_F(SessionLimitsTest, QueuedCommands) {
  limits_.max_queued_commands = 5;
  MakeStreams();
  MakeBuffer(1, "12345678");
  MakeBuffer(2, "12345678");
  session().Do("create_event { event: 1 context: 1 }");
  device().Hold(Work::kUpload);
  std::vector<uint64_t> queued;
  queued.reserve(5);
  for (int i = 0; i < 5; ++i) queued.push_back(Upload(8));
  for (const char* command : {"query_stream { stream: 2 }", "create_context { context: 2 }"}) {
    const Reply reply = session().Refuse(command, kLimit, "command");
    EXPECT_EQ(reply.part("want"), "at most 5 commands under way in the session");
  }
  // Commands that free something, and synchronizations.
  session().Do("free { buffer: 2 }");
  session().Do("destroy_event { event: 1 }");
  session().Do("destroy_stream { stream: 2 }");
  const uint64_t end = session().Send("synchronize { stream: 1 }");
  device().Release(Work::kUpload);
  for (const uint64_t id : queued) EXPECT_THAT(session().Await(id), IsOk());
  EXPECT_THAT(session().Await(end), IsOk());
  session().AwaitIdle();
  session().Do("query_stream { stream: 1 }");
}

TEST_F(SessionLimitsTest, ChunksAreNoCommandsInTheQueue) {
  limits_.max_queued_commands = 1;
  const uint64_t call = session().Send(
      "execute_chunked { call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 0 } "
      "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 100 chunked {} } } }");
  for (int i = 0; i < 100; ++i)
    session().Send(absl::StrCat("input_chunk { command: ", call, " input: 'self' }"), {"1234"});
  EXPECT_EQ(session().Await(call).bytes("out").size(), 400u);
}

TEST_F(SessionLimitsTest, MemoryBudget) {
  limits_.memory_limit_bytes = 1000;
  MakeStreams();
  const Reply reply =
      session().Refuse("allocate { buffer: 1 context: 1 size_bytes: 1001 }", kLimit, "size_bytes");
  EXPECT_NE(reply.part("got"), "");
  session().Do("allocate { buffer: 1 context: 1 size_bytes: 1000 }");
  session().Refuse("allocate { buffer: 2 context: 1 size_bytes: 1 }", kLimit, "size_bytes");
  session().Do("create_context { context: 2 }");  // one budget for all contexts
  session().Refuse("allocate { buffer: 2 context: 2 size_bytes: 1 }", kLimit, "size_bytes");
  session().Do("free { buffer: 1 }");
  session().Do("allocate { buffer: 2 context: 2 size_bytes: 1000 }");
}

TEST_F(SessionLimitsTest, TheBudgetOfWhatAnExecutionMakes) {
  limits_.memory_limit_bytes = 100;
  MakeStreams();
  MakeBuffer(1, std::string(64, '1'));
  session().Do(
      "create_executor { executor: 1 context: 1 call { op: 'Hardshrink' attributes { "
      "name: 'lambd' float_value: 0 } inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 16 "
      "buffer "
      "{ buffer: 1 } } } }");
  const uint64_t run = session().Send("run_executor { executor: 1 stream: 1 }");
  const Reply failed = session().Await(run);
  EXPECT_EQ(failed.reason(), kLimit);
  EXPECT_EQ(failed.part("parameter"), "out");
  EXPECT_EQ(session().Await(session().Send("synchronize { stream: 1 }")).last().failed_command(),
            run);
}

// The device of these tests may have no kernels for what lies between steps: how the programs end
// does not matter.
TEST_F(SessionLimitsTest, ReadingStopsForPlansOfProgramsThatWait) {
  limits_.window_bytes = 100'000;
  const std::vector<std::string> raw = {std::string(4, '\0')};
  MakeStreams();
  session().Do("allocate { buffer: 1 context: 1 size_bytes: 8 }");
  device().Hold(Work::kFill);
  session().Send("fill { destination { buffer: 1 row_bytes: 8 } pattern: 'x' stream: 1 }");
  const uint64_t one = session().Send(ExecuteProgram(9, "stream: 1"), raw);
  const uint64_t two = session().Send(ExecuteProgram(9, "stream: 1"), raw);
  EXPECT_TRUE(session().MayRead());
  std::vector<uint64_t> more;
  for (int i = 0; i < 50; ++i) more.push_back(session().Send(ExecuteProgram(9, "stream: 1"), raw));
  EXPECT_FALSE(session().MayRead());
  device().Release(Work::kFill);
  session().Await(one);
  session().Await(two);
  for (const uint64_t id : more) EXPECT_NE(session().Await(id).reason(), kLimit);
  session().AwaitThat([this] { return session().MayRead(); });
}

TEST_F(SessionLimitsTest, MemoryOfTheDevice) {
  limits_.memory_limit_bytes = int64_t{1} << 40;
  MakeStreams();
  session().Refuse("allocate { buffer: 1 context: 1 size_bytes: 1000000000 }", kLimit,
                   "memory limit");
  session().Refuse("allocate { buffer: 1 context: 1 size_bytes: 9223372036854775807 }", kLimit,
                   "size_bytes");
}

TEST_F(SessionLimitsTest, ReadingStopsForUploadsThatWait) {
  limits_.window_bytes = 10'000;
  MakeStreams();
  session().Do("allocate { buffer: 1 context: 1 size_bytes: 6000 }");
  device().Hold(Work::kUpload);
  const uint64_t one = Upload(6000);
  EXPECT_TRUE(session().MayRead());
  const uint64_t two = Upload(6000);
  EXPECT_FALSE(session().MayRead());
  device().Release(Work::kUpload);
  session().AwaitThat([this] { return session().MayRead(); });
  session().Await(one);
  session().Await(two);
}

// Sixteen thousand headers of 4 MiB would be much.
TEST_F(SessionLimitsTest, ReadingStopsForLargeHeadersThatWait) {
  limits_.window_bytes = 100'000;
  MakeStreams();
  session().Do("allocate { buffer: 1 context: 1 size_bytes: 8 }");
  v1::Command call;
  call.mutable_execute()->set_stream(1);
  call.mutable_execute()->mutable_call()->set_op("Hardshrink");
  v1::Tensor& self = *call.mutable_execute()->mutable_call()->add_inputs();
  self.set_name("self");
  self.set_dtype(v1::DATA_TYPE_FLOAT32);
  self.add_shape(7000);
  self.mutable_values()->mutable_floats()->Resize(7000, 1.0);
  v1::Attribute& lambd = *call.mutable_execute()->mutable_call()->add_attributes();
  lambd.set_name("lambd");
  lambd.set_float_value(0.5);
  device().Hold(Work::kUpload);
  Upload(8);
  const uint64_t one = session().Send(call);
  EXPECT_TRUE(session().MayRead());
  const uint64_t two = session().Send(call);
  EXPECT_FALSE(session().MayRead());
  device().Release(Work::kUpload);
  session().Await(one);
  session().Await(two);
  EXPECT_TRUE(session().MayRead());
}

// Their number has no other bound.
TEST_F(SessionLimitsTest, ReadingStopsForSynchronizationsThatWait) {
  limits_.window_bytes = 100'000;
  limits_.max_queued_commands = 2;
  MakeStreams();
  MakeBuffer(1, "12345678");
  device().Hold(Work::kUpload);
  Upload(8);
  int commands = 0;
  while (session().MayRead()) {
    session().Send("quiet: true synchronize { stream: 1 }");
    ASSERT_LT(++commands, 1000);
  }
  EXPECT_GT(commands, 10);
  device().Release(Work::kUpload);
  session().AwaitIdle();
  EXPECT_TRUE(session().MayRead());
}

TEST_F(SessionLimitsTest, ReadingStopsForAnswersThatWere) {
  limits_.window_bytes = 10'000;
  session().Do("create_context { context: 1 }");
  int commands = 0;
  while (session().MayRead()) {
    session().Send("query_memory { context: 1 }");
    ASSERT_LT(++commands, 100);
  }
  EXPECT_GT(commands, 10);
  ASSERT_TRUE(session().BeginSending());
  EXPECT_FALSE(session().MayRead());
  session().EndSending();
  EXPECT_TRUE(session().MayRead());
}

TEST_F(SessionLimitsTest, ChunksWaitForRoom) {
  limits_.window_bytes = 1000;
  limits_.chunk_bytes = 400;
  MakeStreams();
  MakeBuffer(1, Noise(4000, 1));
  const uint64_t read =
      session().Send("download { source { buffer: 1 row_bytes: 4000 } stream: 1 }");
  int64_t most = 0;
  session().AwaitThat([&] {
    most = std::max(most, session().flow().unsent_bytes());
    session().TakeAnswers();
    return session().answers().contains(read) && !session().answers().at(read).last().more();
  });
  EXPECT_LE(most, 2000);  // the window and what frames its chunks
  EXPECT_EQ(session().Await(read).bytes(), Noise(4000, 1));
}

TEST_F(SessionLimitsTest, TwoDownloadsShareTheRoom) {
  limits_.window_bytes = 1000;
  limits_.chunk_bytes = 1000;
  MakeStreams();
  MakeBuffer(1, Noise(5000, 1));
  const uint64_t one =
      session().Send("download { source { buffer: 1 row_bytes: 5000 } stream: 1 }");
  const uint64_t two =
      session().Send("download { source { buffer: 1 row_bytes: 5000 } stream: 2 }");
  EXPECT_EQ(session().Await(one).bytes(), Noise(5000, 1));
  EXPECT_EQ(session().Await(two).bytes(), Noise(5000, 1));
}

// A client that reads nothing holds no thread of the device and no other stream's work.
TEST_F(SessionLimitsTest, ADownloadThatNobodyReads) {
  limits_.window_bytes = 1000;
  limits_.chunk_bytes = 400;
  MakeStreams();
  MakeBuffer(1, std::string(40'000, 'x'));
  for (int i = 0; i < 4; ++i) {
    session().Send("download { source { buffer: 1 row_bytes: 40000 } stream: 1 detached: true }");
  }
  session().Send(
      "quiet: true fill { destination { buffer: 1 row_bytes: 8 } pattern: 'y' stream: 2 }");
  device().Hold(Work::kCopy);
  session().Send(
      "copy { source { buffer: 1 row_bytes: 8 } destination { buffer: 1 offset_bytes: 8 row_bytes: "
      "8 } "
      "stream: 2 }");
  device().AwaitHeld(Work::kCopy);  // stream 2 went on
  device().Release(Work::kCopy);
  session().Cut();
}

}  // namespace
}  // namespace opserve::testing
