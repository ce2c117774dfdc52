#include "core/aclnn/c_function.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/op/in_place.h"

namespace opserve::aclnn {
namespace {

// A parameter of a C function before its out-parameters.
struct Argument {
  std::string name;
  std::string type;     // "const aclTensor*"
  std::string of_call;  // an expression of `c`, CallObjects: "c.in(0)"
  std::string meaning;  // "the input; f32, f16 or bf16"
};

// Of an attribute that is given by the name of a choice.
constexpr std::string_view kCName = "const char*";

std::string CType(const AttributeParam& param) {
  if (!param.c_type.empty()) return std::string(param.c_type);
  switch (param.kind) {
    case AttributeKind::kInt:
      return "int64_t";
    case AttributeKind::kFloat:
      return "double";
    case AttributeKind::kBool:
      return "bool";
    case AttributeKind::kIntList:
      return "const aclIntArray*";
    case AttributeKind::kBoolList:
      return "const aclBoolArray*";
    case AttributeKind::kScalar:
      return "const aclScalar*";
  }
  return {};
}

std::string_view GetterOf(AttributeKind kind) {
  static constexpr std::string_view kGetters[] = {"integer", "real",  "flag",
                                                  "ints",    "bools", "scalar"};
  return kGetters[static_cast<size_t>(kind)];
}

Argument TensorArgument(const TensorParam& param, std::string_view type, std::string_view getter,
                        size_t index) {
  std::string meaning =
      absl::StrCat(ToAbsl(param.summary), "; ", ToAbsl(param.shape), "; ", param.dtypes.ToString());
  if (param.presence == Presence::kOptional) meaning += "; may be null";
  return {std::string(param.name), std::string(type),
          absl::StrCat("c.", ToAbsl(getter), "(", index, ")"), std::move(meaning)};
}

Argument InputArgument(const Operator& op, size_t index) {
  const TensorParam& param = op.inputs[index];
  Argument argument = TensorArgument(param, "const aclTensor*", "in", index);
  if (OutputInPlaceOf(op, static_cast<int>(index)) >= 0)
    argument.meaning += "; changed in its place";
  return argument;
}

Argument AttributeArgument(const AttributeParam& param, size_t index) {
  std::string meaning(param.summary);
  if (!param.choices.empty()) absl::StrAppend(&meaning, "; ", ChoicesInWords(param.choices));
  if (param.range.has_value()) absl::StrAppend(&meaning, "; ", RangeInWords(*param.range));
  if (param.c_optional) meaning += "; may be null";
  const std::string_view getter = param.c_type == kCName ? "choice" : GetterOf(param.kind);
  std::string value = absl::StrCat("c.", ToAbsl(getter), "(", index, ")");
  if (!param.c_type.empty() && param.c_type != kCName)
    value = absl::StrCat("static_cast<", CType(param), ">(", value, ")");
  return {std::string(param.name), CType(param), std::move(value), std::move(meaning)};
}

// Inputs, attributes, outputs that have parameters.
std::vector<Argument> InSchemaOrder(const Operator& op) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < op.inputs.size(); ++i) arguments.push_back(InputArgument(op, i));
  for (size_t i = 0; i < op.attributes.size(); ++i)
    arguments.push_back(AttributeArgument(op.attributes[i], i));
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (InputInPlaceOf(op, static_cast<int>(i)) < 0)
      arguments.push_back(TensorArgument(op.outputs[i], "aclTensor*", "out", i));
  }
  return arguments;
}

absl::Status BadOrder(const Operator& op) {
  return WithOperator(
      InvalidParameter(
          "c_order", "each parameter once; inputs, attributes and outputs in their own orders",
          absl::StrJoin(op.c_order, ", ",
                        [](std::string* out, std::string_view name) { out->append(name); })),
      op.name);
}

absl::StatusOr<std::vector<Argument>> ArgumentsOf(const Operator& op) {
  std::vector<Argument> arguments = InSchemaOrder(op);
  if (op.c_order.empty()) return arguments;
  const auto place = [&op](const Argument& argument) {
    return std::find(op.c_order.begin(), op.c_order.end(), argument.name);
  };
  if (op.c_order.size() != arguments.size()) return BadOrder(op);
  const auto before = [&place](const Argument& a, const Argument& b) {
    return place(a) < place(b);
  };
  // What CallBuilder relies on (client/acl/objects/call_builder.h).
  const size_t ends[] = {0, op.inputs.size(), op.inputs.size() + op.attributes.size(),
                         arguments.size()};
  for (size_t kind = 0; kind < 3; ++kind) {
    const auto at = [&](size_t i) { return arguments.begin() + static_cast<ptrdiff_t>(ends[i]); };
    if (!std::is_sorted(at(kind), at(kind + 1), before)) return BadOrder(op);
  }
  std::sort(arguments.begin(), arguments.end(), before);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name != op.c_order[i]) return BadOrder(op);
  }
  return arguments;
}

