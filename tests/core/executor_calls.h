// Calls on buffers of a context, for the tests of executors.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/executor.h"
#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/manual_device.h"
#include "tests/support/signal.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_tensor.h"

namespace opserve::testing {

// A call that grows by the tensor.
class BufferCall {
 public:
  explicit BufferCall(std::string_view op) { named_.op = *FindOperator(op); }

  BufferCall& Input(std::string_view name, const TensorDesc& desc, StorageView view) {
    named_.inputs.push_back({name, desc, Add(std::move(view))});
    return *this;
  }
  BufferCall& Attribute(std::string_view name, AttributeValue value) {
    named_.attributes.push_back({name, std::move(value)});
    return *this;
  }
  BufferCall& Output(std::string_view name, const TensorDesc& desc, StorageView view) {
    NamedOutput output{.name = name};
    output.given = desc;
    output.storage = Add(std::move(view));
    named_.outputs.push_back(std::move(output));
    return *this;
  }

  NamedCall& named() { return named_; }
  const std::vector<StorageView>& storages() const { return storages_; }

 private:
  int Add(StorageView view) {
    storages_.push_back(std::move(view));
    return static_cast<int>(storages_.size()) - 1;
  }

  NamedCall named_;
  std::vector<StorageView> storages_;
};

// A context on a device whose memory the host cannot follow.
class ExecutorFixture : public ::testing::Test {
 protected:
  static constexpr int64_t kBudgetBytes = 8 << 20;

  StorageView Allocate(int64_t bytes) { return {*context_->Allocate(bytes)}; }
  StorageView Uploaded(const std::vector<std::byte>& bytes) {
    StorageView view = Allocate(static_cast<int64_t>(bytes.size()));
    EXPECT_THAT(manual_.device->Upload(All(view), Fragments(bytes)), IsOk());
    return view;
  }
  StorageView Uploaded(const TestTensor& tensor) { return Uploaded(tensor.bytes()); }
  // All of the view, to the buffer's end.
  std::vector<std::byte> Bytes(const StorageView& view) {
    const MemoryRange range = All(view);
    std::vector<std::byte> bytes(static_cast<size_t>(range.row_bytes));
    EXPECT_THAT(manual_.device->Download(range, 0, bytes), IsOk());
    return bytes;
  }
  TestTensor Downloaded(const TensorDesc& desc, const StorageView& view) {
    TestTensor tensor(desc);
    const std::vector<std::byte> bytes = Bytes(view);
    std::copy_n(bytes.begin(), static_cast<size_t>(desc.reach_bytes()), tensor.data());
    return tensor;
  }
  static MemoryRange All(const StorageView& view) {
    return {view.buffer->data() + view.offset_bytes, view.buffer->size_bytes() - view.offset_bytes};
  }

  absl::StatusOr<std::shared_ptr<Executor>> Create(BufferCall& call,
                                                   Executor::Use use = Executor::Use::kOnce) {
    return Executor::Create(*manual_.engine, context_, call.named(), call.storages(), use);
  }

  // Runs what was begun in the stream's turn; its status and outputs.
  static std::pair<absl::Status, std::vector<ExecutedOutput>> RunOn(Stream& stream,
                                                                    Execution execution) {
    Signal ended;
    std::pair<absl::Status, std::vector<ExecutedOutput>> result;
    stream.Enqueue({.id = 1,
                    .run =
                        [&result, execution = std::move(execution)]() mutable {
                          result.first = execution.Run();
                          result.second = execution.TakeOutputs();
                          return absl::OkStatus();
                        },
                    .done = [&](const absl::Status&) { ended.Notify(); }});
    ended.Wait();
    return result;
  }
  // Begins and runs; the outputs, none when that failed.
  std::vector<ExecutedOutput> Execute(Executor& executor,
                                      std::optional<StorageView> workspace = {}) {
    absl::StatusOr<Execution> execution = executor.Begin(stream_, std::move(workspace));
    EXPECT_THAT(execution, IsOk());
    if (!execution.ok()) return {};
    auto [status, outputs] = RunOn(*stream_, *std::move(execution));
    EXPECT_THAT(status, IsOk());
    return std::move(outputs);
  }

  // L1LossBackward of `count` elements, reduction none, in buffers, its output made.
  BufferCall SmallCall(int64_t count) {
    const TestTensor ones = TestTensor::Full(DType::kFloat32, {count}, 1);
    BufferCall call("L1LossBackward");
    for (const char* name : {"grad_output", "self"})
      call.Input(name, ones.desc(), Uploaded(TestTensor::Full(DType::kFloat32, {count}, 3)));
    call.Input("target", ones.desc(), Uploaded(ones)).Attribute("reduction", int64_t{0});
    return call;
  }

  FakeClock clock_;
  ManualEngine manual_ = MakeManualEngine(clock_);
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(kBudgetBytes);
  std::shared_ptr<Context> context_ = std::make_shared<Context>(*manual_.device, budget_, clock_);
  std::shared_ptr<Stream> stream_ = context_->CreateStream(Stream::OnFailure::kContinue);
};

}  // namespace opserve::testing
