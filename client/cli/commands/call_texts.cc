#include "client/cli/commands/call_texts.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/formats/literal.h"
#include "client/cli/output/attribute_text.h"
#include "client/cli/output/report.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::cli {
namespace {

using client::OperatorSchema;

client::AttributeParameter AttributeCalled(const OperatorSchema& schema, const std::string& name) {
  for (const client::AttributeParameter& attribute : schema.attributes) {
    if (attribute.name == name) return attribute;
  }
  client::AttributeParameter unknown;  // the server refuses the name
  unknown.name = name;
  return unknown;
}

}  // namespace

absl::StatusOr<OperatorSchema> FetchSchema(const std::string& op, const Remote& remote) {
  const std::vector<std::string> names = {op};
  OPSERVE_ASSIGN_OR_RETURN(std::vector<OperatorSchema> schemas,
                           remote.client().ListOperators(names, remote.options()));
  if (schemas.size() == 1 && schemas[0].name == op) return std::move(schemas[0]);
  return absl::InternalError(
      absl::StrCat("the server's answer: want the operator ", op, ", got ",
                   schemas.size() == 1 ? "another" : absl::StrCat(schemas.size())));
}

absl::Status AddAttributes(std::span<const NamedText> attributes, const OperatorSchema& schema,
                           client::Call& call) {
  for (const NamedText& attribute : attributes) {
    absl::StatusOr<client::AttributeValue> value =
        ParseAttribute(AttributeCalled(schema, attribute.name), attribute.text);
    if (!value.ok()) return UsageError(WithOperator(value.status(), schema.name));
    call.Attribute(attribute.name, *std::move(value));
  }
  return absl::OkStatus();
}

absl::Status AddDTypes(std::span<const NamedText> outputs, client::Call& call) {
  for (const NamedText& output : outputs) {
    const absl::StatusOr<DType> dtype = ReadDType(output.text, output.name);
    if (!dtype.ok()) return UsageError(dtype.status());
    call.OutputDType(output.name, *dtype);
  }
  return absl::OkStatus();
}

}  // namespace opserve::cli
