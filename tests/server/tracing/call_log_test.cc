#include "server/tracing/call_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tests/support/fake_clock.h"

namespace opserve::server {
namespace {

constexpr char kTraced[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

CallRecord Sample() {
  CallRecord record;
  record.method = "Execute";
  record.op = "L1Loss";
  record.peer = "ipv4:127.0.0.1:40000";
  record.request_bytes = 100;
  record.response_bytes = 20;
  record.trace = ParseTraceParent(kTraced);
  const absl::Time begun = absl::FromUnixSeconds(1000);
  record.phases = {.begun = begun,
                   .handed_over = begun + absl::Microseconds(1),
                   .queued = absl::Nanoseconds(200),
                   .executed = absl::Nanoseconds(300),
                   .answered = begun + absl::Microseconds(2),
                   .ended = begun + absl::Microseconds(3)};
  return record;
}

class CallLogTest : public ::testing::Test {
 protected:
  CallLogTest() { SetLogFormat(LogFormat::kJson); }
  ~CallLogTest() override {
    SetLogFormat(LogFormat::kText);
    SetLogLevel(LogLevel::kInfo);
  }

  // The lines that a call with `status` makes.
  std::vector<nlohmann::json> Write(const absl::Status& status, int times = 1) {
    ::testing::internal::CaptureStderr();
    for (int i = 0; i < times; ++i) {
      log_.Write(status, [&] {
        CallRecord record = Sample();
        TakeStatus(status, record);
        return record;
      });
    }
    std::istringstream text(::testing::internal::GetCapturedStderr());
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  testing::FakeClock clock_;
  CallLog log_{clock_};
};

TEST_F(CallLogTest, ACallIsToldAtDebugLevel) {
  EXPECT_TRUE(Write(absl::OkStatus()).empty());
  SetLogLevel(LogLevel::kDebug);
  const std::vector<nlohmann::json> lines = Write(absl::OkStatus());
  ASSERT_EQ(lines.size(), 1u);
  nlohmann::json line = lines[0];
  line.erase("time");
  EXPECT_EQ(line, nlohmann::json::parse(R"({
    "level": "debug", "msg": "call", "method": "Execute", "op": "L1Loss", "code": "OK",
    "peer": "ipv4:127.0.0.1:40000", "request_bytes": 100, "response_bytes": 20,
    "queued_ns": 200, "executed_ns": 300, "took_ns": 2000,
    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"})"));
}

TEST_F(CallLogTest, AFailureSaysWhyButQuotesNoValues) {
  const std::vector<nlohmann::json> lines =
      Write(OutOfRange("target", "a class below 10", "31337 at element 4"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["level"], "info");
  EXPECT_EQ(lines[0]["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(lines[0]["reason"], "OUT_OF_RANGE");
  EXPECT_EQ(lines[0]["parameter"], "target");
  EXPECT_EQ(lines[0].dump().find("31337"), std::string::npos);
}

TEST_F(CallLogTest, AFaultOfTheServersIsToldInWords) {
  const std::vector<nlohmann::json> lines = Write(absl::InternalError("the pool is broken"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["level"], "error");
  EXPECT_EQ(lines[0]["error"], "the pool is broken");
}

TEST_F(CallLogTest, OneMistakeAgainAndAgainHidesNoOther) {
  const absl::Status mistake = UnknownParameter("bate", "beta", "bate");
  EXPECT_EQ(Write(mistake, 100).size(), static_cast<size_t>(LimitedLog::kLinesPerSecond));
  EXPECT_EQ(Write(MissingParameter("self", "a tensor")).size(), 1u);
  clock_.Advance(absl::Seconds(1));
  const std::vector<nlohmann::json> lines = Write(mistake);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["left_out"], 100 - LimitedLog::kLinesPerSecond);
}

TEST_F(CallLogTest, LongNamesAreCut) {
  const std::string name(10'000, 'x');
  const std::vector<nlohmann::json> lines = Write(UnknownParameter(name, "beta", "x"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["parameter"], std::string(CallRecord::kMaxTextBytes, 'x'));
}

}  // namespace
}  // namespace opserve::server
