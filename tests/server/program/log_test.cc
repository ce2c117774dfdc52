#include "server/log/log.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/fake_clock.h"

namespace opserve::server {
namespace {

std::string Line(std::string_view message, const std::vector<LogField>& fields) {
  return FormatLogLine(absl::FromUnixMillis(1'767'225'600'123), LogLevel::kWarning, message,
                       fields);
}

TEST(LogTest, OneLineInUtc) {
  EXPECT_EQ(
      Line("serving", {{"address", "localhost:8500"}, {"threads", "2"}}),
      "time=2026-01-01T00:00:00.123Z level=warning msg=serving address=localhost:8500 threads=2\n");
}

TEST(LogTest, NoValueBreaksTheLineOrForgesAField) {
  EXPECT_EQ(
      Line("cannot start",
           {{"a", ""}, {"b", "x\ny=\"z\"\\"}, {"c", std::string("\0\x1b", 2)}, {"d", "梯度"}}),
      "time=2026-01-01T00:00:00.123Z level=warning msg=\"cannot start\" a=\"\" "
      "b=\"x\\ny=\\\"z\\\"\\\\\" "
      "c=\"\\x00\\x1b\" d=梯度\n");
}

TEST(LogTest, LevelsHaveNames) {
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError}) {
    EXPECT_EQ(ParseLogLevel(LogLevelName(level)), level);
  }
  EXPECT_FALSE(ParseLogLevel("loud").has_value());
}

TEST(LogTest, WhatClientsCauseIsLimited) {
  testing::FakeClock clock;
  LimitedLog log(clock);
  for (int i = 0; i < LimitedLog::kLinesPerSecond; ++i) EXPECT_EQ(log.Admit(), 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(log.Admit(), std::nullopt);
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(log.Admit(), 1000);
  EXPECT_EQ(log.Admit(), 0);
}

}  // namespace
}  // namespace opserve::server
