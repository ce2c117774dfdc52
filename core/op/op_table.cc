#include "core/op/op_table.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve {

// The schemas are defined in core/ops, one file a pair of operators.
#define OPSERVE_OP(Name) extern constinit const Operator k##Name;
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP

namespace {

constexpr const Operator* kTable[] = {
#define OPSERVE_OP(Name) &k##Name,
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP
};

}  // namespace

std::span<const Operator* const> AllOperators() { return kTable; }

absl::StatusOr<const Operator*> FindOperator(std::string_view name) {
  for (const Operator* op : kTable) {
    if (op->name == name) return op;
  }
  std::vector<std::string_view> names;
  for (const Operator* op : kTable) names.push_back(op->name);
  const std::string_view nearest = NearestMatch(name, names);
  const std::string hint =
      nearest.empty() ? "" : absl::StrCat("; did you mean \"", std::string(nearest), "\"?");
  return MakeError({.reason = ErrorReason::kOperatorNotFound,
                    .op = {},
                    .parameter = "operator",
                    .want = absl::StrCat("one that ListOperators lists", hint),
                    .got = absl::StrCat("\"", std::string(name), "\"")});
}

size_t OperatorIndex(const Operator& op) {
  return static_cast<size_t>(
      std::distance(std::begin(kTable), std::find(std::begin(kTable), std::end(kTable), &op)));
}

}  // namespace opserve
