#include "client/cpp/values/printable_text.h"

#include <gtest/gtest.h>

#include <string>

namespace opserve::client {
namespace {

TEST(PrintableTextTest, KeepsWhatIsShown) {
  for (const char* text : {"", "Op: beta: want >= 0, got -1", "a \\ b", "β ∂ 日本 😀 …"})
    EXPECT_EQ(PrintableText(text), text);
}

TEST(PrintableTextTest, EscapesWhatATerminalActsOn) {
  EXPECT_EQ(PrintableText("\x1b[2J\r\n\t\x7f"), "\\x1b[2J\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(PrintableText(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(PrintableText("\xc2\x9b"), "\\xc2\\x9b") << "a control of eight bits";
  EXPECT_EQ(PrintableText("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "from right to left";
  EXPECT_EQ(PrintableText("\xe2\x80\xa8\xe2\x81\xa6\xef\xbb\xbf"),
            "\\xe2\\x80\\xa8\\xe2\\x81\\xa6\\xef\\xbb\\xbf");
}

TEST(PrintableTextTest, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(PrintableText("a\xff"), "a\\xff");
  EXPECT_EQ(PrintableText("\xe2\x80"), "\\xe2\\x80") << "cut off";
  EXPECT_EQ(PrintableText("\xc0\x9b"), "\\xc0\\x9b") << "longer than needed";
  EXPECT_EQ(PrintableText("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(PrintableText("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last";
  EXPECT_EQ(PrintableText("\xe2β"), "\\xe2β");
}

TEST(PrintableTextTest, LineBreaksMayStay) {
  EXPECT_EQ(PrintableText("a\nb\r\n", LineBreaks::kKept), "a\nb\\x0d\n");
}

TEST(ShortTextTest, CutsBetweenCharacters) {
  EXPECT_EQ(ShortText("abcdef", 6), "abcdef");
  EXPECT_EQ(ShortText("abcdefg", 6), "abc…");
  EXPECT_EQ(ShortText("aββββ", 7), "aβ…");
  EXPECT_EQ(ShortText(std::string(10, '\x80'), 5), "…");
}

}  // namespace
}  // namespace opserve::client
