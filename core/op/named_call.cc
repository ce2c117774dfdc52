#include "core/op/named_call.h"

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve {
namespace {

template <typename Param>
absl::Status Unknown(std::span<const Param> params, std::string_view kind, std::string_view name) {
  if (params.empty())
    return UnknownParameter(name.empty() ? kind : name, absl::StrCat("no ", std::string(kind)),
                            absl::StrCat("an ", std::string(kind), " of this name"));
  std::vector<std::string_view> names;
  std::string want = absl::StrCat("an ", std::string(kind), " of the operator (");
  // A program may have hundreds.
  constexpr size_t kMaxListed = 16;
  for (const Param& param : params) {
    if (names.size() < kMaxListed)
      absl::StrAppend(&want, names.empty() ? "" : ", ", std::string(param.name));
    names.push_back(param.name);
  }
  want.append(names.size() > kMaxListed ? ", …)" : ")");
  want.append(DidYouMean(name, names));
  return UnknownParameter(
      name.empty() ? kind : name, want,
      name.empty() ? "an empty name" : absl::StrCat("unknown ", std::string(kind)));
}

// Where the argument called `name` goes; an error when the schema lacks it.
template <typename Param>
absl::StatusOr<size_t> Position(std::span<const Param> params, std::string_view kind,
                                std::string_view name) {
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].name == name) return i;
  }
  return Unknown(params, kind, name);
}

absl::Status Repeated(std::string_view name) {
  return InvalidParameter(name, "it once", "it twice");
}

absl::Status BindInputs(const NamedCall& named, BoundCall& bound) {
  const Operator& op = *bound.call.op;
  for (const NamedInput& input : named.inputs) {
    OPSERVE_ASSIGN_OR_RETURN(const size_t i, Position(op.inputs, "input", input.name));
    if (bound.call.inputs[i].has_value()) return Repeated(input.name);
    bound.call.inputs[i] = input.desc;
    bound.storages[i] = input.storage;
  }
  return absl::OkStatus();
}

// The value of an attribute's choice called `name`.
absl::StatusOr<int64_t> ChoiceCalled(const AttributeParam& param, std::string_view name) {
  std::vector<std::string_view> names;
  for (const AttributeChoice& choice : param.choices) {
    if (choice.name == name) return choice.value;
    names.push_back(choice.name);
  }
  return OutOfRange(param.name,
                    absl::StrCat(ChoicesInWords(param.choices), DidYouMean(name, names)),
                    Quoted(name));
}

absl::Status BindAttributes(const NamedCall& named, OpCall& call) {
  for (const NamedAttribute& attribute : named.attributes) {
    OPSERVE_ASSIGN_OR_RETURN(const size_t i,
                             Position(call.op->attributes, "attribute", attribute.name));
    if (IsGiven(call.attributes[i])) return Repeated(attribute.name);
    if (!IsGiven(attribute.value)) {
      return InvalidParameter(attribute.name, AttributeKindInWords(call.op->attributes[i].kind),
                              "no value");
    }
    const AttributeParam& param = call.op->attributes[i];
    const std::string* const choice = std::get_if<std::string>(&attribute.value);
    if (choice == nullptr || param.choices.empty()) {
      call.attributes[i] = attribute.value;
    } else {
      OPSERVE_ASSIGN_OR_RETURN(call.attributes[i], ChoiceCalled(param, *choice));
    }
  }
  return absl::OkStatus();
}

absl::Status BindOutputs(const NamedCall& named, BoundCall& bound) {
  OpCall& call = bound.call;
  absl::InlinedVector<bool, 4> seen(call.outputs.size(), false);
  for (const NamedOutput& output : named.outputs) {
    OPSERVE_ASSIGN_OR_RETURN(const size_t i, Position(call.op->outputs, "output", output.name));
    if (seen[i]) return Repeated(output.name);
    seen[i] = true;
    bound.output_storages[i] = output.storage;
    OutputSlot& slot = call.outputs[i];
    if (output.missing) {
      slot.origin = OutputSlot::Origin::kMissing;
    } else if (output.given.has_value()) {
      slot.origin = OutputSlot::Origin::kGiven;
      slot.desc = *output.given;
    } else {
      slot.requested_dtype = output.dtype;
      slot.requested_shape = output.shape;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BoundCall> Bind(const NamedCall& named, Profile profile) {
  const Operator& op = *named.op;
  BoundCall bound;
  bound.call = MakeOpCall(op, profile);
  bound.storages.assign(op.inputs.size(), -1);
  bound.output_storages.assign(op.outputs.size(), -1);
  OPSERVE_RETURN_IF_ERROR(BindInputs(named, bound));
  OPSERVE_RETURN_IF_ERROR(BindAttributes(named, bound.call));
  OPSERVE_RETURN_IF_ERROR(BindOutputs(named, bound));
  return bound;
}

}  // namespace

absl::StatusOr<BoundCall> BindCall(const NamedCall& named, Profile profile) {
  absl::StatusOr<BoundCall> bound = Bind(named, profile);
  if (bound.ok()) return bound;
  return WithOperator(bound.status(), named.op->name);
}

}  // namespace opserve
