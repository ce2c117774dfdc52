#include "server/http/playground/call_text.h"

#include <array>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

constexpr std::array<size_t, 3> kShown = {0, kPoints / 2, kPoints - 1};

// How a language writes numbers.
struct Words {
  std::string_view infinity;  // after a minus where it is negative
  std::string_view nan;
  std::string_view no;
  std::string_view yes;
  std::string_view quote;
};
constexpr Words kPython = {"np.inf", "np.nan", "False", "True", "\""};
constexpr Words kCommand = {"inf", "nan", "false", "true", ""};
constexpr Words kGo = {"math.Inf(1)", "math.NaN()", "false", "true", "\""};
constexpr Words kGoFloat32 = {"float32(math.Inf(1))", "float32(math.NaN())", "false", "true", "\""};
constexpr Words kJsonWords = {"\"Infinity\"", "\"NaN\"", "false", "true", "\""};

// $0: a further import, $1: the address, $2: the operator, $3: inputs, $4: attributes.
constexpr char kGoProgram[] = R"(package main

import (
	"context"
	"fmt"
	"log"
$0
	"opserve.dev/go/opserve"
)

func main() {
	ctx := context.Background()
	c, err := opserve.Connect(ctx, "$1")
	if err != nil {
		log.Fatal(err)
	}
	r, err := c.Execute(ctx, "$2",
		opserve.Inputs{
$3		}, opserve.Attrs{
$4		})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range r.Names {
		values, _ := opserve.Values[float32](r.Outputs[name])
		fmt.Println(name, values)
	}
}
)";

std::string NumberText(double number, const Words& words) {
  if (std::isnan(number)) return std::string(words.nan);
  if (std::isfinite(number)) return absl::StrFormat("%.9g", number);
  if (number > 0) return std::string(words.infinity);
  const bool is_quoted = words.infinity.starts_with('"');
  return is_quoted ? absl::StrCat("\"-", ToAbsl(words.infinity.substr(1)))
                   : absl::StrCat("-", ToAbsl(words.infinity));
}

std::string ValuesText(const std::vector<float>& values, const Words& words) {
  std::vector<std::string> texts;
  texts.reserve(kShown.size());
  for (const size_t place : kShown) texts.push_back(NumberText(values[place], words));
  return absl::StrJoin(texts, ", ");
}

std::string AttributeText(const AttributeValue& value, const Words& words) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return absl::StrCat(*integer);
  if (const auto* number = std::get_if<double>(&value)) return NumberText(*number, words);
  if (const auto* flag = std::get_if<bool>(&value))
    return std::string(*flag ? words.yes : words.no);
  if (const auto* name = std::get_if<std::string>(&value))
    return absl::StrCat(ToAbsl(words.quote), *name, ToAbsl(words.quote));
  return "";
}

// The attributes that texts have, ints with the names of their choices: lists keep their default.
std::vector<NamedAttribute> ShownAttributes(const PlayedCall& call) {
  std::vector<NamedAttribute> shown;
  for (const NamedAttribute& attribute : call.attributes) {
    if (AttributeText(attribute.value, kPython).empty()) continue;
    NamedAttribute& named = shown.emplace_back(attribute);
    const int index = call.op->FindAttribute(attribute.name);
    for (const AttributeChoice& choice : call.op->attributes[static_cast<size_t>(index)].choices) {
      if (AttributeValue(choice.value) == attribute.value) named.value = std::string(choice.name);
    }
  }
  return shown;
}

std::string_view JsonField(const AttributeValue& value) {
  if (std::holds_alternative<int64_t>(value)) return "int_value";
  if (std::holds_alternative<double>(value)) return "float_value";
  return std::holds_alternative<bool>(value) ? "bool_value" : "string_value";
}

std::string JsonAttribute(const NamedAttribute& attribute) {
  return absl::StrCat("{\"name\": \"", ToAbsl(attribute.name), "\", \"",
                      ToAbsl(JsonField(attribute.value)),
                      "\": ", AttributeText(attribute.value, kJsonWords), "}");
}

}  // namespace

