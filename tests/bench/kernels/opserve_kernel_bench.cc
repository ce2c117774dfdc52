// opserve's kernels in process: planned once, executed on warm memory. Beside them what the
// machine's memory allows (Stream), and a whole call through the engine (PlanAndExecute).
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/usable_cores.h"
#include "core/engine/engine.h"
#include "core/op/op_table.h"
#include "core/tensor/element.h"
#include "tests/bench/kernels/bench_cases.h"
#include "tests/support/operator_test.h"

namespace opserve::bench {
namespace {

// Warm memory of the benchmark's own.
struct Tensor {
  TensorDesc desc;
  PooledBuffer bytes;
};

class Setup {
 public:
  explicit Setup(int threads) {
    EngineOptions options;
    options.devices = {DeviceSpec{.kind = "cpu", .threads = threads}};
    options.memory_limit_bytes = int64_t{4} << 30;
    engine_ = *Engine::Create(options);
  }

  Engine& engine() { return *engine_; }
  Device& device() { return *engine_->devices()[0]; }

  Tensor Empty(const TensorDesc& desc) {
    Tensor tensor{desc, *device().memory().Acquire(static_cast<size_t>(desc.size_bytes()))};
    std::memset(tensor.bytes.data(), 0, tensor.bytes.size());
    return tensor;
  }

  Tensor Of(DType dtype, const Dims& shape, const std::vector<float>& values) {
    Tensor tensor = Empty(TensorDesc::Dense(dtype, shape));
    const size_t size = DTypeSize(dtype);
    for (size_t i = 0; i < values.size(); ++i) {
      StoreElement(dtype, static_cast<double>(values[i]), tensor.bytes.data() + i * size)
          .IgnoreError();
    }
    return tensor;
  }

  Tensor Of(DType dtype, const Dims& shape, const std::vector<int64_t>& values) {
    Tensor tensor = Empty(TensorDesc::Dense(dtype, shape));
    const size_t size = DTypeSize(dtype);
    for (size_t i = 0; i < values.size(); ++i)
      StoreElement(dtype, values[i], tensor.bytes.data() + i * size).IgnoreError();
    return tensor;
  }

 private:
  std::unique_ptr<Engine> engine_;
};

// A planned call with its memory.
class KernelRun {
 public:
  KernelRun(Setup& setup, std::string_view op, std::vector<Tensor> inputs,
            std::vector<AttributeValue> attributes)
      : setup_(setup), inputs_(std::move(inputs)) {
    call_ = MakeOpCall(**FindOperator(op), Profile::kHost);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      call_.inputs[i] = inputs_[i].desc;
      input_starts_.push_back(inputs_[i].bytes.data());
    }
    input_starts_.resize(call_.inputs.size());
    for (size_t i = 0; i < attributes.size(); ++i) call_.attributes[i] = attributes[i];
    status_ = PlanCall(call_);
    if (!status_.ok()) return;
    kernel_ = setup.device().FindKernel(*call_.op);
    for (const OutputSlot& slot : call_.outputs) {
      outputs_.push_back(setup.Empty(slot.desc));
      output_starts_.push_back(outputs_.back().bytes.data());
    }
    workspace_ = *setup.device().memory().Acquire(kernel_->workspace_bytes(call_));
    control_ = *setup.device().memory().Acquire(ControlBytes(*kernel_, call_));
  }

  void Execute() {
    const Workers workers(setup_.device().workers());
    const absl::Status status =
        kernel_->execute({.call = call_,
                          .inputs = input_starts_,
                          .outputs = output_starts_,
                          .workspace = {workspace_.data(), workspace_.size()},
                          .control = {control_.data(), control_.size()},
                          .workers = workers});
    if (!status.ok()) std::abort();
  }

  const absl::Status& status() const { return status_; }
  double inputs() const { return static_cast<double>(inputs_.size()); }
  int64_t bytes() const { return call_.input_bytes() + call_.output_bytes(); }
  std::vector<Tensor>& outputs() { return outputs_; }

