// The two phases on buffers.
#include <gtest/gtest.h>

#include <limits>

#include "tests/server/session/session_fixture.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr size_t kBytes = 64;  // of 16 floats

std::string Executor(int id, std::string_view options, std::string_view outputs,
                     std::string_view more = "") {
  return absl::StrCat(
      "create_executor { executor: ", id, " context: 1 ", std::string(options),
      " call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 0.5 } "
      "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 16 buffer { buffer: 1 } } ",
      std::string(outputs), " ", std::string(more), " } }");
}

constexpr std::string_view kToBuffer2 =
    "outputs { name: 'out' dtype: DATA_TYPE_FLOAT32 shape: 16 buffer { buffer: 2 } }";

class SessionExecutorTest : public SessionFixture {
 protected:
  void SetUp() override {
    MakeStreams();
    MakeBuffer(1, Ones());
    MakeBuffer(2, std::string(kBytes, '.'));
    MakeBuffer(3, std::string(kBytes, '\0'));
  }

  // 16 times 1.0: what Hardshrink leaves alone.
  static std::string Ones() {
    std::string bytes;
    while (bytes.size() < kBytes) bytes += std::string("\0\0\x80\x3f", 4);
    return bytes;
  }
};

TEST_F(SessionExecutorTest, PlansThenWritesABuffer) {
  const Reply planned = session().Do(Executor(1, "", kToBuffer2));
  EXPECT_GE(planned.last().executor().workspace_bytes(), 0);
  ASSERT_EQ(planned.last().executor().outputs_size(), 1);
  const v1::Tensor& out = planned.last().executor().outputs(0);
  EXPECT_EQ(out.name(), "out");
  EXPECT_EQ(out.dtype(), v1::DATA_TYPE_FLOAT32);
  EXPECT_EQ(out.shape(0), 16);
  EXPECT_EQ(session().Do("run_executor { executor: 1 stream: 1 }").answers.size(), 1u);
  EXPECT_EQ(Contents(2, kBytes), Ones());
}

TEST_F(SessionExecutorTest, TakesChoicesByName) {
  const auto loss = [](std::string_view reduction) {
    return absl::StrCat(
        "create_executor { executor: 1 context: 1 call { op: 'L1Loss' "
        "attributes { name: 'reduction' string_value: '",
        std::string(reduction),
        "' } inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 16 buffer { buffer: 1 } } "
        "inputs { name: 'target' dtype: DATA_TYPE_FLOAT32 shape: 16 buffer { buffer: 3 } } "
        "outputs { name: 'out' dtype: DATA_TYPE_FLOAT32 buffer { buffer: 2 } } } }");
  };
  const Reply refused = session().Refuse(loss("summ"), "OUT_OF_RANGE", "reduction");
  EXPECT_EQ(refused.part("want"), "0 (none), 1 (mean) or 2 (sum); did you mean \"sum\"?");
  session().Refuse(loss("none"), "SHAPE_MISMATCH", "out");
  session().Do(loss("sum"));
  session().Do("run_executor { executor: 1 stream: 1 }");
  EXPECT_EQ(Contents(2, 4), std::string("\0\0\x80\x41", 4));  // 16
}

TEST_F(SessionExecutorTest, IsConsumedOnce) {
  session().Do(Executor(1, "", kToBuffer2));
  session().Do("run_executor { executor: 1 stream: 1 }");
  const Reply reply =
      session().Refuse("run_executor { executor: 1 stream: 1 }", kInvalid, "executor");
  EXPECT_EQ(reply.part("got"), "one that was consumed");
  EXPECT_EQ(reply.part("operator"), "Hardshrink");
}

TEST_F(SessionExecutorTest, IsConsumedByAnExecutionThatFails) {
  session().Do(Executor(1, "", kToBuffer2));
  device().FailNext(Work::kKernel);
  session().Refuse("run_executor { executor: 1 stream: 1 }", kBroken, "device");
  session().Refuse("run_executor { executor: 1 stream: 2 }", kInvalid, "executor");
}

