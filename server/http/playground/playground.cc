#include "server/http/playground/playground.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "core/op/op_table.h"
#include "server/http/playground/playground_page.h"
#include "server/http/views/page.h"

namespace opserve::server {
namespace {

// What is shown when no operator was named.
constexpr std::string_view kFirst = "SmoothL1Loss";

bool IsList(AttributeKind kind) {
  return kind == AttributeKind::kIntList || kind == AttributeKind::kBoolList;
}

std::vector<AttributeField> FieldsOf(const Engine& engine, const Setting& setting) {
  std::vector<AttributeField> fields;
  for (size_t i = 0; i < setting.op->attributes.size(); ++i) {
    const AttributeParam& attribute = setting.op->attributes[i];
    if (IsList(attribute.kind)) continue;
    AttributeField field{.attribute = i};
    if (!attribute.choices.empty()) {
      field.choices = PlayableChoices(engine, setting, i);
      if (field.choices.size() < 2) continue;  // nothing to choose
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace

Playground::Playground(Engine& engine, std::string address)
    : engine_(engine), address_(std::move(address)) {
  for (const Operator* op : AllOperators()) {
    std::optional<Setting> first = FirstSetting(engine, *op);
    if (!first.has_value()) continue;
    operators_.push_back(op);
    playable_.push_back({.first = *first, .fields = FieldsOf(engine, *first)});
  }
}

const Playground::Playable* Playground::Find(std::string_view op) const {
  const auto found = std::find_if(playable_.begin(), playable_.end(),
                                  [op](const Playable& each) { return each.first.op->name == op; });
  return found == playable_.end() ? nullptr : &*found;
}

HttpResponse Playground::Answer(const HttpRequest& request) const {
  const std::string_view name = request.Argument("op");
  if (playable_.empty())
    return {.status = 404, .body = "no device of this server computes what could be drawn\n"};
  const Playable* playable = Find(name.empty() ? kFirst : name);
  if (playable == nullptr && name.empty()) playable = &playable_.front();
  if (playable == nullptr) {
    return {.status = 404, .body = "op: want a forward operator that works element by element\n"};
  }
  const absl::StatusOr<Setting> setting = ReadSetting(playable->first, request);
  const PlaygroundPage page{.operators = operators_,
                            .setting = setting.ok() ? *setting : playable->first,
                            .fields = playable->fields,
                            .curves = setting.ok() ? ComputeCurves(engine_, *setting)
                                                   : absl::StatusOr<Curves>(setting.status()),
                            .address = address_};
  return {.content_type = kPageContentType, .body = WritePlayground(page), .runs_script = true};
}

}  // namespace opserve::server
