// ChunkedExecute: calls that run while their inputs arrive.
#include "server/session/chunked_call.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/server/session/session_fixture.h"
#include "tests/support/calls.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

// Of two inputs of `elements` f32 elements each that come in chunks.
std::string TwoInputs(int64_t elements) {
  return absl::StrCat("execute_chunked { call { op: 'HardshrinkBackward' ",
                      "inputs { name: 'grad_output' dtype: DATA_TYPE_FLOAT32 shape: ", elements,
                      " chunked {} } ",
                      "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: ", elements,
                      " chunked {} } ", "attributes { name: 'lambd' float_value: 0.5 } } }");
}

class SessionChunkedTest : public SessionFixture {
 protected:
  uint64_t Chunk(uint64_t call, std::string_view input, const std::string& bytes) {
    return session().Send(
        absl::StrCat("input_chunk { command: ", call, " input: '", std::string(input), "' }"),
        {bytes});
  }
  // The call's last answer is this error; so is no chunk's.
  void ExpectFailed(uint64_t call, std::string_view parameter, std::string_view got) {
    const Reply reply = session().Await(call);
    EXPECT_EQ(reply.part("code"), kInvalid) << reply.last().ShortDebugString();
    EXPECT_EQ(reply.part("operator"), "HardshrinkBackward");
    EXPECT_EQ(reply.part("parameter"), parameter) << reply.last().error().message();
    EXPECT_EQ(reply.part("got"), got) << reply.last().error().message();
    session().AwaitIdle();
    EXPECT_TRUE(session().answers().empty());
  }
};

TEST_F(SessionChunkedTest, SaysTheOutputsThenSendsTheirChunks) {
  const uint64_t call = session().Send(TwoInputs(4));
  const std::string ones = std::string("\0\0\x80\x3f", 4);
  for (int i = 0; i < 4; ++i) {
    Chunk(call, "grad_output", std::string("\0\0\x80", 3) + static_cast<char>(0x3f + i % 2));
    Chunk(call, "self", ones);
  }
  const Reply reply = session().Await(call);
  ASSERT_THAT(reply, IsOk());
  const v1::Answer& first = reply.answers.front();
  ASSERT_EQ(first.outputs().outputs_size(), 1);
  EXPECT_EQ(first.outputs().outputs(0).name(), "grad_input");
  EXPECT_EQ(first.outputs().outputs(0).data_case(), v1::Tensor::DATA_NOT_SET);
  EXPECT_EQ(reply.bytes("grad_input").size(), 16u);
  EXPECT_EQ(reply.bytes("grad_input").substr(0, 4), ones);
}

TEST_F(SessionChunkedTest, AChunkThatCameInManyFragments) {
  constexpr int kElements = 4096;
  const uint64_t call = session().Send(TwoInputs(kElements));
  session().CutEntries(24);
  std::string ones;
  for (int i = 0; i < kElements; ++i) ones.append("\0\0\x80\x3f", 4);
  Chunk(call, "self", ones);
  std::string grad;
  for (int i = 0; i < kElements; i += 64) {
    const std::string bytes = Noise(256, static_cast<uint64_t>(i));
    Chunk(call, "grad_output", bytes);
    grad.append(bytes);
  }
  EXPECT_EQ(session().Await(call).bytes("grad_input"), grad);
}

TEST_F(SessionChunkedTest, NoElements) {
  const uint64_t call = session().Send(TwoInputs(0));
  const Reply reply = session().Await(call);
  EXPECT_THAT(reply, IsOk());
  EXPECT_EQ(reply.answers.size(), 2u);
}

TEST_F(SessionChunkedTest, EmptyChunks) {
  const uint64_t call = session().Send(TwoInputs(1));
  for (const char* input : {"self", "grad_output", "self"}) Chunk(call, input, "");
  Chunk(call, "self", "1234");
  Chunk(call, "grad_output", "1234");
  EXPECT_EQ(session().Await(call).bytes("grad_input").size(), 4u);
}

