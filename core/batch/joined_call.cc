#include "core/batch/joined_call.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/status_macros.h"

namespace opserve {
namespace {

template <typename Number>
void AppendBytes(const Number& number, std::string& key) {
  static_assert(std::is_trivially_copyable_v<Number>);
  key.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Its kind is its parameter's. Floats by their bits.
void AppendAttribute(const AttributeValue& attribute, std::string& key) {
  AppendBytes(attribute.index(), key);
  std::visit(
      [&key](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<Value>) {
          AppendBytes(value, key);
        } else if constexpr (!std::is_same_v<Value, std::monostate>) {
          AppendBytes(value.size(), key);
          for (const auto element : value) AppendBytes(element, key);
        }
      },
      attribute);
}

bool IsPlainThroughout(const OpCall& call) {
  if (call.outputs.empty() || call.output(0).desc.num_elements() == 0) return false;
  const Dims& shape = call.output(0).desc.shape;
  const auto is_plain = [&shape](const TensorDesc& desc) {
    return desc.IsPlain() && SameShape(desc.shape, shape);
  };
  return std::all_of(call.inputs.begin(), call.inputs.end(),
                     [&](const auto& input) { return !input.has_value() || is_plain(*input); }) &&
         std::all_of(call.outputs.begin(), call.outputs.end(), [&](const OutputSlot& output) {
           return output.wanted && output.origin == OutputSlot::Origin::kInferred &&
                  is_plain(output.desc);
         });
}

}  // namespace

std::string JoinKey(const OpCall& call, const Concatenation& concatenation) {
  const Operator& op = *call.op;
  if (op.runs_in_pieces == nullptr || !op.runs_in_pieces(call) || !IsPlainThroughout(call) ||
      !concatenation.is_of_elements(call) ||
      call.input_bytes() + call.output_bytes() > concatenation.max_bytes) {
    return {};
  }
  std::string key(op.name);
  key.push_back('\0');
  for (const auto& input : call.inputs)
    AppendBytes(input.has_value() ? input->dtype : DType::kUndefined, key);
  for (const OutputSlot& output : call.outputs) AppendBytes(output.desc.dtype, key);
  for (const AttributeValue& attribute : call.attributes) AppendAttribute(attribute, key);
  return key;
}

int64_t JoinedElements(const OpCall& call) { return call.output(0).desc.num_elements(); }

absl::StatusOr<OpCall> JoinedCall(const OpCall& one, int64_t elements) {
  OpCall joined = MakeOpCall(*one.op, one.profile);
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    if (one.inputs[i].has_value())
      joined.inputs[i] = TensorDesc::Dense(one.inputs[i]->dtype, {&elements, 1});
  }
  joined.attributes = one.attributes;
  for (size_t i = 0; i < one.outputs.size(); ++i)
    joined.outputs[i].requested_dtype = one.outputs[i].desc.dtype;
  OPSERVE_RETURN_IF_ERROR(PlanCall(joined));
  return joined;
}

}  // namespace opserve