 private:
  Setup& setup_;
  absl::Status status_;
  OpCall call_;
  const Kernel* kernel_ = nullptr;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
  std::vector<const std::byte*> input_starts_;
  std::vector<std::byte*> output_starts_;
  PooledBuffer workspace_;
  PooledBuffer control_;
};

std::unique_ptr<KernelRun> MakeElementwise(Setup& setup, const BenchCase& c) {
  const Operator& op = **FindOperator(c.op);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < op.inputs.size(); ++i)
    inputs.push_back(setup.Of(c.dtype, {c.elements}, RandomFloats(c.elements, i)));
  return std::make_unique<KernelRun>(setup, c.op, std::move(inputs),
                                     testing::TestOf(op).measured.front().values);
}

std::unique_ptr<KernelRun> MakeTimed(Setup& setup, const BenchCase& c) {
  const Operator& op = **FindOperator(c.op);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.call->inputs.size(); ++i) {
    const Dims& shape = c.call->inputs[i];
    const int64_t count = NumElements(shape).value_or(0);
    const DTypeSet dtypes = op.inputs[i].dtypes;
    if (dtypes.Contains(DType::kFloat32)) {
      inputs.push_back(setup.Of(c.dtype, shape, RandomFloats(count, i)));
    } else {
      const DType dtype = dtypes.Contains(DType::kInt64) ? DType::kInt64 : DType::kInt32;
      inputs.push_back(setup.Of(dtype, shape, RandomIndices(count, 0, c.call->classes, i)));
    }
  }
  return std::make_unique<KernelRun>(setup, c.op, std::move(inputs), c.call->attributes);
}

std::unique_ptr<KernelRun> MakeCtcLoss(Setup& setup, const BenchCase& c) {
  const Dims shape = {c.steps, c.batch, c.classes};
  const auto log_probs = [&] {
    return setup.Of(c.dtype, shape, RandomLogProbs(c.steps * c.batch, c.classes, 1));
  };
  const auto targets = [&] {
    return setup.Of(DType::kInt64, {c.batch, c.labels},
                    RandomIndices(c.batch * c.labels, 1, c.classes, 2));
  };
  const auto batch = static_cast<size_t>(c.batch);
  const std::vector<AttributeValue> attributes = {std::vector<int64_t>(batch, c.steps),
                                                  std::vector<int64_t>(batch, c.labels), int64_t{0},
                                                  false};
  std::vector<Tensor> forward_inputs;
  forward_inputs.push_back(log_probs());
  forward_inputs.push_back(targets());
  auto forward =
      std::make_unique<KernelRun>(setup, "CtcLoss", std::move(forward_inputs), attributes);
  if (c.op == "CtcLoss") return forward;
  forward->Execute();
  std::vector<Tensor> inputs;
  inputs.push_back(setup.Of(c.dtype, {c.batch}, RandomFloats(c.batch, 3)));
  inputs.push_back(log_probs());
  inputs.push_back(targets());
  for (Tensor& output : forward->outputs()) inputs.push_back(std::move(output));
  return std::make_unique<KernelRun>(setup, c.op, std::move(inputs), attributes);
}

void RunKernel(benchmark::State& state, const BenchCase& c) {
  Setup setup(c.threads);
  const std::unique_ptr<KernelRun> run =
      c.kind == BenchCase::Kind::kElementwise ? MakeElementwise(setup, c)
      : c.kind == BenchCase::Kind::kTimed     ? MakeTimed(setup, c)
                                              : MakeCtcLoss(setup, c);
  if (!run->status().ok()) return state.SkipWithError(std::string(run->status().message()).c_str());
  for (auto _ : state) {
    run->Execute();
    benchmark::ClobberMemory();
  }
  state.counters["inputs"] = run->inputs();
  state.SetBytesProcessed(state.iterations() * run->bytes());
}

