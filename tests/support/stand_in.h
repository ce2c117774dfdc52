// NPUs for tests: where the libraries are that stand in for the vendor's.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace opserve::testing {

inline std::filesystem::path LibraryFolder() {
  const char* programs = std::getenv("OPSERVE_BIN_DIR");
  const std::filesystem::path build =
      std::filesystem::path(programs == nullptr ? "build/dev/bin" : programs).parent_path();
  return std::filesystem::absolute(build / "lib");
}

// libopserve_acl under CANN's names.
inline std::string StandInFolder() { return LibraryFolder() / "opserve" / "ascend"; }

// Whether tests that do not care which device they have are to run on an NPU.
inline bool OnNpu() {
  const char* device = std::getenv("OPSERVE_TEST_DEVICE");
  return device != nullptr && std::string_view(device) == "ascend";
}

// A library of operators that lacks most; see few_operators.cc.
inline std::string FewOperators() { return LibraryFolder() / "libopserve_few_operators.so"; }

}  // namespace opserve::testing
