#include "core/op/op_table.h"

#include <iterator>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve {

// The schemas are defined in core/ops, one file a pair of operators, each in a namespace named like
// its file.
#define OPSERVE_OP(file, Name)             \
  namespace file {                         \
  extern constinit const Operator k##Name; \
  }
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP

namespace {

constexpr const Operator* kTable[] = {
#define OPSERVE_OP(file, Name) &file::k##Name,
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP
};

// The table's rows: an operator, or the family of those that follow.
struct TableRow {
  const Operator* op;
  std::string_view family;
};
constexpr TableRow kRows[] = {
#define OPSERVE_FAMILY(family) {nullptr, family},
#define OPSERVE_OP(file, Name) {&file::k##Name, {}},
#include "core/op/builtin_ops.inc"
#undef OPSERVE_OP
};

struct Place {
  size_t index;
  std::string_view family;
};

// Where each is in the table.
struct Index {
  Index() {
    std::string_view family;
    size_t index = 0;
    for (const TableRow& row : kRows) {
      if (row.op == nullptr) {
        family = row.family;
      } else {
        by_name.emplace(row.op->name, index);
        by_address.emplace(row.op, Place{index, family});
        ++index;
      }
    }
  }
  absl::flat_hash_map<std::string_view, size_t> by_name;
  absl::flat_hash_map<const Operator*, Place> by_address;
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

size_t OperatorIndex(const Operator& op) { return TheIndex().by_address.at(&op).index; }

std::string_view FamilyOf(const Operator& op) { return TheIndex().by_address.at(&op).family; }

}  // namespace opserve
