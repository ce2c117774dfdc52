#include "core/backends/ascend/operators.h"

namespace opserve::ascend {
namespace {

// The types of `arguments` are those of the C function's parameters.
template <typename... Arguments>
int32_t Plan(void* function, uint64_t* workspace_bytes, AclExecutor** executor,
             Arguments... arguments) {
  using Function = int32_t(Arguments..., uint64_t*, AclExecutor**);
  return reinterpret_cast<Function*>(function)(arguments..., workspace_bytes, executor);
}

int32_t L1Loss(void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.in(1), c.integer(0), c.out(0));
}

int32_t L1LossBackward(void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.in(1), c.in(2), c.integer(0), c.out(0));
}

int32_t SmoothL1Loss(void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.in(1), c.integer(0), static_cast<float>(c.real(1)),
              c.out(0));
}

int32_t SmoothL1LossBackward(void* f, const CallObjects& c, uint64_t* bytes,
                             AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.in(1), c.in(2), c.integer(0),
              static_cast<float>(c.real(1)), c.out(0));
}

int32_t Hardshrink(void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.scalar(), c.out(0));
}

int32_t HardshrinkBackward(void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.in(1), c.scalar(), c.out(0));
}

int32_t GroupNorm(void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.in(1), c.in(2), c.integer(0), c.integer(1),
              c.integer(2), c.integer(3), c.real(4), c.out(0), c.out(1), c.out(2));
}

int32_t GroupNormBackward(void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.in(1), c.in(2), c.in(3), c.in(4), c.integer(0),
              c.integer(1), c.integer(2), c.integer(3), c.bools(), c.out(0), c.out(1), c.out(2));
}

int32_t CtcLoss(void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.in(1), c.ints(0), c.ints(1), c.integer(2), c.flag(3),
              c.out(0), c.out(1));
}

int32_t CtcLossBackward(void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) {
  return Plan(f, bytes, executor, c.in(0), c.in(1), c.in(2), c.ints(0), c.ints(1), c.in(3), c.in(4),
              c.integer(2), c.flag(3), c.out(0));
}

struct Row {
  std::string_view name;
  PhaseOne phase_one;
};

constexpr Row kRows[] = {{"L1Loss", L1Loss},
                         {"L1LossBackward", L1LossBackward},
                         {"SmoothL1Loss", SmoothL1Loss},
                         {"SmoothL1LossBackward", SmoothL1LossBackward},
                         {"Hardshrink", Hardshrink},
                         {"HardshrinkBackward", HardshrinkBackward},
                         {"GroupNorm", GroupNorm},
                         {"GroupNormBackward", GroupNormBackward},
                         {"CtcLoss", CtcLoss},
                         {"CtcLossBackward", CtcLossBackward}};

}  // namespace

PhaseOne FindPhaseOne(const Operator& op) {
  for (const Row& row : kRows) {
    if (row.name == op.name) return row.phase_one;
  }
  return nullptr;
}

}  // namespace opserve::ascend
