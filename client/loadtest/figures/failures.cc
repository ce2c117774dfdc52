#include "client/loadtest/figures/failures.h"

#include <algorithm>

#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::loadtest {
namespace {

constexpr size_t kMaxKinds = 64;
constexpr size_t kMaxExampleBytes = 300;

std::string ReasonOf(const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  return detail.has_value() ? std::string(GetErrorReasonInfo(detail->reason).name) : "";
}

}  // namespace

void Failures::Add(const absl::Status& status, int64_t calls) {
  std::pair<std::string, std::string> kind(absl::StatusCodeToString(status.code()),
                                           ReasonOf(status));
  const MutexLock lock(mutex_);
  if (kinds_.size() >= kMaxKinds && kinds_.count(kind) == 0) kind = {"OTHER", ""};
  Failure& failure = kinds_[kind];
  if (failure.calls == 0) {
    failure.code = kind.first;
    failure.reason = kind.second;
    failure.example = ToStd(status.message().substr(0, kMaxExampleBytes));
  }
  failure.calls += calls;
}

std::vector<Failure> Failures::List() const {
  std::vector<Failure> list;
  {
    const MutexLock lock(mutex_);
    for (const auto& [kind, failure] : kinds_) list.push_back(failure);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Failure& a, const Failure& b) { return a.calls > b.calls; });
  return list;
}

}  // namespace opserve::loadtest