// out = Σ inputs: the plainest loop with that many reads and one write.
void RunStream(benchmark::State& state, int reads, int threads) {
  constexpr int64_t kCount = 16 << 20;
  constexpr int64_t kChunk = 32 << 10;
  Setup setup(threads);
  std::vector<Tensor> inputs;
  for (int i = 0; i < reads; ++i)
    inputs.push_back(setup.Of(DType::kFloat32, {kCount}, RandomFloats(kCount, 1)));
  Tensor output = setup.Empty(inputs[0].desc);
  const auto* a = reinterpret_cast<const float*>(inputs[0].bytes.data());
  const auto* b = reinterpret_cast<const float*>(inputs[1].bytes.data());
  const auto* c = reinterpret_cast<const float*>(inputs.back().bytes.data());
  auto* out = reinterpret_cast<float*>(output.bytes.data());
  for (auto _ : state) {
    setup.device().workers().ParallelFor(kCount / kChunk, [&](int64_t chunk) {
      const int64_t first = chunk * kChunk;
      if (reads == 2) {
        for (int64_t i = first; i < first + kChunk; ++i) out[i] = a[i] + b[i];
      } else {
        for (int64_t i = first; i < first + kChunk; ++i) out[i] = a[i] + b[i] + c[i];
      }
    });
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * (reads + 1) * kCount *
                          static_cast<int64_t>(sizeof(float)));
}

// Both phases of a call of eight elements on memory of the caller's, as ATen's out= form has it.
void RunPlanAndExecute(benchmark::State& state) {
  Setup setup(1);
  const std::vector<float> values(8, 1.0f);
  std::vector<float> gradient(8);
  const Operator& op = **FindOperator("SmoothL1LossBackward");
  const Kernel& kernel = *setup.device().FindKernel(op);
  const TensorDesc desc = TensorDesc::Dense(DType::kFloat32, Dims{4, 2});
  const auto* data = reinterpret_cast<const std::byte*>(values.data());
  auto* out = reinterpret_cast<std::byte*>(gradient.data());
  for (auto _ : state) {
    OpCall call = MakeOpCall(op, Profile::kHost);
    for (std::optional<TensorDesc>& input : call.inputs) input = desc;
    call.attributes[0] = int64_t{0};
    call.attributes[1] = 1.0;
    call.outputs[0].origin = OutputSlot::Origin::kGiven;
    call.outputs[0].desc = desc;
    if (!PlanCall(call).ok() || kernel.workspace_bytes(call) != 0) std::abort();
    const std::byte* inputs[] = {data, data, data};
    const Workers workers(setup.device().workers());
    const absl::Status status = kernel.execute({.call = call,
                                                .inputs = inputs,
                                                .outputs = {&out, 1},
                                                .workspace = {},
                                                .workers = workers});
    if (!status.ok()) std::abort();
    benchmark::ClobberMemory();
  }
}

// The same through the engine's door: names bound, inputs checked, output leased.
void RunEngine(benchmark::State& state) {
  Setup setup(1);
  const std::vector<float> values(8, 1.0f);
  const TensorDesc desc = TensorDesc::Dense(DType::kFloat32, Dims{4, 2});
  const Fragments storage{std::as_bytes(std::span(values))};
  for (auto _ : state) {
    NamedCall call;
    call.op = *FindOperator("SmoothL1LossBackward");
    call.inputs = {{"grad_out", desc, 0}, {"self", desc, 1}, {"target", desc, 2}};
    call.attributes = {{"reduction", int64_t{0}}, {"beta", 1.0}};
    OneShot shot;
    shot.plan = *setup.engine().MakePlan(call);
    shot.storages.assign(3, storage);
    shot.done = [](absl::StatusOr<Outputs> outputs) { benchmark::DoNotOptimize(outputs); };
    setup.engine().Submit(std::move(shot));
  }
}

void Register(int threads) {
  for (const BenchCase& c : AllBenchCases(threads)) {
    if (!FindOperator(c.op).ok()) continue;
    benchmark::RegisterBenchmark(c.Name().c_str(), RunKernel, c)->UseRealTime();
  }
  for (const int reads : {2, 3}) {
    for (const int count : {1, threads}) {
      const std::string name = absl::StrCat("Stream/f32/", reads, "r1w/threads:", count);
      benchmark::RegisterBenchmark(name.c_str(), RunStream, reads, count)->UseRealTime();
    }
  }
  benchmark::RegisterBenchmark("Engine/f32/8/threads:1", RunEngine)->UseRealTime();
  benchmark::RegisterBenchmark("PlanAndExecute/f32/8/threads:1", RunPlanAndExecute)->UseRealTime();
}

}  // namespace
}  // namespace opserve::bench

int main(int argc, char** argv) {
  opserve::bench::Register(opserve::UsableCores());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
