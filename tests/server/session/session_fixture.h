// Tests of a session on a device whose memory the host cannot follow, and whose work they hold and
// let go.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "tests/server/session/session_harness.h"
#include "tests/support/manual_device.h"

namespace opserve::testing {

inline constexpr std::string_view kNull = "MISSING_PARAMETER";
inline constexpr std::string_view kInvalid = "161002";  // whatever is wrong with it
inline constexpr std::string_view kNotFound = "OBJECT_NOT_FOUND";
inline constexpr std::string_view kInUse = "ID_IN_USE";
inline constexpr std::string_view kLimit = "RESOURCE_LIMIT";
inline constexpr std::string_view kCancelled = "CANCELLED";
inline constexpr std::string_view kLate = "DEADLINE_EXCEEDED";
inline constexpr std::string_view kBroken = "DEVICE_ERROR";
inline constexpr std::string_view kStreamFailed = "STREAM_FAILED";

class SessionFixture : public ::testing::Test {
 protected:
  using Work = ManualDevice::Work;

  // `clock` is the engine's, too.
  explicit SessionFixture(const Clock& clock = Clock::Real())
      : clock_(clock), manual_(MakeManualEngine(clock)) {}

  // Made when it is first asked for, with limits_ as they are then.
  SessionHarness& session() {
    if (session_ == nullptr)
      session_ = std::make_unique<SessionHarness>(*manual_.engine, limits_, clock_);
    return *session_;
  }
  void EndSession() { session_.reset(); }
  Engine& engine() { return *manual_.engine; }
  ManualDevice& device() { return *manual_.device; }

  // Context 1 with streams 1 and 2.
  void MakeStreams() {
    session().Do("create_context { context: 1 }");
    session().Do("create_stream { stream: 1 context: 1 }");
    session().Do("create_stream { stream: 2 context: 1 }");
  }
  // A buffer of context 1 with these bytes, by way of stream 1.
  void MakeBuffer(uint64_t id, const std::string& bytes) {
    session().Do(
        absl::StrCat("allocate { buffer: ", id, " context: 1 size_bytes: ", bytes.size(), " }"));
    session().Do(absl::StrCat("upload { destination { buffer: ", id, " } stream: 1 }"), {bytes});
  }
  // All of a buffer, by way of stream 1.
  std::string Contents(uint64_t id, size_t size) {
    return session()
        .Do(absl::StrCat("download { source { buffer: ", id, " row_bytes: ", size,
                         " } stream: 1 }"))
        .bytes();
  }
  // The session holds nothing, however it was left.
  void TearDown() override {
    for (size_t kind = 0; kind < ManualDevice::kKindsOfWork; ++kind)
      device().Release(static_cast<Work>(kind));
    session_.reset();
  }

  server::SessionLimits limits_;

 private:
  const Clock& clock_;
  ManualEngine manual_;
  std::unique_ptr<SessionHarness> session_;
};

}  // namespace opserve::testing
