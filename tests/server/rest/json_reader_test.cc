// JSON as RFC 8259 has it, and what is none.
#include "server/rest/json_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

// The value as nlohmann has it; everything read by the reader's own functions.
nlohmann::json ReadValue(JsonReader& json) {
  nlohmann::json value;
  std::string text;
  bool truth = false;
  Number number;
  switch (json.Peek()) {
    case JsonReader::Kind::kObject:
      value = nlohmann::json::object();
      (void)json.BeginObject();
      while (json.NextMember(text)) value[text] = ReadValue(json);
      return value;
    case JsonReader::Kind::kArray:
      value = nlohmann::json::array();
      (void)json.BeginArray();
      while (json.NextItem()) value.push_back(ReadValue(json));
      return value;
    case JsonReader::Kind::kString:
      (void)json.ReadString(text);
      return text;
    case JsonReader::Kind::kBool:
      (void)json.ReadBool(truth);
      return truth;
    default:
      if (!json.ReadNumber(number)) return value;
      return std::visit([](auto each) { return nlohmann::json(each); }, number);
  }
}

TEST(JsonReaderTest, ReadsWhatAnotherReaderReads) {
  for (const char* text :
       {"0", "-0", "12", "-3.5e2", "1E+3", "0.1", "18446744073709551615", "9223372036854775807",
        "-9223372036854775808", "1e300", "true", "false", "\"\"", "\"a\\n\\u00e4\\ud83d\\ude00ä\"",
        "[]", "[ 1 , [ ] , {} ]", "{\"a\":{\"b\":[1,2]},\"c\":\"d\"}", " \t\r\n[true,false] "}) {
    JsonReader json(text);
    EXPECT_EQ(ReadValue(json), nlohmann::json::parse(text)) << text;
    EXPECT_TRUE(json.End()) << text;
  }
}

TEST(JsonReaderTest, RefusesWhatIsNoJson) {
  for (const char* text : {"",
                           " ",
                           "01",
                           "-",
                           "1.",
                           ".5",
                           "1e",
                           "+1",
                           "1e999",
                           "NaN",
                           "Infinity",
                           "tru",
                           "[1,]",
                           "[1 2]",
                           "[",
                           "{",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "[1}",
                           "{\"a\":1]",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\n\"",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "1 2",
                           "[]]",
                           "null"}) {
    JsonReader json(text);
    (void)ReadValue(json);
    EXPECT_FALSE(json.End()) << text;
    EXPECT_FALSE(json.status().ok()) << text;
  }
}

TEST(JsonReaderTest, AnErrorNamesTheByteOfTheWhole) {
  JsonReader json("[1,x]", 100);
  (void)ReadValue(json);
  EXPECT_EQ(json.status().message(),
            "message: want JSON with a number at byte 103, got something else");
}

TEST(JsonReaderTest, NumbersAreWhatTheyAreWrittenAs) {
  const auto read = [](std::string_view text) {
    JsonReader json(text);
    Number number;
    EXPECT_TRUE(json.ReadNumber(number)) << text;
    return number;
  };
  EXPECT_EQ(read("7"), Number(int64_t{7}));
  EXPECT_EQ(read("18446744073709551615"), Number(uint64_t{18446744073709551615U}));
  EXPECT_EQ(read("7.0"), Number(7.0));
  EXPECT_EQ(read("1e-400"), Number(0.0));
  EXPECT_EQ(read("99999999999999999999"), Number(1e20));
  EXPECT_TRUE(std::isnan(std::get<double>(read("\"NaN\""))));
  EXPECT_EQ(read("\"-Infinity\""), Number(-std::numeric_limits<double>::infinity()));
}

TEST(JsonReaderTest, DepthIsBounded) {
  for (const size_t depth : {JsonReader::kMaxDepth, JsonReader::kMaxDepth + 1}) {
    const std::string text = std::string(depth, '[') + std::string(depth, ']');
    JsonReader json(text);
    (void)ReadValue(json);
    EXPECT_EQ(json.End(), depth == JsonReader::kMaxDepth);
  }
}

TEST(JsonReaderTest, SkipsAValueWithoutReadingIt) {
  for (const std::string value :
       {"12", "\"a]\\\"}\"", "[1,[2,{\"]\":\"}\"}]]", "{\"a\":[1]}", "true"}) {
    const std::string text = "[" + value + ",5]";
    JsonReader json(text, 10);
    std::string_view skipped;
    size_t start = 0;
    Number number;
    ASSERT_TRUE(json.BeginArray() && json.NextItem());
    EXPECT_TRUE(json.SkipUnread(skipped, start)) << text;
    EXPECT_EQ(skipped, value);
    EXPECT_EQ(start, 11u);
    EXPECT_TRUE(json.NextItem() && json.ReadNumber(number)) << text;
    EXPECT_EQ(number, Number(int64_t{5}));
  }
  for (const char* text : {"", "[1", "\"a", "\"a\\", "{\"a\":"}) {
    JsonReader json(text);
    std::string_view skipped;
    size_t start = 0;
    EXPECT_FALSE(json.SkipUnread(skipped, start)) << text;
  }
}

TEST(JsonReaderTest, TextsThatAreWrittenAreReadAgain) {
  std::string every;
  for (int c = 0; c < 0x80; ++c) every.push_back(static_cast<char>(c));
  every.append("äß😀");
  std::string json;
  AppendJsonString(every, json);
  EXPECT_EQ(nlohmann::json::parse(json), every);
  json.clear();
  AppendJsonString("a\xff\xc3", json);
  EXPECT_EQ(nlohmann::json::parse(json), "a\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace opserve::server
