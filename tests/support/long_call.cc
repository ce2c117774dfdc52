#include "tests/support/long_call.h"

#include <utility>

#include "core/op/op_table.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {

void PrintTo(const LongCall& call, std::ostream* out) {
  *out << call.call.op->name << " " << call.label;
}

TensorDesc Repeated(DType dtype, const Dims& shape) {
  TensorDesc desc = TensorDesc::Dense(dtype, shape);
  desc.strides.assign(shape.size(), 0);
  return desc;
}

OpCall Draft(std::string_view op, const std::vector<TensorDesc>& inputs,
             const std::vector<AttributeValue>& attributes) {
  OpCall call = MakeOpCall(**FindOperator(op), Profile::kHost);
  for (size_t i = 0; i < inputs.size(); ++i) call.inputs[i] = inputs[i];
  for (size_t i = 0; i < attributes.size(); ++i) call.attributes[i] = attributes[i];
  return call;
}

LongCall Planned(std::string label, OpCall call) {
  const absl::Status status = PlanCall(call);
  EXPECT_THAT(status, IsOk()) << label;
  for (OutputSlot& slot : call.outputs) slot.desc = Repeated(slot.desc.dtype, slot.desc.shape);
  return {.label = std::move(label), .call = std::move(call)};
}

}  // namespace opserve::testing