// `text` in lines of at most 96 characters, each after "// "; further lines of a paragraph after
// `indent` spaces more.
std::string Comment(std::string_view text, size_t indent) {
  std::string comment;
  for (const absl::string_view paragraph : absl::StrSplit(ToAbsl(text), '\n')) {
    std::string line = "//";
    for (const absl::string_view word : absl::StrSplit(paragraph, ' ')) {
      if (line.size() + 1 + word.size() > 99) {
        absl::StrAppend(&comment, line, "\n");
        line = "//" + std::string(indent, ' ');
      }
      absl::StrAppend(&line, " ", word);
    }
    absl::StrAppend(&comment, line, "\n");
  }
  return comment;
}

// "aclnnStatus aclnnXGetWorkspaceSize(…)", one parameter a line.
std::string PhaseOneSignature(const Operator& op, const std::vector<Argument>& arguments) {
  std::string text = absl::StrCat("aclnnStatus aclnn", ToAbsl(op.name), "GetWorkspaceSize(\n");
  for (const Argument& argument : arguments)
    absl::StrAppend(&text, "    ", argument.type, " ", argument.name, ",\n");
  return text + "    uint64_t* workspace_size, aclOpExecutor** executor)";
}

constexpr char kHeader[] =
    R"(// @NAMES@, made from the schema. How the two phases go and what they
// return: aclnn/aclnn_base.h.
#ifndef OPSERVE_ACL_ACLNN_@GUARD@_H_
#define OPSERVE_ACL_ACLNN_@GUARD@_H_

// C, and CANN's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

@INCLUDE@

#ifdef __cplusplus
extern "C" {
#endif
@FUNCTIONS@
#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACLNN_@GUARD@_H_
)";

constexpr char kFunctions[] =
    R"(
@COMMENT@//
// `workspace_size`: bytes of device memory that phase two wants.
@PHASE_ONE@;

// Phase two.
aclnnStatus aclnn@X@(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
    aclrtStream stream);
)";

absl::StatusOr<std::string> Functions(const Operator& op) {
  OPSERVE_ASSIGN_OR_RETURN(const std::vector<Argument> arguments, ArgumentsOf(op));
  std::string comment = Comment(op.summary, 0) + "//\n" + Comment(op.description, 0) + "//\n";
  for (const Argument& argument : arguments)
    comment += Comment(absl::StrCat("  ", argument.name, ": ", argument.meaning), 6);
  return absl::StrReplaceAll(kFunctions, {{"@X@", ToAbsl(op.name)},
                                          {"@COMMENT@", comment},
                                          {"@PHASE_ONE@", PhaseOneSignature(op, arguments)}});
}

}  // namespace

absl::StatusOr<std::string> Header(std::span<const Operator* const> ops, std::string_view snake) {
  std::vector<std::string> names;
  std::string functions;
  for (const Operator* op : ops) {
    OPSERVE_ASSIGN_OR_RETURN(const std::string of_op, Functions(*op));
    functions += of_op;
    names.push_back(absl::StrCat("aclnn", ToAbsl(op->name)));
  }
  return absl::StrReplaceAll(kHeader, {{"@NAMES@", absl::StrJoin(names, " and ")},
                                       {"@GUARD@", absl::AsciiStrToUpper(ToAbsl(snake))},
                                       {"@INCLUDE@", "#include \"aclnn/acl_meta.h\""},
                                       {"@FUNCTIONS@", functions}});
}

absl::StatusOr<std::string> PhaseOneFunctions(std::span<const Operator* const> ops) {
  std::string text;
  for (const Operator* op : ops) {
    OPSERVE_ASSIGN_OR_RETURN(const std::vector<Argument> arguments, ArgumentsOf(*op));
    absl::StrAppend(&text, PhaseOneSignature(*op, arguments), " {\n  return GetWorkspaceSize(\"",
                    ToAbsl(op->name), "\", {workspace_size, executor}");
    for (const Argument& argument : arguments) absl::StrAppend(&text, ", ", argument.name);
    text += ");\n}\n\n";
  }
  return text;
}

absl::StatusOr<std::string> PhaseOneCalls(std::span<const Operator* const> ops) {
  std::string text;
  for (const Operator* op : ops) {
    OPSERVE_ASSIGN_OR_RETURN(const std::vector<Argument> arguments, ArgumentsOf(*op));
    absl::StrAppend(&text, "// ", ToAbsl(op->name),
                    "\n[](void* f, const CallObjects& c, uint64_t* bytes, AclExecutor** executor) "
                    "{\n  return Plan(f, bytes, executor");
    for (const Argument& argument : arguments) absl::StrAppend(&text, ", ", argument.of_call);
    text += ");\n},\n";
  }
  return text;
}

}  // namespace opserve::aclnn
