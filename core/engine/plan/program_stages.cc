#include "core/engine/plan/program_stages.h"

#include <algorithm>

#include "core/device/device.h"

namespace opserve {
namespace {

// So that the results of one fit kPieceBytes, kPieceUnit elements at a time.
constexpr size_t kMostStepsOfAChain = 64;
static_assert(kMostStepsOfAChain * kPieceUnit * sizeof(uint64_t) <= kPieceBytes);

// What handing work to another thread is worth: shorter steps are over before it comes, longer ones
// use all threads by themselves.
constexpr absl::Duration kShortest = absl::Microseconds(20);
constexpr absl::Duration kLongest = absl::Milliseconds(1);

// Of a stage: what they make and take lies in memory at one time.
constexpr size_t kMostChainsOfAStage = 8;

class StageFinder {
 public:
  StageFinder(const TypedProgram& program, std::span<const Plan* const> plans, const Device& device)
      : program_(program), plans_(plans), device_(device), makers_(program.values.size(), kGiven) {
    for (size_t step = 0; step < plans_.size(); ++step) {
      for (size_t i = 0; i < plans_[step]->call.outputs.size(); ++i)
        makers_[static_cast<size_t>(program_.steps[step].value_of(i))] = step;
    }
  }

  std::vector<ProgramStage> Find() const {
    std::vector<ProgramStage> stages;
    for (size_t first = 0; first < plans_.size();) {
      const StepChain chain = ChainFrom(first);
      first = chain.end;
      if (!stages.empty() && GoesBeside(chain, stages.back())) {
        stages.back().push_back(chain);
      } else {
        stages.push_back({chain});
      }
    }
    return stages;
  }

 private:
  static constexpr size_t kGiven = SIZE_MAX;  // an input or a constant

  StepChain ChainFrom(size_t first) const {
    StepChain chain{.first = first, .end = first + 1};
    if (!RunsInPieces(*plans_[first])) return chain;
    chain.elements = plans_[first]->call.output(0).desc.num_elements();
    const size_t most = std::min(plans_.size(), first + kMostStepsOfAChain);
    while (chain.end < most && Continues(chain, chain.end)) ++chain.end;
    return chain;
  }

  bool RunsInPieces(const Plan& plan) const {
    const OpCall& call = plan.call;
    return device_.runs_ranges() && !plan.makes_nothing() && call.op->runs_in_pieces != nullptr &&
           call.op->runs_in_pieces(call) && call.outputs.size() == 1 &&
           call.output(0).desc.IsPlain() && plan.workspace_bytes == 0 && plan.control_bytes == 0;
  }

  bool Continues(const StepChain& chain, size_t step) const {
    if (!RunsInPieces(*plans_[step])) return false;
    const Dims& shape = plans_[chain.first]->call.output(0).desc.shape;
    const OpCall& call = plans_[step]->call;
    if (!SameShape(call.output(0).desc.shape, shape)) return false;
    const auto& sources = program_.steps[step].sources;
    for (size_t i = 0; i < sources.size(); ++i) {
      // A view of what the chain makes may need elements of other pieces.
      if (MakerOf(sources[i]) == kGiven || !chain.has(MakerOf(sources[i]))) continue;
      if (!call.inputs[i]->IsPlain() || !SameShape(call.inputs[i]->shape, shape)) return false;
    }
    return true;
  }

  bool GoesBeside(const StepChain& chain, const ProgramStage& stage) const {
    if (!device_.runs_ranges() || stage.size() == kMostChainsOfAStage) return false;
    if (!IsShort(chain) || !IsShort(stage.front())) return false;
    const StepChain all{.first = stage.front().first, .end = chain.first};
    for (size_t step = chain.first; step < chain.end; ++step) {
      for (const int source : program_.steps[step].sources)
        if (MakerOf(source) != kGiven && all.has(MakerOf(source))) return false;
    }
    return true;
  }

  bool IsShort(const StepChain& chain) const {
    absl::Duration time;
    for (size_t step = chain.first; step < chain.end; ++step) time += plans_[step]->cost.time;
    return kShortest <= time && time <= kLongest;
  }

  size_t MakerOf(int source) const {
    return source < 0 ? kGiven : makers_[static_cast<size_t>(source)];
  }

  const TypedProgram& program_;
  std::span<const Plan* const> plans_;
  const Device& device_;
  std::vector<size_t> makers_;  // the step that makes each value
};

}  // namespace

std::vector<ProgramStage> FindStages(const TypedProgram& program,
                                     std::span<const Plan* const> plans, const Device& device) {
  return StageFinder(program, plans, device).Find();
}

}  // namespace opserve
