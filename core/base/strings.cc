#include "core/base/strings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"

namespace opserve {

size_t EditDistance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the optimal string alignment table.
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitution = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string FoldName(std::string_view name) {
  std::string folded;
  for (const char c : name) {
    if (c != '_' && c != '-') folded.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
  }
  return folded;
}

std::string Quoted(std::string_view text) { return std::string("\"").append(text).append("\""); }

}  // namespace opserve
