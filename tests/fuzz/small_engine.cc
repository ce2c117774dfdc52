#include "tests/fuzz/small_engine.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <semaphore>
#include <utility>
#include <vector>

#include "core/engine/plan/program_plan.h"

namespace opserve::fuzz {

Engine& SmallEngine() {
  static const std::unique_ptr<Engine> engine = [] {
    EngineOptions options{.devices = {}, .memory_limit_bytes = int64_t{5} << 18};
    for (int profile = 0; profile < kNumProfiles; ++profile)
      options.devices.push_back({.threads = 1, .profile = static_cast<Profile>(profile)});
    return *Engine::Create(options);
  }();
  return *engine;
}

absl::StatusOr<Outputs> RunToEnd(OneShot shot) {
  absl::StatusOr<Outputs> result = absl::InternalError("never called");
  std::binary_semaphore ended(0);
  shot.done = [&](absl::StatusOr<Outputs> outputs) {
    result = std::move(outputs);
    ended.release();
  };
  SmallEngine().Submit(std::move(shot));
  ended.acquire();
  return result;
}

void RequireNothingLent() {
  for (const auto& device : SmallEngine().devices())
    Require(device->memory().stats().used_bytes == 0, "the pool is empty after a call");
}

bool IsQuick(const OpCall& call) {
  constexpr int64_t kMaxElements = 1 << 16;
  std::optional<Dims> broadcast = Dims();
  int64_t most = 0;
  for (const std::optional<TensorDesc>& input : call.inputs) {
    if (!input.has_value()) continue;
    most = std::max(most, input->num_elements());
    if (broadcast.has_value()) broadcast = BroadcastShapes(*broadcast, input->shape);
  }
  if (broadcast.has_value())
    most = std::max(most, NumElements(*broadcast).value_or(kMaxElements + 1));
  for (const OutputSlot& output : call.outputs) most = std::max(most, output.desc.num_elements());
  return most <= kMaxElements;
}

bool IsQuick(const Plan& plan) {
  if (plan.program == nullptr) return IsQuick(plan.call);
  const auto& steps = plan.program->steps();
  return steps.size() <= 64 && std::all_of(steps.begin(), steps.end(), [](const auto& step) {
           return IsQuick(step.plan.call);
         });
}

grpc::ByteBuffer BufferOf(const Pieces& pieces) {
  std::vector<grpc::Slice> slices;
  for (const auto& piece : pieces.spans())
    slices.emplace_back(piece.data(), piece.size(), grpc::Slice::STATIC_SLICE);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace opserve::fuzz
