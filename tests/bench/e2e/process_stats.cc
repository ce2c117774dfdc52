#include "tests/bench/e2e/process_stats.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace opserve::bench {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Fields 14 and 15 of /proc/PID/stat; the second is a name in parentheses with anything in it.
double CpuSeconds(const std::string& stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

int64_t PeakRssBytes(const std::string& status) {
  std::istringstream lines(status);
  std::string word;
  while (lines >> word) {
    int64_t kilobytes = 0;
    if (word == "VmHWM:" && lines >> kilobytes) return kilobytes * 1024;
    lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

}  // namespace

ProcessStats ReadProcessStats(int pid) {
  const std::string folder = absl::StrCat("/proc/", pid);
  return {.cpu_seconds = CpuSeconds(ReadFile(folder + "/stat")),
          .peak_rss_bytes = PeakRssBytes(ReadFile(folder + "/status"))};
}

}  // namespace opserve::bench