TEST_F(SessionExecutorTest, RepeatableOnOneStreamAtATime) {
  session().Do(Executor(1, "repeatable: true", kToBuffer2));
  device().Hold(Work::kKernel);
  const uint64_t one = session().Send("run_executor { executor: 1 stream: 1 }");
  const uint64_t two = session().Send("run_executor { executor: 1 stream: 1 }");
  session().Refuse("run_executor { executor: 1 stream: 2 }", kInvalid, "executor");
  device().Release(Work::kKernel);
  EXPECT_THAT(session().Await(one), IsOk());
  EXPECT_THAT(session().Await(two), IsOk());
  session().Do("synchronize { stream: 1 }");
  session().Do("run_executor { executor: 1 stream: 2 }");
}

TEST_F(SessionExecutorTest, DestroyedWithWorkWaiting) {
  session().Do(Executor(1, "", kToBuffer2));
  device().Hold(Work::kKernel);
  const uint64_t run = session().Send("run_executor { executor: 1 stream: 1 }");
  session().Do("destroy_executor { executor: 1 }");
  session().Do("free { buffer: 1 }");
  session().Refuse("run_executor { executor: 1 stream: 1 }", kInvalid, "executor");
  device().Release(Work::kKernel);
  EXPECT_THAT(session().Await(run), IsOk());
  EXPECT_EQ(Contents(2, kBytes), Ones());
}

TEST_F(SessionExecutorTest, SetTensors) {
  session().Do(Executor(1, "repeatable: true", kToBuffer2));
  session().Do("run_executor { executor: 1 stream: 1 }");
  session().Do("set_tensors { executor: 1 tensors { name: 'self' buffer { buffer: 3 } } }");
  session().Do("run_executor { executor: 1 stream: 1 }");
  EXPECT_EQ(Contents(2, kBytes), std::string(kBytes, '\0'));
  session().Do(
      "set_tensors { executor: 1 tensors { name: 'self' buffer { buffer: 1 } } "
      "tensors { name: 'out' buffer { buffer: 3 } } }");
  session().Do("run_executor { executor: 1 stream: 1 }");
  EXPECT_EQ(Contents(3, kBytes), Ones());
}

TEST_F(SessionExecutorTest, SetTensorsErrors) {
  session().Do(Executor(1, "repeatable: true", kToBuffer2));
  session().Do(Executor(2, "", kToBuffer2));
  session().Do(Executor(3, "repeatable: true", ""));
  const auto refuse = [this](int executor, std::string_view tensors, std::string_view parameter) {
    session().Refuse(
        absl::StrCat("set_tensors { executor: ", executor, " ", std::string(tensors), " }"),
        kInvalid, parameter);
  };
  refuse(2, "tensors { name: 'self' buffer { buffer: 3 } }", "executor");
  refuse(1, "tensors { name: 'nobody' buffer { buffer: 3 } }", "nobody");
  refuse(3, "tensors { name: 'out' buffer { buffer: 3 } }", "out");
  refuse(1, "tensors { name: 'self' buffer { buffer: 3 offset_bytes: 4 } }", "self");
  refuse(1, "tensors { name: 'self' buffer { buffer: 3 offset_bytes: -4 } }", "self");
  refuse(1, "tensors { name: 'self' buffer { buffer: 2 } }", "out");
  refuse(
      1,
      "tensors { name: 'self' buffer { buffer: 3 } } tensors { name: 'self' buffer { buffer: 3 } }",
      "self");
  session().Do("run_executor { executor: 1 stream: 1 }");  // all or nothing: none of these
  EXPECT_EQ(Contents(2, kBytes), Ones());
}

TEST_F(SessionExecutorTest, MadeOutputsAreSent) {
  session().Do(Executor(1, "repeatable: true", ""));
  const Reply reply = session().Do("run_executor { executor: 1 stream: 1 chunk_bytes: 24 }");
  EXPECT_EQ(reply.answers.size(), 4u);
  EXPECT_EQ(reply.bytes("out"), Ones());
  session().Refuse("quiet: true run_executor { executor: 1 stream: 1 }", kInvalid, "quiet");
  session().Refuse("run_executor { executor: 1 stream: 1 chunk_bytes: -1 }", kInvalid,
                   "chunk_bytes");
}