TEST_F(SessionChunkedTest, ChunksThatAreNotAsTheyShouldBe) {
  limits_.max_skew_bytes = 64;
  struct Bad {
    const char* input;
    size_t bytes;
    const char* parameter;
    const char* got;
  };
  for (const Bad& bad : {Bad{"self", 7, "self", "7 bytes"}, Bad{"self", 68, "self", "68 bytes"},
                         Bad{"lambd", 4, "input", "\"lambd\""}, Bad{"", 4, "input", "\"\""},
                         Bad{"grad_input", 4, "input", "\"grad_input\""}}) {
    const uint64_t call = session().Send(TwoInputs(100));
    Chunk(call, bad.input, std::string(bad.bytes, 'x'));
    ExpectFailed(call, bad.parameter, bad.got);
  }
}

TEST_F(SessionChunkedTest, TooFarAhead) {
  limits_.max_skew_bytes = 64;
  const uint64_t call = session().Send(TwoInputs(100));
  Chunk(call, "self", std::string(40, 'x'));
  Chunk(call, "grad_output", std::string(16, 'x'));
  Chunk(call, "self", std::string(40, 'x'));  // 80 - 16: just so
  Chunk(call, "self", std::string(4, 'x'));
  ExpectFailed(call, "self", "68");
}

TEST_F(SessionChunkedTest, TooManyBytes) {
  const uint64_t call = session().Send(TwoInputs(4));
  Chunk(call, "self", std::string(16, 'x'));
  Chunk(call, "self", std::string(4, 'x'));
  ExpectFailed(call, "self", "20");
}

TEST_F(SessionChunkedTest, ChunksWantOneEntry) {
  const auto expect = [this](const std::vector<std::string>& raw, const char* parameter,
                             const char* got) {
    const uint64_t call = session().Send(TwoInputs(4));
    session().Send(absl::StrCat("input_chunk { command: ", call, " input: 'self' }"), raw);
    ExpectFailed(call, parameter, got);
  };
  expect({}, "raw_index", "0");
  expect({"1234", "1234"}, "raw", "2");
}

TEST_F(SessionChunkedTest, HalfCloseWithMissingInput) {
  const uint64_t call = session().Send(TwoInputs(4));
  Chunk(call, "self", std::string(16, 'x'));
  Chunk(call, "grad_output", std::string(8, 'x'));
  session().HalfClose();
  const Reply reply = session().Await(call);
  EXPECT_EQ(reply.part("parameter"), "grad_output");
  EXPECT_EQ(reply.part("got"), "8 before the client sent no more");
  session().AwaitIdle();
}

TEST_F(SessionChunkedTest, HalfCloseWithAllInput) {
  const uint64_t call = session().Send(TwoInputs(4));
  device().Hold(Work::kKernel);
  Chunk(call, "self", std::string(16, 'x'));
  Chunk(call, "grad_output", std::string(16, 'x'));
  session().HalfClose();
  device().Release(Work::kKernel);
  EXPECT_EQ(session().Await(call).bytes("grad_input").size(), 16u);
}

TEST_F(SessionChunkedTest, NothingFollowsTheError) {
  const uint64_t call = session().Send(TwoInputs(100));
  device().Hold(Work::kKernel);
  for (int i = 0; i < 3; ++i) {
    Chunk(call, "self", "1234");
    Chunk(call, "grad_output", "1234");
  }
  device().AwaitHeld(Work::kKernel);
  const int64_t kernels = device().begun(Work::kKernel);
  Chunk(call, "self", "odd");
  Chunk(call, "self", "late");
  device().Release(Work::kKernel);
  ExpectFailed(call, "self", "3 bytes");
  Chunk(call, "self", "late");
  Chunk(call, "nobody", "later");
  session().AwaitEmptyPools();
  EXPECT_TRUE(session().answers().empty());
  EXPECT_EQ(device().begun(Work::kKernel), kernels + 1);
}

TEST_F(SessionChunkedTest, AKernelThatFails) {
  const uint64_t call = session().Send(TwoInputs(100));
  device().FailNext(Work::kKernel);
  Chunk(call, "self", "1234");
  Chunk(call, "grad_output", "1234");
  const Reply reply = session().Await(call);
  EXPECT_EQ(reply.reason(), kBroken);
  EXPECT_EQ(reply.part("operator"), "HardshrinkBackward");
  for (int i = 0; i < 5; ++i) Chunk(call, "self", "1234");
  session().Do("create_context { context: 1 }");
  EXPECT_TRUE(session().answers().empty());
}

