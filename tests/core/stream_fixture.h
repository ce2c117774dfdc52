// Streams on real workers, and a log of what happened on them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/op_error.h"
#include "core/device/stream.h"
#include "gtest/gtest.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/signal.h"

namespace opserve::testing {

// 161002 about `parameter`; a stream knows of no operator.
inline void ExpectInvalid(const absl::Status& status, std::string_view parameter) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(AclnnCode(*detail), kParamInvalid) << status;
  EXPECT_EQ(detail->parameter, parameter) << status;
}

// What happened, in order.
class Log {
 public:
  void Add(std::string line) {
    MutexLock lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::vector<std::string> lines() {
    MutexLock lock(mutex_);
    return lines_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

class StreamTest : public ::testing::Test {
 protected:
  using OnFailure = Stream::OnFailure;

  std::shared_ptr<Stream> MakeStream(OnFailure on_failure = OnFailure::kStop) {
    return Stream::Create(workers_, clock_, on_failure);
  }

  // A command that notes its name, and fails if it is to.
  Stream::Command Note(uint64_t id, const std::string& name,
                       const absl::Status& status = absl::OkStatus()) {
    return {.id = id,
            .run =
                [this, name, status = Unshared(status)] {
                  log_.Add(name);
                  return Unshared(status);
                },
            .done =
                [this, name](const absl::Status& ended) {
                  log_.Add(name + (ended.ok() ? " ok" : " failed"));
                }};
  }

  static Stream::Command Await(Signal& signal) {
    return {.id = 0,
            .run =
                [&signal] {
                  signal.Wait();
                  return absl::OkStatus();
                },
            .done = {}};
  }

  static Stream::Failure Synchronize(Stream& stream) {
    Signal ended;
    Stream::Failure result;
    stream.Synchronize([&](Stream::Failure failure) {
      result = std::move(failure);
      ended.Notify();
    });
    ended.Wait();
    return result;
  }

  Log log_;
  FakeClock clock_;
  WorkerPool workers_{3};
};

}  // namespace opserve::testing