TEST_F(SessionExecutorTest, MadeOutputsLeaveTheirStreamGoing) {
  session().Do(Executor(1, "", ""));
  device().Hold(Work::kDownload);
  const uint64_t run = session().Send("run_executor { executor: 1 stream: 1 }");
  session().Do("fill { destination { buffer: 1 row_bytes: 64 } pattern: 'x' stream: 1 }");
  EXPECT_FALSE(session().answers().contains(run));
  device().Release(Work::kDownload);
  EXPECT_EQ(session().Await(run).bytes("out"), Ones());
}

TEST_F(SessionExecutorTest, SendOutputsHoldsTheStream) {
  session().Do(Executor(1, "", kToBuffer2));
  device().Hold(Work::kDownload);
  const uint64_t run = session().Send("run_executor { executor: 1 stream: 1 send_outputs: true }");
  const uint64_t fill =
      session().Send("fill { destination { buffer: 2 row_bytes: 64 } pattern: 'x' stream: 1 }");
  device().AwaitHeld(Work::kDownload);
  EXPECT_FALSE(session().Do("query_stream { stream: 1 }").last().stream().idle());
  device().Release(Work::kDownload);
  EXPECT_EQ(session().Await(run).bytes("out"), Ones());
  EXPECT_THAT(session().Await(fill), IsOk());
  EXPECT_EQ(Contents(2, kBytes), std::string(kBytes, 'x'));
}

TEST_F(SessionExecutorTest, StridedOutputsAreNotSent) {
  session().Do("allocate { buffer: 4 context: 1 size_bytes: 128 }");
  session().Do(Executor(1, "repeatable: true",
                        "outputs { name: 'out' dtype: DATA_TYPE_FLOAT32 shape: 16 strides: 2 "
                        "buffer { buffer: 4 } }"));
  session().Refuse("run_executor { executor: 1 stream: 1 send_outputs: true }", kInvalid, "out");
  session().Do("run_executor { executor: 1 stream: 1 }");
}

TEST_F(SessionExecutorTest, OutputsWithAnOffsetAreSent) {
  session().Do("allocate { buffer: 4 context: 1 size_bytes: 128 }");
  session().Do(
      Executor(1, "",
               "outputs { name: 'out' dtype: DATA_TYPE_FLOAT32 shape: 16 storage_offset: 3 "
               "buffer { buffer: 4 offset_bytes: 8 } }"));
  EXPECT_EQ(session().Do("run_executor { executor: 1 stream: 1 send_outputs: true }").bytes("out"),
            Ones());
}

TEST_F(SessionExecutorTest, CreationErrors) {
  session().Do("create_context { context: 2 }");
  session().Do("allocate { buffer: 5 context: 2 size_bytes: 64 }");
  const auto refuse = [this](const std::string& command, std::string_view reason,
                             std::string_view parameter) {
    session().Refuse(command, reason, parameter);
  };
  refuse(Executor(1, "", kToBuffer2, "device: 'cpu:9'"), kInvalid, "device");
  refuse(Executor(1, "", kToBuffer2, "inputs { name: 'other' buffer { buffer: 1 } }"), kInvalid,
         "other");
  refuse(
      Executor(1, "",
               "outputs { name: 'out' dtype: DATA_TYPE_FLOAT32 shape: 16 buffer { buffer: 5 } }"),
      kInvalid, "buffer");
  refuse(
      Executor(1, "",
               "outputs { name: 'out' dtype: DATA_TYPE_FLOAT32 shape: 16 buffer { buffer: 1 } }"),
      kInvalid, "out");
  refuse(Executor(1, "",
                  "outputs { name: 'out' dtype: DATA_TYPE_FLOAT32 shape: 16 strides: 0 buffer { "
                  "buffer: 2 } }"),
         kInvalid, "out");
  refuse(Executor(1, "",
                  "outputs { name: 'out' dtype: DATA_TYPE_FLOAT32 shape: 16 buffer { buffer: 2 "
                  "offset_bytes: 4 } }"),
         kInvalid, "out");
  refuse(Executor(1, "",
                  "outputs { name: 'out' dtype: DATA_TYPE_FLOAT32 shape: 8 buffer { buffer: 2 } }"),
         kInvalid, "out");
  refuse(
      "create_executor { executor: 1 context: 1 call { op: 'Hardshrink' attributes { "
      "name: "
      "'lambd' float_value: 1 } inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 1 } } }",
      kNull, "self");
}

