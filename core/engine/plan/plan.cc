#include "core/engine/plan/plan.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "core/engine/plan/program_plan.h"
#include "core/engine/plan/scheduling.h"

namespace opserve {
namespace {

int64_t ListBytes(const AttributeValue& attribute) {
  const auto count = [](const auto& list) { return static_cast<int64_t>(list.capacity()); };
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&attribute)) return 8 * count(*ints);
  if (const auto* floats = std::get_if<std::vector<double>>(&attribute)) return 8 * count(*floats);
  if (const auto* bools = std::get_if<std::vector<bool>>(&attribute)) return count(*bools) / 8;
  return 0;
}

}  // namespace

int64_t HostBytes(const Plan& plan) {
  // A plan as such, with the tables and the handles that it is kept in.
  constexpr int64_t kPlanBytes = 3072;
  int64_t bytes = kPlanBytes;
  for (const AttributeValue& attribute : plan.call.attributes) bytes += ListBytes(attribute);
  return plan.program == nullptr ? bytes : bytes + plan.program->host_bytes();
}

bool Plan::makes_nothing() const {
  return program == nullptr ? kernel == nullptr : call.makes_nothing();
}

bool RunsInline(const Plan& plan) {
  return plan.cost.time <= kInlineTime && plan.device->uses_host_memory();
}

bool IsInPlace(const Plan& plan, size_t output) {
  const OutputSlot& slot = plan.call.outputs[output];
  return slot.wanted &&
         (slot.origin == OutputSlot::Origin::kGiven || plan.output_storages[output] >= 0);
}

size_t StorageAlignment(const Plan& plan, size_t storage) {
  size_t alignment = 1;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    if (plan.storages[i] == static_cast<int>(storage))
      alignment = std::max(alignment, DTypeSize(plan.call.inputs[i]->dtype));
  }
  return alignment;
}

}  // namespace opserve
