#include "core/base/trace_context.h"

#include <gtest/gtest.h>

namespace opserve {
namespace {

constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kParent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContextTest, IsReadAndWritten) {
  const std::optional<TraceContext> context = ParseTraceParent(kParent);
  ASSERT_TRUE(context.has_value());
  EXPECT_EQ(HexOf(context->trace_id), kTraceId);
  EXPECT_EQ(HexOf(context->parent_id), "00f067aa0ba902b7");
  EXPECT_TRUE(context->is_sampled());
  EXPECT_EQ(FormatTraceParent(*context), kParent);
}

TEST(TraceContextTest, OneFlagIsWhetherItIsSampled) {
  std::string text(kParent);
  for (const std::string flags : {"00", "02", "fe"}) {
    const std::optional<TraceContext> context = ParseTraceParent(text.replace(53, 2, flags));
    ASSERT_TRUE(context.has_value()) << text;
    EXPECT_FALSE(context->is_sampled()) << text;
  }
  EXPECT_TRUE(ParseTraceParent(text.replace(53, 2, "03"))->is_sampled());
}

TEST(TraceContextTest, ALaterVersionMayHaveMoreBehindIt) {
  const std::string later = std::string("cc") + (kParent + 2);
  for (const std::string& text : {later, later + "-", later + "-what the future will be like"}) {
    const std::optional<TraceContext> context = ParseTraceParent(text);
    ASSERT_TRUE(context.has_value()) << text;
    EXPECT_EQ(HexOf(context->trace_id), kTraceId);
  }
  EXPECT_FALSE(ParseTraceParent(later + ".what").has_value());
}

TEST(TraceContextTest, AnythingElseIsNone) {
  const std::string good(kParent);
  for (std::string text : {
           std::string(),
           std::string("00"),
           good.substr(1),
           good.substr(0, 54),
           good + "0",
           good + "-",
           " " + good,
           "ff" + good.substr(2),
           std::string("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"),
           std::string("00-00000000000000000000000000000000-00f067aa0ba902b7-01"),
           std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"),
           std::string("0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
           std::string("00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01"),
           std::string("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0\0", 55),
           std::string(1000, '0'),
       }) {
    EXPECT_FALSE(ParseTraceParent(text).has_value()) << text;
  }
  for (size_t i = 0; i < good.size(); ++i) {
    std::string text = good;
    text[i] = '\n';
    EXPECT_FALSE(ParseTraceParent(text).has_value()) << i;
  }
}

}  // namespace
}  // namespace opserve
