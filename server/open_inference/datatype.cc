#include "server/open_inference/datatype.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

struct Row {
  std::string_view name;
  inference::DataType of_config;
};

// By DType.
constexpr std::array<Row, kNumDTypes> kRows = {{{"", inference::TYPE_INVALID},
                                                {"FP32", inference::TYPE_FP32},
                                                {"FP16", inference::TYPE_FP16},
                                                {"BF16", inference::TYPE_BF16},
                                                {"FP64", inference::TYPE_FP64},
                                                {"INT8", inference::TYPE_INT8},
                                                {"INT16", inference::TYPE_INT16},
                                                {"INT32", inference::TYPE_INT32},
                                                {"INT64", inference::TYPE_INT64},
                                                {"UINT8", inference::TYPE_UINT8},
                                                {"UINT16", inference::TYPE_UINT16},
                                                {"UINT32", inference::TYPE_UINT32},
                                                {"UINT64", inference::TYPE_UINT64},
                                                {"BOOL", inference::TYPE_BOOL}}};
static_assert(static_cast<size_t>(DType::kBool) == kNumDTypes - 1);

}  // namespace

std::string_view DatatypeName(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }

absl::StatusOr<DType> ParseDatatype(std::string_view name, std::string_view parameter) {
  const auto row = std::find_if(kRows.begin() + 1, kRows.end(),
                                [name](const Row& each) { return each.name == name; });
  if (row != kRows.end()) return static_cast<DType>(row - kRows.begin());
  return UnsupportedDType(parameter,
                          "a datatype of FP16, BF16, FP32, FP64, INT8 to INT64, UINT8 to UINT64 or "
                          "BOOL",
                          name.empty() ? "none" : Quoted(name));
}

inference::DataType ConfigDataType(DType dtype) {
  return kRows[static_cast<size_t>(dtype)].of_config;
}

}  // namespace opserve::server
