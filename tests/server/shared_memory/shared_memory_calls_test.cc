// Calls on shared memory, on a real server.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

#include <opserve/shared_memory.h>

#include "absl/time/clock.h"
#include "tests/server/held_worker.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using client::SharedMemory;

constexpr int64_t kSize = 32;  // of a tensor of the sample
constexpr int64_t kLarge = 1 << 20;

void Place(v1::Tensor& tensor, const SharedMemory& memory, int64_t offset, int64_t size) {
  v1::SharedView& view = *tensor.mutable_shared();
  view.set_region(memory.id());
  view.set_offset_bytes(offset);
  view.set_size_bytes(size);
}

// The inputs of `request` moved to `memory`, from `offset` on, and its output behind them.
v1::ExecuteRequest Move(v1::ExecuteRequest request, const SharedMemory& memory, int64_t offset) {
  for (v1::Tensor& tensor : *request.mutable_call()->mutable_inputs()) {
    const std::string& bytes = request.raw(static_cast<int>(tensor.raw_index()));
    const auto size = static_cast<int64_t>(bytes.size());
    std::ranges::copy(std::as_bytes(std::span(bytes)),
                      memory.bytes().begin() + static_cast<std::ptrdiff_t>(offset));
    Place(tensor, memory, offset, size);
    offset += size;
  }
  const int64_t size = request.call().inputs(0).shared().size_bytes();
  v1::Tensor& output = *request.mutable_call()->add_outputs();
  output.set_name("grad_input");
  Place(output, memory, offset, size);
  request.clear_raw();
  return request;
}

std::vector<double> ElementsAt(const SharedMemory& memory, int64_t offset, int64_t count) {
  const std::span<float> values =
      memory.As<float>(static_cast<size_t>(offset), static_cast<size_t>(count));
  return {values.begin(), values.end()};
}

// A call whose tensors have 2^20 elements: it goes to the workers.
v1::ExecuteRequest LargeRequest() {
  v1::ExecuteRequest request = SampleRequest();
  for (v1::Tensor& tensor : *request.mutable_call()->mutable_inputs()) {
    tensor.clear_shape();
    tensor.add_shape(kLarge);
  }
  for (std::string& raw : *request.mutable_raw())
    raw = BytesOf(v1::DATA_TYPE_FLOAT32, std::vector<double>(kLarge, 3));
  return request;
}

class SharedMemoryCallsTest : public ServerTest {
 protected:
  SharedMemoryCallsTest() {
    config_.shared_memory = {.socket = (folder_ / "memory").string(), .limit_bytes = 64 << 20};
  }

  SharedMemory Memory(int64_t size = 1 << 16) {
    return *SharedMemory::Create((folder_ / "memory").string(), size);
  }

  void ExpectRefused(const v1::ExecuteRequest& request, const std::string& parameter) {
    const auto answer = tcp().Execute(request);
    EXPECT_EQ(answer.aclnn_code(), "161002") << answer.message;
    EXPECT_EQ(answer.parameter(), parameter) << answer.message;
    v1::ExecuteBatchRequest batch;
    *batch.add_calls() = request.call();
    const auto of_batch = tcp().ExecuteBatch(batch);
    ASSERT_THAT(of_batch, IsOk());
    EXPECT_EQ(of_batch.response.results(0).error().message(), answer.message);
  }

  v1::SharedMemoryStatistics Statistics() { return tcp().GetStatistics().response.shared_memory(); }

