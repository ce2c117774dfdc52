#include "server/log/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
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

TEST(LogTest, WhatATerminalActsOnIsEscaped) {
  EXPECT_EQ(Line("call", {{"a", "\xc2\x9b"}, {"b", "\xe2\x80\xae"}, {"c", "\xff"}}),
            "time=2026-01-01T00:00:00.123Z level=warning msg=call a=\"\\xc2\\x9b\" "
            "b=\"\\xe2\\x80\\xae\" c=\"\\xff\"\n");
}

TEST(LogTest, JsonIsOneObjectALineWhateverTheBytes) {
  const std::string hostile = std::string("x\n\"},{\0\x1b\xff\xc2\x9b", 12) + "梯";
  const std::vector<LogField> fields = {{"name", hostile}, {"empty", ""}, LogNumber("bytes", -7)};
  const std::string line = FormatLogLine(absl::FromUnixMillis(1'767'225'600'123), LogLevel::kError,
                                         "call", fields, LogFormat::kJson);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_TRUE(std::all_of(line.begin(), line.end() - 1, [](char c) {
    return c >= ' ' && c <= '~';
  })) << line;
  const auto object = nlohmann::ordered_json::parse(line);
  EXPECT_EQ(object.size(), 6u);
  EXPECT_EQ(object["time"], "2026-01-01T00:00:00.123Z");
  EXPECT_EQ(object["level"], "error");
  EXPECT_EQ(object["msg"], "call");
  EXPECT_EQ(object["name"], std::string("x\n\"},{\0\x1b\xef\xbf\xbd\xc2\x9b", 14) + "梯");
  EXPECT_EQ(object["empty"], "");
  EXPECT_EQ(object["bytes"], -7);
}

TEST(LogTest, FormatsHaveNames) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson})
    EXPECT_EQ(ParseLogFormat(LogFormatName(format)), format);
  EXPECT_FALSE(ParseLogFormat("xml").has_value());
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
