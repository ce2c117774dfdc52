#include "server/http/playground/setting.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

// Of an attribute that has no default.
AttributeValue FirstValue(const AttributeParam& attribute) {
  if (!attribute.choices.empty()) return attribute.choices[0].value;
  switch (attribute.kind) {
    case AttributeKind::kInt:
      return int64_t{1};
    case AttributeKind::kFloat:
    case AttributeKind::kScalar:
      return 1.0;
    case AttributeKind::kBool:
      return false;
    case AttributeKind::kIntList:
    case AttributeKind::kBoolList:
      return std::monostate();
  }
  return std::monostate();
}

bool IsPlayable(const Engine& engine, const Setting& setting) {
  const absl::StatusOr<Plan> plan = engine.MakePlan(CallOf(setting));
  return plan.ok() && setting.op->runs_in_pieces(plan->call);
}

absl::StatusOr<double> ReadNumber(std::string_view argument, std::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(ToAbsl(text), &number))
    return InvalidParameter(argument, "a number", Quoted(text.substr(0, 40)));
  return number;
}

absl::StatusOr<AttributeValue> ReadChoice(const AttributeParam& attribute,
                                          std::string_view argument, std::string_view text) {
  const auto found =
      std::find_if(attribute.choices.begin(), attribute.choices.end(),
                   [text](const AttributeChoice& choice) { return choice.name == text; });
  if (found == attribute.choices.end()) {
    return InvalidParameter(argument, ChoicesInWords(attribute.choices),
                            Quoted(text.substr(0, 40)));
  }
  return found->value;
}

absl::StatusOr<AttributeValue> ReadAttribute(const AttributeParam& attribute,
                                             std::string_view argument, std::string_view text) {
  if (!attribute.choices.empty()) return ReadChoice(attribute, argument, text);
  if (attribute.kind == AttributeKind::kBool) {
    if (text != "true" && text != "false")
      return InvalidParameter(argument, "true or false", Quoted(text.substr(0, 40)));
    return text == "true";
  }
  OPSERVE_ASSIGN_OR_RETURN(const double number, ReadNumber(argument, text));
  if (attribute.kind != AttributeKind::kInt) return number;
  if (number != std::floor(number) || std::fabs(number) > kMostSwept)
    return InvalidParameter(argument, "an int of at most six digits", Quoted(text.substr(0, 40)));
  return static_cast<int64_t>(number);
}

bool IsList(const AttributeParam& attribute) {
  return attribute.kind == AttributeKind::kIntList || attribute.kind == AttributeKind::kBoolList;
}

absl::Status ReadRange(const HttpRequest& request, Setting& setting) {
  for (auto [name, value] : {std::pair{"from", &setting.from}, std::pair{"to", &setting.to}}) {
    const std::string_view text = request.Argument(name);
    if (text.empty()) continue;
    OPSERVE_ASSIGN_OR_RETURN(*value, ReadNumber(name, text));
    if (!(std::fabs(*value) <= kMostSwept))
      return InvalidParameter(name, "a number between -1e6 and 1e6", Quoted(text.substr(0, 40)));
  }
  if (setting.from < setting.to) return absl::OkStatus();
  return InvalidParameter("to", absl::StrCat("a number above from, ", setting.from),
                          absl::StrCat(setting.to));
}

absl::Status ReadInputs(const HttpRequest& request, Setting& setting) {
  const std::span<const TensorParam> inputs = setting.op->inputs;
  if (const std::string_view swept = request.Argument("sweep"); !swept.empty()) {
    const int found = setting.op->FindInput(swept);
    if (found < 0) {
      return InvalidParameter("sweep", absl::StrCat("an input of ", ToAbsl(setting.op->name)),
                              Quoted(swept.substr(0, 40)));
    }
    setting.swept = static_cast<size_t>(found);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string argument = absl::StrCat("i.", ToAbsl(inputs[i].name));
    const std::string_view text = request.Argument(argument);
    if (text.empty()) continue;
    OPSERVE_ASSIGN_OR_RETURN(setting.inputs[i], ReadNumber(argument, text));
  }
  return absl::OkStatus();
}

}  // namespace

NamedCall CallOf(const Setting& setting) {
  NamedCall call;
  call.op = setting.op;
  for (size_t i = 0; i < setting.inputs.size(); ++i) {
    if (i != setting.swept && !setting.inputs[i].has_value()) continue;
    call.inputs.push_back({.name = setting.op->inputs[i].name,
                           .desc = TensorDesc::Dense(DType::kFloat32, Dims{kPoints}),
                           .storage = static_cast<int>(i)});
  }
  for (size_t i = 0; i < setting.attributes.size(); ++i) {
    if (IsGiven(setting.attributes[i]))
      call.attributes.push_back({setting.op->attributes[i].name, setting.attributes[i]});
  }
  return call;
}

std::optional<Setting> FirstSetting(const Engine& engine, const Operator& op) {
  if (op.gradient.op.empty() || op.runs_in_pieces == nullptr || op.inputs.empty())
    return std::nullopt;
  Setting setting{.op = &op};
  for (const TensorParam& input : op.inputs) {
    const bool is_required = input.presence == Presence::kRequired;
    setting.inputs.push_back(is_required ? std::optional(0.0) : std::nullopt);
  }
  for (const AttributeParam& attribute : op.attributes) {
    AttributeValue value = attribute.default_value.ToValue();
    setting.attributes.push_back(IsGiven(value) ? std::move(value) : FirstValue(attribute));
  }
  if (IsPlayable(engine, setting)) return setting;
  for (size_t i = 0; i < op.attributes.size(); ++i) {
    const std::vector<const AttributeChoice*> choices = PlayableChoices(engine, setting, i);
    if (choices.empty()) continue;
    setting.attributes[i] = choices[0]->value;
    return setting;
  }
  return std::nullopt;
}

std::vector<const AttributeChoice*> PlayableChoices(const Engine& engine, const Setting& setting,
                                                    size_t attribute) {
  std::vector<const AttributeChoice*> playable;
  Setting changed = setting;
  for (const AttributeChoice& choice : setting.op->attributes[attribute].choices) {
    changed.attributes[attribute] = choice.value;
    if (IsPlayable(engine, changed)) playable.push_back(&choice);
  }
  return playable;
}

absl::StatusOr<Setting> ReadSetting(const Setting& first, const HttpRequest& request) {
  Setting setting = first;
  OPSERVE_RETURN_IF_ERROR(ReadRange(request, setting));
  OPSERVE_RETURN_IF_ERROR(ReadInputs(request, setting));
  for (size_t i = 0; i < setting.attributes.size(); ++i) {
    const AttributeParam& attribute = setting.op->attributes[i];
    const std::string argument = absl::StrCat("a.", ToAbsl(attribute.name));
    const std::string_view text = request.Argument(argument);
    if (text.empty() || IsList(attribute)) continue;
    OPSERVE_ASSIGN_OR_RETURN(setting.attributes[i], ReadAttribute(attribute, argument, text));
  }
  return setting;
}

}  // namespace opserve::server
