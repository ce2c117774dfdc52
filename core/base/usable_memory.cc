#include "core/base/usable_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace opserve {
namespace {

// cgroup v1 writes "no limit" as the largest whole number of pages.
constexpr int64_t kUnlimited = int64_t{1} << 62;

std::optional<int64_t> LimitOf(const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  int64_t bytes = 0;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &bytes)) return std::nullopt;  // "max"
  if (bytes <= 0 || bytes >= kUnlimited) return std::nullopt;
  return bytes;
}

// The tightest of the files called `name` in `folder` + `group` and its parents up to `folder`.
std::optional<int64_t> TightestUpwards(const std::string& folder, std::string group,
                                       const char* name) {
  std::optional<int64_t> tightest;
  while (true) {
    const std::optional<int64_t> bytes = LimitOf(absl::StrCat(folder, group, "/", name));
    if (bytes.has_value()) tightest = std::min(*bytes, tightest.value_or(*bytes));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return tightest;
    group.resize(slash);
  }
}

bool HasMemory(absl::string_view controllers) {
  const std::vector<absl::string_view> names = absl::StrSplit(controllers, ',');
  return std::find(names.begin(), names.end(), "memory") != names.end();
}

}  // namespace

std::optional<int64_t> CgroupMemoryBytes(const std::string& root) {
  std::optional<int64_t> tightest;
  const std::string folder = absl::StrCat(root, "/sys/fs/cgroup");
  std::ifstream groups(absl::StrCat(root, "/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    // number:controllers:/path; v2 has no controllers.
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    std::optional<int64_t> bytes;
    if (parts[1].empty()) {
      bytes = TightestUpwards(folder, parts[2], "memory.max");
    } else if (HasMemory(parts[1])) {
      bytes = TightestUpwards(absl::StrCat(folder, "/memory"), parts[2], "memory.limit_in_bytes");
    }
    if (bytes.has_value()) tightest = std::min(*bytes, tightest.value_or(*bytes));
  }
  return tightest;
}

int64_t UsableMemoryBytes() {
  const int64_t physical = int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)};
  return std::max<int64_t>(1, std::min(physical, CgroupMemoryBytes("").value_or(physical)));
}

}  // namespace opserve
