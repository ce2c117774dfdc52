// docs/errors.md says what core/base/op_error.cc does.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/op_error.h"

namespace opserve {
namespace {

// The rows of the first table, cells trimmed and joined by '|'.
std::vector<std::string> RowsOfFirstTable(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    const bool row = !line.empty() && line[0] == '|';
    if (!row && !rows.empty()) break;
    if (!row) continue;
    std::vector<std::string> cells = absl::StrSplit(line, '|');
    for (std::string& cell : cells) cell = std::string(absl::StripAsciiWhitespace(cell));
    rows.push_back(absl::StrJoin(cells.begin() + 1, cells.end() - 1, "|"));
  }
  return rows;
}

TEST(ErrorsDocTest, HasEveryReasonAndNoOther) {
  std::vector<std::string> expected = {"reason|code|gRPC status|when", "---|---|---|---"};
  for (const ErrorReasonInfo& reason : ErrorReasons()) {
    const std::string code = reason.aclnn_code == 0 ? "" : absl::StrCat(reason.aclnn_code);
    expected.push_back(absl::StrCat(std::string(reason.name), "|", code, "|",
                                    absl::StatusCodeToString(reason.status_code), "|",
                                    std::string(reason.when)));
  }
  EXPECT_EQ(RowsOfFirstTable("docs/errors.md"), expected);
}

}  // namespace
}  // namespace opserve
