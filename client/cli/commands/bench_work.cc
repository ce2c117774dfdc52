#include "client/cli/commands/bench_work.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "client/cli/commands/call_texts.h"
#include "client/cli/files/tensor_argument.h"
#include "client/cli/formats/literal.h"
#include "client/cli/formats/number_text.h"
#include "client/cli/output/report.h"
#include "client/loadtest/calls/made_tensor.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

using client::OperatorSchema;
using client::TensorParameter;
using client::TensorView;
using loadtest::ElementRange;
using loadtest::OperatorEntry;

// One gRPC message holds no more.
constexpr int64_t kMaxMadeBytes = std::numeric_limits<uint32_t>::max();

std::vector<NamedText> TextsOf(const loadtest::NamedTexts& texts) {
  std::vector<NamedText> named;
  for (const auto& [name, text] : texts) named.push_back({name, text});
  return named;
}

// `status` with the operator and `name` where it names no parameter.
absl::Status NamingInput(const OperatorSchema& schema, std::string_view name,
                         const absl::Status& status) {
  std::optional<ErrorDetail> detail = GetErrorDetail(status);
  if (!detail.has_value()) return UsageError(status);
  if (detail->parameter.empty()) detail->parameter = name;
  detail->op = schema.name;
  return UsageError(MakeError(*detail));
}

// Takes ".random(LOW,HIGH)" off the end of `text`; nullopt where there is none.
absl::StatusOr<std::optional<ElementRange>> TakeRange(std::string_view& text) {
  constexpr std::string_view kRandom = ".random(";
  const size_t at = text.rfind(kRandom);
  if (at == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  const std::string_view list =
      text.substr(at + kRandom.size(), text.size() - at - kRandom.size() - 1);
  const size_t comma = list.find(',');
  const auto number = [](std::string_view word) -> std::optional<double> {
    const std::optional<Number> parsed = ParseNumber(Trim(word), DType::kFloat64);
    if (!parsed.has_value()) return std::nullopt;
    return std::visit([](auto value) { return static_cast<double>(value); }, *parsed);
  };
  const std::optional<double> low = number(list.substr(0, comma));
  const std::optional<double> high =
      comma == std::string_view::npos ? std::nullopt : number(list.substr(comma + 1));
  if (!low.has_value() || !high.has_value())
    return InvalidParameter("", "two numbers, as in .random(0,9)", Quoted(list));
  text = text.substr(0, at);
  return ElementRange{*low, *high};
}

// A literal or a file as `run` has it, or a shape whose elements are made up.
absl::StatusOr<TensorView> GivenInput(std::string_view name, std::string_view text, uint64_t seed) {
  std::string_view rest = text;
  OPSERVE_ASSIGN_OR_RETURN(const std::optional<ElementRange> range, TakeRange(rest));
  if (LooksLikeLiteral(rest)) {
    OPSERVE_ASSIGN_OR_RETURN(const Literal literal, ParseLiteral(rest));
    if (literal.data == Literal::Data::kNone) {
      const Dims& shape = literal.shape;
      return loadtest::MakeTensor(literal.dtype, {shape.data(), shape.size()},
                                  range.value_or(loadtest::UsualRange(literal.dtype)), seed,
                                  kMaxMadeBytes);
    }
  }
  if (range.has_value())
    return InvalidParameter(name, "a dtype and a shape before .random(…)", Quoted(rest));
  return ReadTensorArgument(name, text, TensorUse::kRun);
}

absl::StatusOr<DType> DTypeOfMade(const OperatorEntry& entry, const TensorParameter& input) {
  if (!entry.dtype.empty()) return ReadDType(entry.dtype, "--input-dtype");
  const auto& dtypes = input.dtypes;
  const bool takes_floats =
      dtypes.empty() || std::find(dtypes.begin(), dtypes.end(), DType::kFloat32) != dtypes.end();
  return takes_floats ? DType::kFloat32 : dtypes.front();
}

absl::StatusOr<std::vector<int64_t>> ParseShape(std::string_view text) {
  std::vector<int64_t> shape;
  for (const absl::string_view word : absl::StrSplit(ToAbsl(text), ',')) {
    const std::optional<int64_t> extent = ParseInt64(Trim(ToStd(word)));
    if (!extent.has_value() || *extent < 0)
      return InvalidParameter("--shape", "extents as 4096 or 64,1000", Quoted(text));
    shape.push_back(*extent);
  }
  return shape;
}

absl::StatusOr<TensorView> MadeInput(const OperatorEntry& entry, const TensorParameter& input,
                                     uint64_t seed) {
  if (!entry.shape.has_value()) {
    return MissingParameter(input.name,
                            "a tensor as -i " + input.name + "=f32[64,1000], or --shape for all");
  }
  OPSERVE_ASSIGN_OR_RETURN(const DType dtype, DTypeOfMade(entry, input));
  OPSERVE_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, ParseShape(*entry.shape));
  return loadtest::MakeTensor(dtype, shape, loadtest::UsualRange(dtype), seed, kMaxMadeBytes);
}

absl::Status AddBenchInputs(const OperatorEntry& entry, const OperatorSchema& schema, uint64_t seed,
                            client::Call& call) {
  for (const auto& [name, text] : entry.inputs) {
    absl::StatusOr<TensorView> view = GivenInput(name, text, seed++);
    if (!view.ok()) return NamingInput(schema, name, view.status());
    if (view->owner == nullptr) return absl::InternalError("an input without an owner");
    call.Input(name, *std::move(view));
  }
  for (const TensorParameter& input : schema.inputs) {
    const auto given = [&input](const auto& one) { return one.first == input.name; };
    if (input.optional || std::any_of(entry.inputs.begin(), entry.inputs.end(), given)) continue;
    absl::StatusOr<TensorView> view = MadeInput(entry, input, seed++);
    if (!view.ok()) return NamingInput(schema, input.name, view.status());
    call.Input(input.name, *std::move(view));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<loadtest::Work> MakeBenchWork(const OperatorEntry& entry,
                                             const OperatorSchema& schema, uint64_t seed,
                                             absl::Duration timeout) {
  client::Call call(entry.op);
  call.OnDevice(entry.device);
  OPSERVE_RETURN_IF_ERROR(AddAttributes(TextsOf(entry.attributes), schema, call));
  OPSERVE_RETURN_IF_ERROR(AddDTypes(TextsOf(entry.dtypes), call));
  OPSERVE_RETURN_IF_ERROR(AddBenchInputs(entry, schema, seed, call));
  return loadtest::Work{.name = entry.name,
                        .call = std::move(call),
                        .weight = entry.weight,
                        .timeout = entry.timeout.value_or(timeout)};
}

}  // namespace opserve::cli