std::string PythonText(const PlayedCall& call, std::string_view address) {
  std::vector<std::string> inputs;
  inputs.reserve(call.inputs.size());
  for (const PlayedCall::Input& input : call.inputs) {
    inputs.push_back(absl::StrCat("    \"", ToAbsl(input.name), "\": np.float32([",
                                  ValuesText(input.values, kPython), "]),\n"));
  }
  std::string attributes;
  for (const NamedAttribute& attribute : ShownAttributes(call)) {
    absl::StrAppend(&attributes, ", ", ToAbsl(attribute.name), "=",
                    AttributeText(attribute.value, kPython));
  }
  return absl::StrCat("import numpy as np, opserve\n\nc = opserve.connect(\"", ToAbsl(address),
                      "\")\nr = c.execute(\"", ToAbsl(call.op->name), "\", {\n",
                      absl::StrJoin(inputs, ""), "}", attributes, ")\nprint(r)\n");
}

std::string GoText(const PlayedCall& call, std::string_view address) {
  std::string inputs;
  for (const PlayedCall::Input& input : call.inputs) {
    absl::StrAppend(&inputs, "\t\t\t\"", ToAbsl(input.name), "\": opserve.TensorOf([]float32{",
                    ValuesText(input.values, kGoFloat32), "}),\n");
  }
  std::string attributes;
  for (const NamedAttribute& attribute : ShownAttributes(call)) {
    absl::StrAppend(&attributes, "\t\t\t\"", ToAbsl(attribute.name),
                    "\": ", AttributeText(attribute.value, kGo), ",\n");
  }
  const bool has_math = absl::StrContains(absl::StrCat(inputs, attributes), "math.");
  return absl::Substitute(kGoProgram, has_math ? "\t\"math\"\n" : "", ToAbsl(address),
                          ToAbsl(call.op->name), inputs, attributes);
}

std::string CommandText(const PlayedCall& call, std::string_view address) {
  std::string text =
      absl::StrCat("opserve --target ", ToAbsl(address), " run ", ToAbsl(call.op->name));
  for (const PlayedCall::Input& input : call.inputs) {
    absl::StrAppend(&text, " \\\n    -i '", ToAbsl(input.name), "=f32[3]{",
                    ValuesText(input.values, kCommand), "}'");
  }
  for (const NamedAttribute& attribute : ShownAttributes(call)) {
    absl::StrAppend(&text, " \\\n    -a ", ToAbsl(attribute.name), "=",
                    AttributeText(attribute.value, kCommand));
  }
  return absl::StrCat(text, "\n");
}

std::string GrpcurlText(const PlayedCall& call, std::string_view address) {
  std::vector<std::string> inputs;
  inputs.reserve(call.inputs.size());
  for (const PlayedCall::Input& input : call.inputs) {
    inputs.push_back(absl::StrCat("      {\"name\": \"", ToAbsl(input.name),
                                  "\", \"dtype\": \"DATA_TYPE_FLOAT32\", \"shape\": [3], "
                                  "\"values\": {\"floats\": [",
                                  ValuesText(input.values, kJsonWords), "]}}"));
  }
  std::vector<std::string> attributes;
  for (const NamedAttribute& attribute : ShownAttributes(call))
    attributes.push_back(JsonAttribute(attribute));
  return absl::StrCat("grpcurl -plaintext -d '{\n  \"call\": {\n    \"op\": \"",
                      ToAbsl(call.op->name), "\",\n    \"inputs\": [\n",
                      absl::StrJoin(inputs, ",\n"), "\n    ],\n    \"attributes\": [",
                      absl::StrJoin(attributes, ", "),
                      "]\n  },\n  \"output_encoding\": \"TENSOR_ENCODING_VALUES\"\n}' ",
                      ToAbsl(address), " opserve.v1.OperatorService/Execute\n");
}

}  // namespace opserve::server
