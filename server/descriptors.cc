#include "server/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"

namespace opserve::server {
namespace {

// Besides those of connections: of gRPC's threads, listeners, shared memory's clients.
constexpr int64_t kOwnDescriptors = 32;
constexpr int64_t kOfConnection = 2;
// Where the system has no bound of its own.
constexpr int64_t kMostDescriptors = int64_t{1} << 20;

int64_t OpenDescriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/self/fd", error);
  return error ? 0 : std::distance(begin(open), end(open));
}

}  // namespace

int64_t RaiseDescriptorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOwnDescriptors;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = std::min<rlim_t>(limit.rlim_max, kMostDescriptors);
    if (raised.rlim_cur > limit.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0)
      limit = raised;
  }
  return static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, kMostDescriptors));
}

absl::StatusOr<int64_t> ConnectionsFor(int64_t descriptors, int64_t wanted) {
  const int64_t most = (descriptors - OpenDescriptors() - kOwnDescriptors) / kOfConnection;
  if (most < 1 || wanted > most) {
    return InvalidParameter(
        "--max-connections",
        absl::StrCat("at most ", std::max<int64_t>(most, 0), ", as the process may have ",
                     descriptors, " descriptors (ulimit -n) and each connection takes ",
                     kOfConnection),
        wanted > 0 ? absl::StrCat(wanted) : "one at least");
  }
  return wanted > 0 ? wanted : most;
}

}  // namespace opserve::server
