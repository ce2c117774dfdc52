#include "core/op/op_table.h"

#include <iterator>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve {

// The schemas are defined in core/ops, one file a pair of operators.
#define OPSERVE_OP(file, Name) extern constinit const Operator k##Name;
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP

namespace {

constexpr const Operator* kTable[] = {
#define OPSERVE_OP(file, Name) &k##Name,
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP
};

// Where each is in the table.
struct Index {
  Index() {
    for (size_t i = 0; i < std::size(kTable); ++i) {
      by_name.emplace(kTable[i]->name, i);
      by_address.emplace(kTable[i], i);
    }
  }
  absl::flat_hash_map<std::string_view, size_t> by_name;
  absl::flat_hash_map<const Operator*, size_t> by_address;
};

const Index& TheIndex() {
  static const auto* const index = new Index();  // for what still runs at exit
  return *index;
}

}  // namespace

std::span<const Operator* const> AllOperators() { return kTable; }

absl::StatusOr<const Operator*> FindOperator(std::string_view name) {
  const auto found = TheIndex().by_name.find(name);
  if (found != TheIndex().by_name.end()) return kTable[found->second];
  std::vector<std::string_view> names;
  for (const Operator* op : kTable) names.push_back(op->name);
  return MakeError({.reason = ErrorReason::kOperatorNotFound,
                    .op = {},
                    .parameter = "operator",
                    .want = absl::StrCat("one that ListOperators lists", DidYouMean(name, names)),
                    .got = absl::StrCat("\"", std::string(name), "\"")});
}

size_t OperatorIndex(const Operator& op) { return TheIndex().by_address.at(&op); }

}  // namespace opserve
