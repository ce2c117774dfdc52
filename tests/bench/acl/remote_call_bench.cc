// What a small call of both phases costs on a server, in round trips:
//
//   opserve-server --listen unix:/tmp/opserve &
//   OPSERVE_TARGET=unix:/tmp/opserve opserve-bench-acl-remote
//
// A call is aclnnSmoothL1LossBackwardGetWorkspaceSize, aclnnSmoothL1LossBackward and
// aclrtSynchronizeStream, on 8 elements. In turns with it: aclrtStreamQuery, the least that a round
// trip on the same connection can do.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "absl/time/clock.h"
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

namespace {

constexpr int kWarmUp = 500;
constexpr int kRounds = 5000;
constexpr int64_t kShape[] = {4, 2};
constexpr size_t kBytes = 8 * sizeof(float);

void Check(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "%s: %d: %s\n", what, code, aclGetRecentErrMsg());
  std::exit(1);  // NOLINT(concurrency-mt-unsafe)
}

aclTensor* MakeTensor() {
  const std::vector<float> ones(8, 1.0f);
  void* data = nullptr;
  Check(aclrtMalloc(&data, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  Check(aclrtMemcpy(data, kBytes, ones.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
  return aclCreateTensor(kShape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, kShape, 2, data);
}

void CallOnce(const aclTensor* input, aclTensor* output) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Check(aclnnSmoothL1LossBackwardGetWorkspaceSize(input, input, input, 0, 1.0f, output, &size,
                                                  &executor),
        "phase one");
  Check(aclnnSmoothL1LossBackward(nullptr, 0, executor, nullptr), "phase two");
  Check(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream");
}

void QueryOnce() {
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  Check(aclrtStreamQuery(nullptr, &status), "aclrtStreamQuery");
}

struct Subject {
  const char* name;
  std::function<void()> once;
  std::vector<double> microseconds = {};

  void Run() {
    const absl::Time start = absl::Now();
    once();
    microseconds.push_back(absl::ToDoubleMicroseconds(absl::Now() - start));
  }

  double Median() {
    const auto middle = microseconds.begin() + static_cast<std::ptrdiff_t>(microseconds.size() / 2);
    std::nth_element(microseconds.begin(), middle, microseconds.end());
    return *middle;
  }
};

void Measure() {
  const aclTensor* input = MakeTensor();
  aclTensor* output = MakeTensor();
  Subject subjects[] = {{"both phases and a synchronization", [&] { CallOnce(input, output); }},
                        {"one round trip", QueryOnce}};
  for (int i = 0; i < kWarmUp + kRounds; ++i) {
    for (Subject& subject : subjects) subject.Run();
    if (i + 1 != kWarmUp) continue;
    for (Subject& subject : subjects) subject.microseconds.clear();
  }
  const double call = subjects[0].Median();
  const double round_trip = subjects[1].Median();
  std::printf("%s: %.1f us\n%s: %.1f us\nratio: %.2f\n", subjects[0].name, call, subjects[1].name,
              round_trip, call / round_trip);
}

}  // namespace

int main() {
  const char* target = std::getenv("OPSERVE_TARGET");  // NOLINT(concurrency-mt-unsafe)
  if (target == nullptr) {
    std::fprintf(stderr, "want OPSERVE_TARGET, the address of a server\n");
    return 2;
  }
  Check(aclInit(nullptr), "aclInit");
  Check(aclrtSetDevice(0), "aclrtSetDevice");
  Measure();
  Check(aclFinalize(), "aclFinalize");
  return 0;
}