class SessionWorkspaceTest : public SessionExecutorTest {
 protected:
  // A repeatable executor 1 that needs a workspace; returns how many bytes.
  int64_t MakeOneThatNeedsSome() {
    const Reply reply = session().Do(
        "create_executor { executor: 1 context: 1 repeatable: true call { op: 'CtcLoss' "
        "inputs { name: 'log_probs' dtype: DATA_TYPE_FLOAT32 shape: [4, 2, 2] buffer { buffer: 3 } "
        "} "
        "inputs { name: 'targets' dtype: DATA_TYPE_INT64 shape: [2, 2] buffer { buffer: 5 } } "
        "attributes { name: 'input_lengths' int_list { values: [4, 4] } } "
        "attributes { name: 'target_lengths' int_list { values: [2, 2] } } } }");
    return reply.last().executor().workspace_bytes();
  }
  void SetUp() override {
    SessionExecutorTest::SetUp();
    std::string labels;
    for (int i = 0; i < 4; ++i) labels += std::string("\1\0\0\0\0\0\0\0", 8);
    MakeBuffer(5, labels);
    session().Do("allocate { buffer: 6 context: 1 size_bytes: 65536 }");
  }
  static std::string Run(std::string_view workspace) {
    return absl::StrCat("run_executor { executor: 1 stream: 1 workspace { ", std::string(workspace),
                        " } }");
  }
};

TEST_F(SessionWorkspaceTest, MayBeTheClients) {
  const int64_t bytes = MakeOneThatNeedsSome();
  ASSERT_GT(bytes, 0);
  const Reply own = session().Do("run_executor { executor: 1 stream: 1 }");
  const Reply given = session().Do(Run("buffer: 6"));
  const Reply at_end =
      session().Do(Run(absl::StrCat("buffer: 6 offset_bytes: ", (65536 - bytes) / 64 * 64)));
  for (const Reply* reply : {&given, &at_end}) {
    EXPECT_EQ(reply->bytes("neg_log_likelihood"), own.bytes("neg_log_likelihood"));
    EXPECT_EQ(reply->bytes("log_alpha"), own.bytes("log_alpha"));
  }
  EXPECT_EQ(own.bytes("neg_log_likelihood").size(), 8u);
}

TEST_F(SessionWorkspaceTest, Errors) {
  const int64_t bytes = MakeOneThatNeedsSome();
  ASSERT_GT(bytes, 0);
  session().Do("create_context { context: 2 }");
  session().Do("allocate { buffer: 7 context: 2 size_bytes: 65536 }");
  session().Do(absl::StrCat("allocate { buffer: 8 context: 1 size_bytes: ", bytes - 1, " }"));
  session().Refuse(Run("buffer: 8"), kInvalid, "workspace");
  session().Refuse(Run("buffer: 6 offset_bytes: 8"), kInvalid, "workspace");
  session().Refuse(Run("buffer: 6 offset_bytes: 65536"), kInvalid, "workspace");
  session().Refuse(Run("buffer: 6 offset_bytes: -64"), kInvalid, "workspace");
  session().Refuse(Run("buffer: 7"), kInvalid, "buffer");
  session().Do("run_executor { executor: 1 stream: 1 }");
}

// What the data says is known in the stream's turn only.
TEST_F(SessionWorkspaceTest, ALabelOutOfRangeFailsInItsTurn) {
  MakeOneThatNeedsSome();
  session().Do(
      "fill { destination { buffer: 5 row_bytes: 32 } pattern: "
      "'\\007\\000\\000\\000\\000\\000\\000\\000' "
      "stream: 1 }");
  const uint64_t run = session().Send("run_executor { executor: 1 stream: 1 }");
  const Reply failed = session().Await(run);
  EXPECT_EQ(failed.part("code"), kInvalid);
  EXPECT_EQ(failed.part("operator"), "CtcLoss");
  EXPECT_EQ(failed.part("parameter"), "targets");
  EXPECT_EQ(failed.answers.size(), 1u);
  const Reply told = session().Await(session().Send("synchronize { stream: 1 }"));
  EXPECT_EQ(told.last().failed_command(), run);
}

}  // namespace
}  // namespace opserve::testing
