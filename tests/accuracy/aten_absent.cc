#include "tests/accuracy/aten.h"

namespace opserve::testing {

std::string AtenVersion() { return {}; }

std::optional<std::vector<TestTensor>> AtenOutputs(const OpCase& /*op_case*/) {
  return std::nullopt;
}

}  // namespace opserve::testing