  void ExpectRegions(int64_t count) {
    for (int i = 0; i < 20'000 && Statistics().regions() != count; ++i)
      absl::SleepFor(absl::Milliseconds(1));
    EXPECT_EQ(Statistics().regions(), count);
  }
};

TEST_F(SharedMemoryCallsTest, ReadsAndWritesWhereTheTensorsLie) {
  const SharedMemory memory = Memory();
  for (const int64_t offset : {0, 4, 20, 4096}) {
    const auto answer = unix_socket().Execute(Move(SampleRequest(), memory, offset));
    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(answer.response.raw_size(), 0);
    ASSERT_EQ(answer.response.outputs_size(), 1);
    EXPECT_EQ(answer.response.outputs(0).shape(0), 4);
    EXPECT_EQ(answer.response.outputs(0).shared().offset_bytes(), offset + 3 * kSize);
    EXPECT_EQ(ElementsAt(memory, offset + 3 * kSize, 8), SampleGradient());
  }
  ExpectAliveAndEmpty();
}

TEST_F(SharedMemoryCallsTest, MixesWithMessagesAndOtherEncodings) {
  const SharedMemory memory = Memory();
  v1::ExecuteRequest request = Move(SampleRequest(), memory, 0);
  request.mutable_call()->clear_outputs();
  *request.mutable_call()->mutable_inputs(1) = SampleRequest().call().inputs(1);
  request.mutable_call()->mutable_inputs(1)->set_raw_index(0);
  *request.add_raw() = SampleRequest().raw(1);
  v1::Tensor& target = *request.mutable_call()->mutable_inputs(2);
  for (int i = 0; i < 8; ++i) target.mutable_values()->add_floats(1);
  auto answer = tcp().Execute(request);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(OutputOf(answer.response), SampleGradient());
  request = Move(SampleRequest(), memory, 0);
  request.set_output_encoding(v1::TENSOR_ENCODING_VALUES);
  answer = tcp().Execute(request);
  ASSERT_THAT(answer, IsOk());
  EXPECT_FALSE(answer.response.outputs(0).has_values());
  EXPECT_EQ(ElementsAt(memory, 3 * kSize, 8), SampleGradient());
}

TEST_F(SharedMemoryCallsTest, StridedInputsLookIntoTheRegion) {
  const SharedMemory memory = Memory();
  v1::ExecuteRequest request = Move(SampleRequest(), memory, 0);
  // The four columns of [2, 4], transposed.
  const std::span<float> self = memory.As<float>(1024, 8);
  for (size_t i = 0; i < 8; ++i) {
    const size_t value = i / 4 + 2 * (i % 4);
    self[i] = static_cast<float>(value);
  }
  v1::Tensor& tensor = *request.mutable_call()->mutable_inputs(1);
  ASSERT_EQ(tensor.name(), "self");
  tensor.add_strides(1);
  tensor.add_strides(4);
  Place(tensor, memory, 1024, kSize);
  const auto answer = tcp().Execute(request);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(ElementsAt(memory, 3 * kSize, 8), SampleGradient());
}

TEST_F(SharedMemoryCallsTest, EmptyTensorsAndMaskedOutputsNeedNoMemory) {
  const SharedMemory memory = Memory();
  v1::ExecuteRequest request = Move(SampleRequest(), memory, 0);
  for (v1::Tensor& tensor : *request.mutable_call()->mutable_inputs()) {
    tensor.set_shape(0, 0);
    tensor.mutable_shared()->set_size_bytes(0);
  }
  v1::Tensor& output = *request.mutable_call()->mutable_outputs(0);
  Place(output, memory, 1 << 16, 0);
  const auto answer = tcp().Execute(request);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer.response.outputs(0).shape(0), 0);
}

TEST_F(SharedMemoryCallsTest, ViewsLieInsideAndAligned) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const SharedMemory memory = Memory();
  const v1::ExecuteRequest good = Move(SampleRequest(), memory, 0);
  struct Bad {
    int64_t offset;
    int64_t size;
  };
  for (const Bad& bad :
       {Bad{-4, kSize}, Bad{1 << 16, kSize}, Bad{(1 << 16) - kSize + 4, kSize}, Bad{kMax, kSize},
        Bad{kMax - 3, 8}, Bad{0, kMax}, Bad{4, kMax}, Bad{4, kMax - 3}, Bad{0, -1},
        Bad{std::numeric_limits<int64_t>::min(), kSize}, Bad{kMax - 31, kMax - 31},
        Bad{512, kSize - 4}, Bad{512, kSize + 4}, Bad{512, 0}, Bad{514, kSize}, Bad{513, kSize}}) {
    v1::ExecuteRequest request = good;
    Place(*request.mutable_call()->mutable_inputs(1), memory, bad.offset, bad.size);
    ExpectRefused(request, "self");
    request = good;
    Place(*request.mutable_call()->mutable_outputs(0), memory, bad.offset, bad.size);
    ExpectRefused(request, "grad_input");
  }
  ExpectAliveAndEmpty();
}