TEST_F(SessionChunkedTest, ChunksOfNoCall) {
  session().Refuse("input_chunk { command: 77 input: 'self' }", kInvalid, "command", {"1234"});
  session().Refuse("input_chunk { input: 'self' }", kNull, "command", {"1234"});
  const uint64_t call = session().Send(TwoInputs(1));
  Chunk(call, "self", "1234");
  Chunk(call, "grad_output", "1234");
  EXPECT_THAT(session().Await(call), IsOk());
  const uint64_t late = Chunk(call, "self", "1234");
  EXPECT_EQ(session().Await(late).part("parameter"), "command");
}

TEST_F(SessionChunkedTest, ChunksOfACallThatWasRefusedAreDropped) {
  for (const char* command : {"execute_chunked { call { op: 'Nothing' } }",
                              "quiet: true execute_chunked { call { op: 'L1Loss' } }"}) {
    const uint64_t call = session().Send(command);
    EXPECT_FALSE(session().Await(call).ok());
    Chunk(call, "self", "1234");
    session().AwaitIdle();
    EXPECT_TRUE(session().answers().empty());
  }
}

TEST_F(SessionChunkedTest, CallsThatCannotBeChunked) {
  const auto refuse = [this](std::string_view call, std::string_view parameter) {
    session().Refuse(absl::StrCat("execute_chunked { call { ", std::string(call), " } }"), kInvalid,
                     parameter);
  };
  const std::string self = "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 4 chunked {} } ";
  const std::string target =
      "inputs { name: 'target' dtype: DATA_TYPE_FLOAT32 values { floats: 1 } shape: 1 } ";
  refuse("op: 'L1Loss' " + self + target, "operator");  // a mean
  refuse("op: 'L1Loss' " + target +
             "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 1 values { floats: 1 } } "
             "attributes { name: 'reduction' int_value: 0 }",
         "chunked");
  refuse("op: 'L1Loss' " + self +
             "inputs { name: 'target' dtype: DATA_TYPE_FLOAT32 shape: 1 chunked {} } "
             "attributes { name: 'reduction' int_value: 0 }",
         "target");
  refuse(
      "op: 'Hardshrink' inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: [2, 2] "
      "strides: "
      "[1, 2] chunked {} } attributes { name: 'lambd' float_value: 1 }",
      "self");
}

TEST_F(SessionChunkedTest, WholeInputsAndBudget) {
  limits_.memory_limit_bytes = 100;
  limits_.max_skew_bytes = 64;
  const Reply reply = session().Refuse(TwoInputs(4), kLimit, "max_skew_bytes");
  EXPECT_EQ(reply.part("operator"), "HardshrinkBackward");
}

// Every piece would copy it again.
TEST(ChunkedCallTest, AWholeInputThatLiesBesideItsAlignmentIsMovedOnce) {
  constexpr ClientId kClient{1};
  EngineOptions options;
  options.memory_limit_bytes = 1 << 20;
  options.client_share = 0.5;
  const std::unique_ptr<Engine> engine = *Engine::Create(options);
  const OpCase op_case = CallOf("HardshrinkBackward", {Floats({1, 2}), Floats({3, 4})}, {0.5});
  const std::span<const std::byte> grad = op_case.inputs[0]->bytes();
  std::vector<std::byte> beside(op_case.inputs[1]->bytes().size() + 1);
  std::memcpy(beside.data() + 1, op_case.inputs[1]->bytes().data(), beside.size() - 1);
  server::ChunkedCall::Declared declared;
  declared.plan = *engine->MakePlan(ToNamedCall(op_case));
  declared.storages.fragments = {Fragments(grad), Fragments(std::span(beside).subspan(1))};
  ASSERT_THAT(declared.GatherWholeInputs(kClient), IsOk());
  ASSERT_EQ(declared.gathered.size(), 1u);
  EXPECT_EQ(declared.storages.fragments[0].pieces()[0].data(), grad.data());
  const Fragments& moved = declared.storages.fragments[1];
  EXPECT_TRUE(moved.LiesAligned(sizeof(float)));
  EXPECT_EQ(std::memcmp(moved.pieces()[0].data(), beside.data() + 1, beside.size() - 1), 0);
  // Of the client's half.
  MemoryPool& memory = engine->devices()[0]->memory();
  EXPECT_FALSE(memory.Acquire(512 << 10, {.client = kClient}).ok());
  EXPECT_THAT(memory.Acquire(512 << 10), IsOk());
}

}  // namespace
}  // namespace opserve::testing
