// Programs in process, on memory that is there: a chain of six element-wise steps piece by piece
// beside the same steps one after another, and beside a copy of as many bytes. Run with
// --benchmark_enable_random_interleaving and repetitions; the ratio of medians is what counts.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/base/usable_cores.h"
#include "core/engine/engine.h"
#include "core/engine/run/program_run.h"
#include "core/op/op_table.h"
#include "core/program/program.h"
#include "tests/support/run.h"
#include "tests/support/test_tensor.h"

namespace opserve {
namespace {

using testing::TestTensor;

Engine& SharedEngine() {
  static const std::unique_ptr<Engine> engine = testing::MakeEngine(UsableCores());
  return *engine;
}

// One value a step, of a network's gates; cheap ones, so that memory is what takes the time.
constexpr const char* kSteps[] = {"Relu", "Mul", "Hardtanh", "Add", "Hardsigmoid", "Mul"};

ProgramSource::Step StepOf(size_t index, const std::string& before, const TensorDesc& view) {
  ProgramSource::Step step;
  step.name = "s" + std::to_string(index);
  step.op = *FindOperator(kSteps[index]);
  for (const char* input : {"self", "other"}) {
    ProgramSource::Argument argument;
    argument.name = input;
    argument.value = before;
    argument.view = view;
    step.arguments.push_back(std::move(argument));
    if (step.op->FindInput("other") < 0) break;
  }
  return step;
}

// `together`: all shapes are one. Else every other step sees the step before as a line, and the
// next as a square again: then none of them run together.
std::shared_ptr<const Program> ChainOf(int64_t side, bool together) {
  ProgramSource source;
  source.inputs = {"x"};
  std::string before = "x";
  for (size_t i = 0; i < std::size(kSteps); ++i) {
    const bool as_line = !together && i % 2 == 0;
    const TensorDesc view{.dtype = DType::kUndefined,
                          .shape = as_line ? Dims{side * side} : Dims{side, side}};
    source.steps.push_back(StepOf(i, before, view));
    before = source.steps.back().name;
  }
  source.outputs.push_back({"y", before});
  return *Program::Make(std::move(source));
}

void Chain(benchmark::State& state, bool together) {
  const int64_t side = state.range(0);
  const std::shared_ptr<const Program> program = ChainOf(side, together);
  testing::Rng rng = testing::MakeRng(1);
  const TestTensor x = TestTensor::Random(DType::kFloat32, {side, side}, rng);
  NamedCall call;
  call.op = program.get();
  call.made = program;
  call.inputs.push_back({"x", x.desc(), 0});
  const Plan plan = *SharedEngine().MakePlan(call);
  const PooledBuffer workspace = *plan.device->memory().Acquire(plan.workspace_bytes);
  const PooledBuffer input = *plan.device->memory().Acquire(x.bytes().size());
  std::memcpy(input.data(), x.bytes().data(), x.bytes().size());
  const PooledBuffer output = *plan.device->memory().Acquire(x.bytes().size());
  const std::byte* const from = input.data();
  std::byte* const to = output.data();
  const Workers workers(plan.device->workers());
  for (auto _ : state) {
    const absl::Status status = RunProgram(*plan.program, *plan.device,
                                           {.call = plan.call,
                                            .inputs = std::span(&from, 1),
                                            .outputs = std::span(&to, 1),
                                            .workspace = {workspace.data(), plan.workspace_bytes},
                                            .workers = workers});
    if (!status.ok()) state.SkipWithError(status.ToString().c_str());
  }
  state.SetItemsProcessed(state.iterations() * side * side);
  state.counters["workspace"] = static_cast<double>(plan.workspace_bytes);
}

void Copy(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0) * state.range(0)) * sizeof(float);
  MemoryPool& memory = SharedEngine().devices().front()->memory();
  const PooledBuffer from = *memory.Acquire(bytes);
  const PooledBuffer to = *memory.Acquire(bytes);
  std::memset(from.data(), 1, bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(0));
}

BENCHMARK_CAPTURE(Chain, pieces, true)->Arg(64)->Arg(1024)->Arg(4096)->UseRealTime();
BENCHMARK_CAPTURE(Chain, one_by_one, false)->Arg(64)->Arg(1024)->Arg(4096)->UseRealTime();
BENCHMARK(Copy)->Arg(64)->Arg(1024)->Arg(4096)->UseRealTime();

}  // namespace
}  // namespace opserve
