#include "core/base/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/strings.h"

namespace opserve {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int AffinityCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// The tightest quota of this process's cgroup and its ancestors (v2).
std::optional<int> QuotaOfCgroupV2() {
  std::optional<int> tightest;
  for (const absl::string_view line : absl::StrSplit(ReadText("/proc/self/cgroup"), '\n')) {
    if (line.substr(0, 3) != "0::") continue;
    std::string path(line.substr(3));
    while (true) {
      const std::optional<int> cores =
          CoresOfCpuMax(ReadText(absl::StrCat("/sys/fs/cgroup", path, "/cpu.max")));
      if (cores.has_value()) tightest = std::min(*cores, tightest.value_or(*cores));
      if (path.empty() || path == "/") break;
      path.resize(path.rfind('/'));
    }
  }
  return tightest;
}

std::optional<int> QuotaOfCgroupV1() {
  const std::string directory = "/sys/fs/cgroup/cpu/";
  const std::string quota = ReadText(directory + "cpu.cfs_quota_us");
  if (quota.empty() || quota[0] == '-') return std::nullopt;
  return CoresOfCpuMax(absl::StrCat(absl::StripAsciiWhitespace(quota), " ",
                                    ReadText(directory + "cpu.cfs_period_us")));
}

}  // namespace

std::optional<int> CoresOfCpuMax(std::string_view cpu_max) {
  const std::vector<std::string> words =
      absl::StrSplit(ToAbsl(cpu_max), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  int64_t quota = 0;
  int64_t period = 100'000;
  if (words.empty() || !absl::SimpleAtoi(words[0], &quota) || quota <= 0) return std::nullopt;
  if (words.size() > 1 && (!absl::SimpleAtoi(words[1], &period) || period <= 0))
    return std::nullopt;
  const int64_t cores = quota / period + (quota % period != 0 ? 1 : 0);
  return static_cast<int>(std::min<int64_t>(cores, std::numeric_limits<int>::max()));
}

int UsableCores() {
  int cores = AffinityCores();
  for (const std::optional<int>& quota : {QuotaOfCgroupV2(), QuotaOfCgroupV1()}) {
    if (quota.has_value()) cores = std::min(cores, *quota);
  }
  return std::max(1, cores);
}

}  // namespace opserve
