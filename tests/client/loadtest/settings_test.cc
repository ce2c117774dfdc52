#include "client/loadtest/scenario/settings.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/strings.h"
#include "tests/support/status_matchers.h"

namespace opserve::loadtest {
namespace {

TEST(LevelsTest, AreListsAndRanges) {
  using Numbers = std::vector<double>;
  EXPECT_EQ(*ParseLevels("rate", "1,2, 8"), (Numbers{1, 2, 8}));
  EXPECT_EQ(*ParseLevels("rate", "1..20"), (Numbers{1, 2, 4, 8, 16}));
  EXPECT_EQ(*ParseLevels("rate", "10..30+10"), (Numbers{10, 20, 30}));
  EXPECT_EQ(*ParseLevels("rate", "1..81*3,100"), (Numbers{1, 3, 9, 27, 81, 100}));
  EXPECT_EQ(*ParseLevels("rate", "0.5"), (Numbers{0.5}));
}

TEST(LevelsTest, MistakesAreNamed) {
  for (const char* text : {"", "0", "-1", "x", "1,", "2..1", "1..4*1", "1..4+0", "1..4*", "..4",
                           "1..1000+1", "nan", "inf", "1..inf"}) {
    const auto levels = ParseLevels("rate", text);
    ASSERT_FALSE(levels.ok()) << text;
    EXPECT_EQ(ToStd(levels.status().message()).find("rate: want"), 0U) << levels.status();
  }
}

TEST(SettingsTest, AreSet) {
  Settings settings;
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{{"mode", "batch"},
                                                        {"concurrency", "1..4"},
                                                        {"duration", "250ms"},
                                                        {"stable", "5%"},
                                                        {"count", "1000"},
                                                        {"goal", "p99.9<2ms"},
                                                        {"check", "1"},
                                                        {"arrivals", "even"}})
    EXPECT_THAT(Set(name, value, settings), testing::IsOk()) << name;
  EXPECT_EQ(settings.mode, Mode::kBatch);
  EXPECT_EQ(settings.concurrency, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(settings.duration, absl::Milliseconds(250));
  EXPECT_DOUBLE_EQ(settings.tolerance.value(), 0.05);
  EXPECT_EQ(settings.count, 1000);
  EXPECT_DOUBLE_EQ(settings.goal->quantile, 0.999);
  EXPECT_EQ(settings.goal->limit, absl::Milliseconds(2));
  EXPECT_EQ(settings.checked_fraction, 1);
  EXPECT_EQ(settings.spacing, Spacing::kEven);
}

TEST(SettingsTest, QuantilesHaveSeveralNames) {
  for (const auto& [text, quantile] :
       std::vector<std::pair<const char*, double>>{{"p50<1s", 0.5},
                                                   {"p99<1s", 0.99},
                                                   {"p999<1s", 0.999},
                                                   {"p99.99<1s", 0.9999},
                                                   {"p05<1s", 0.05}}) {
    Settings settings;
    ASSERT_THAT(Set("goal", text, settings), testing::IsOk()) << text;
    EXPECT_DOUBLE_EQ(settings.goal->quantile, quantile) << text;
  }
}

TEST(SettingsTest, MistakesAreNamed) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, const char*>>{
           {"mode", "bulk"},       {"concurrency", "1.5"}, {"concurrency", "1000000"},
           {"rate", "1e9"},        {"duration", "10"},     {"duration", "0s"},
           {"duration", "25h"},    {"warm-up", "-1s"},     {"stable", "0"},
           {"stable", "200%"},     {"count", "0"},         {"count", "1.5"},
           {"goal", "p99"},        {"goal", "p100<1s"},    {"goal", "p0<1s"},
           {"goal", "p99<0"},      {"goal", "99<1s"},      {"goal", "p9999999999<1s"},
           {"check", "2"},         {"check", "nan"},       {"connections", "0"},
           {"seed", "-1"},         {"replay", ""},         {"steps", "5"},
           {"steps", "1@23h,1@2h"}}) {
    Settings settings;
    const absl::Status status = Set(name, value, settings);
    ASSERT_FALSE(status.ok()) << name << " " << value;
    EXPECT_EQ(ToStd(status.message()).find(name + ": want"), 0U) << status;
  }
}

TEST(SettingsTest, UnknownOnesSayWhatIsNear) {
  Settings settings;
  const absl::Status status = Set("durations", "1s", settings);
  EXPECT_NE(ToStd(status.message()).find("did you mean 'duration'"), std::string::npos) << status;
}

TEST(SettingsTest, OneLoadAtATime) {
  Settings settings;
  EXPECT_THAT(CheckTogether(settings), testing::IsOk());
  settings.rates = {1};
  EXPECT_THAT(CheckTogether(settings), testing::IsOk());
  settings.concurrency = {1};
  EXPECT_FALSE(CheckTogether(settings).ok());
  Settings goal;
  ASSERT_THAT(Set("goal", "p99<1ms", goal), testing::IsOk());
  goal.rates = {1, 2};
  EXPECT_FALSE(CheckTogether(goal).ok()) << "a search begins at one level";
}

}  // namespace
}  // namespace opserve::loadtest