TEST_F(SharedMemoryCallsTest, OutputsOverlapNothing) {
  const SharedMemory memory = Memory();
  v1::ExecuteRequest request = Move(SampleRequest(), memory, 0);
  for (const int64_t offset : {0, 4, 28, 32, 64, 92}) {
    Place(*request.mutable_call()->mutable_outputs(0), memory, offset, kSize);
    ExpectRefused(request, "grad_input");
  }
  Place(*request.mutable_call()->mutable_outputs(0), memory, 3 * kSize, kSize);
  EXPECT_THAT(tcp().Execute(request), IsOk());
}

TEST_F(SharedMemoryCallsTest, UnknownRegionsAreRefused) {
  const SharedMemory memory = Memory();
  const v1::ExecuteRequest good = Move(SampleRequest(), memory, 0);
  std::string flipped = memory.id();
  flipped[15] = static_cast<char>(flipped[15] ^ 1);
  for (const std::string& id :
       {std::string(), std::string("x"), std::string(16, '\0'), flipped, memory.id() + "x",
        memory.id().substr(0, 15), std::string(100'000, 'x')}) {
    v1::ExecuteRequest request = good;
    request.mutable_call()->mutable_inputs(0)->mutable_shared()->set_region(id);
    ExpectRefused(request, "grad_out");
  }
}

TEST_F(SharedMemoryCallsTest, OnlyWhereItBelongs) {
  const SharedMemory memory = Memory();
  const v1::ExecuteRequest good = Move(SampleRequest(), memory, 0);
  v1::ExecuteRequest request = good;
  v1::Tensor& beta = *request.mutable_call()->add_inputs();
  beta.set_name("beta");
  beta.set_dtype(v1::DATA_TYPE_FLOAT32);
  Place(beta, memory, 0, 4);
  request.mutable_call()->mutable_attributes()->RemoveLast();
  ExpectRefused(request, "beta");
  v1::GetWorkspaceSizeRequest plan;
  *plan.mutable_call() = good.call();
  EXPECT_THAT(tcp().GetWorkspaceSize(plan), IsOk());
  request = good;
  request.mutable_call()->mutable_outputs(0)->add_strides(1);
  ExpectRefused(request, "grad_input");
}

TEST_F(SharedMemoryCallsTest, BatchesUseItToo) {
  const SharedMemory memory = Memory();
  v1::ExecuteBatchRequest batch;
  for (const int64_t offset : {0, 256, 512})
    *batch.add_calls() = Move(SampleRequest(), memory, offset).call();
  AddToBatch(batch, SampleRequest());
  v1::ExecuteRequest bad = Move(SampleRequest(), memory, 1024);
  bad.mutable_call()->mutable_outputs(0)->mutable_shared()->set_offset_bytes(1024);
  *batch.add_calls() = bad.call();
  for (const v1::TensorEncoding encoding : {v1::TENSOR_ENCODING_RAW, v1::TENSOR_ENCODING_VALUES}) {
    batch.set_output_encoding(encoding);
    std::ranges::fill(memory.bytes().subspan(3 * kSize, kSize), std::byte{0});
    const auto answer = tcp().ExecuteBatch(batch);
    ASSERT_THAT(answer, IsOk());
    for (int i = 0; i < 3; ++i) {
      const v1::Tensor& output = answer.response.results(i).outputs(0);
      const int64_t offset = int64_t{256} * i + int64_t{3} * kSize;
      EXPECT_EQ(output.shared().offset_bytes(), offset);
      EXPECT_EQ(ElementsAt(memory, offset, 8), SampleGradient());
    }
    EXPECT_EQ(OutputOf(ResultOf(answer.response, 3)), SampleGradient());
    EXPECT_TRUE(answer.response.results(4).has_error());
  }
}

TEST_F(SharedMemoryCallsTest, TwoClientsHaveMemoryOfTheirOwn) {
  const SharedMemory first = Memory();
  std::optional<SharedMemory> second = Memory();
  EXPECT_NE(first.id(), second->id());
  v1::ExecuteRequest both = Move(SampleRequest(), first, 0);
  std::ranges::copy(first.bytes().first(kSize), second->bytes().begin());
  Place(*both.mutable_call()->mutable_inputs(0), *second, 0, kSize);
  EXPECT_THAT(tcp().Execute(both), IsOk());
  EXPECT_EQ(Statistics().regions(), 2);
  EXPECT_EQ(Statistics().bytes(), 2 << 16);
  second.reset();
  ExpectRegions(1);
  ExpectRefused(both, "grad_out");
  EXPECT_THAT(tcp().Execute(Move(SampleRequest(), first, 0)), IsOk());
}

TEST_F(SharedMemoryCallsTest, ARegionThatEndsWhileCallsWaitLivesUntilTheyEnd) {
  std::optional<SharedMemory> memory = Memory(32 << 20);
  const v1::ExecuteRequest request = Move(LargeRequest(), *memory, 0);
  HeldWorker first(server().engine().devices()[0]->workers());
  HeldWorker second(server().engine().devices()[0]->workers());
  PendingCall call(server().addresses()[0], request);
  call.RoundTrip();
  for (int i = 0; i < 20'000 && server().engine().statistics().calls_in_flight == 0; ++i)
    absl::SleepFor(absl::Milliseconds(1));
  memory.reset();
  // No call finds it any more, but it is there.
  for (int i = 0;
       i < 20'000 && tcp().Execute(request, absl::Milliseconds(100)).aclnn_code() != "161002";
       ++i) {
  }
  EXPECT_EQ(Statistics().regions(), 1);
  first.Release();
  second.Release();
  const auto answer = call.Wait();
  EXPECT_THAT(answer, IsOk());
  ExpectRegions(0);
  EXPECT_EQ(Statistics().bytes(), 0);
  ExpectAliveAndEmpty();
}

TEST_F(SharedMemoryCallsTest, ServerInfoTells) {
  const auto info = tcp().GetServerInfo();
  EXPECT_EQ(info.response.shared_memory_socket(), (folder_ / "memory").string());
  EXPECT_EQ(info.response.shared_memory_limit_bytes(), 64 << 20);
}

class NoSharedMemoryTest : public ServerTest {};

TEST_F(NoSharedMemoryTest, IsTheDefault) {
  v1::ExecuteRequest request = SampleRequest();
  request.mutable_call()->mutable_inputs(1)->mutable_shared()->set_region(std::string(16, 'x'));
  request.mutable_raw()->DeleteSubrange(1, 1);
  request.mutable_call()->mutable_inputs(2)->set_raw_index(1);
  const auto answer = tcp().Execute(request);
  EXPECT_EQ(answer.code, "FAILED_PRECONDITION") << answer.message;
  EXPECT_EQ(answer.info.reason(), "SHARED_MEMORY_DISABLED");
  EXPECT_EQ(answer.parameter(), "self");
  const auto info = tcp().GetServerInfo();
  EXPECT_EQ(info.response.shared_memory_socket(), "");
  EXPECT_EQ(info.response.shared_memory_limit_bytes(), 0);
  EXPECT_FALSE(tcp().GetStatistics().response.has_shared_memory());
  ExpectAliveAndEmpty();
}

}  // namespace
}  // namespace opserve::testing
