#include "client/loadtest/scenario/scenario.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/strings.h"
#include "tests/support/status_matchers.h"

namespace opserve::loadtest {
namespace {

absl::StatusOr<Scenario> Read(std::string_view text) { return ReadScenario("load.yaml", text); }

TEST(ScenarioTest, SaysAllOfALoad) {
  const auto scenario = Read(R"yaml(
title: A step
targets: ["a:1", "b:2"]
connections: 4
concurrency: [1, 2, 8]
warm_up: 250ms
operators:
  - L1Loss
  - op: CtcLoss
    name: lattice
    weight: 2.5
    shape: [8, 4]
    dtype: f32
    device: cpu:0
    timeout: 50ms
    inputs:
      targets: "i64[4].random(1,9)"
      input_lengths: "i64{8,8}"
    attributes: {reduction: mean, output_mask: [true, false]}
    outputs: {out: bf16}
)yaml");
  ASSERT_THAT(scenario, testing::IsOk());
  EXPECT_EQ(scenario->title, "A step");
  EXPECT_EQ(scenario->targets, (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(scenario->settings.connections, 4);
  EXPECT_EQ(scenario->settings.concurrency, (std::vector<int>{1, 2, 8}));
  EXPECT_EQ(scenario->settings.warm_up, absl::Milliseconds(250));
  ASSERT_EQ(scenario->operators.size(), 2U);
  EXPECT_EQ(scenario->operators[0].op, "L1Loss");
  EXPECT_EQ(scenario->operators[0].name, "L1Loss");
  EXPECT_EQ(scenario->operators[0].weight, 1);
  const OperatorEntry& entry = scenario->operators[1];
  EXPECT_EQ(entry.name, "lattice");
  EXPECT_EQ(entry.weight, 2.5);
  EXPECT_EQ(entry.shape, "8,4");
  EXPECT_EQ(entry.device, "cpu:0");
  EXPECT_EQ(entry.timeout, absl::Milliseconds(50));
  EXPECT_EQ(entry.line, 9);
  EXPECT_EQ(entry.inputs,
            (NamedTexts{{"targets", "i64[4].random(1,9)"}, {"input_lengths", "i64{8,8}"}}));
  EXPECT_EQ(entry.attributes, (NamedTexts{{"reduction", "mean"}, {"output_mask", "true,false"}}));
  EXPECT_EQ(entry.dtypes, (NamedTexts{{"out", "bf16"}}));
}

struct Mistake {
  const char* text;
  const char* said;  // how the error begins
};

TEST(ScenarioTest, MistakesHaveTheirLine) {
  for (const auto& [text, said] : std::vector<Mistake>{
           {"", "load.yaml:1: scenario: want a map"},
           {"- a", "load.yaml:1: scenario: want a map"},
           {"title: x", "load.yaml:1: operators: want at least one operator, got none"},
           {"title: x\noperators: 3", "load.yaml:2: operators: want a list"},
           {"title: x\noperators:\n  - weight: 1", "load.yaml:3: op: want the name"},
           {"operators: [A]\nduration: 5\n", "load.yaml:2: duration: want a time"},
           {"operators: [A]\n\ndurations: 5s\n", "load.yaml:3: durations: want a key"},
           {"operators: [A]\nrate: 5\nrate: 6\n", "load.yaml:3: rate: want it once"},
           {"operators:\n  - op: A\n    weight: -1\n", "load.yaml:3: weight: want a number"},
           {"operators:\n  - op: A\n    timeout: 0s\n", "load.yaml:3: timeout: want more than 0"},
           {"operators:\n  - op: A\n    wait: 1\n", "load.yaml:3: wait: want a key"},
           {"operators:\n  - op: A\n    inputs: 1\n", "load.yaml:3: inputs: want a map"},
           {"operators:\n  - op: A\n    inputs: {a: {b: c}}\n", "load.yaml:3: a: want a number"},
           {"operators: [A]\nrate: [1, [2]]", "load.yaml:2: rate: want a list"},
           {"operators: [A]\nrate: 1\nconcurrency: 1", "load.yaml:1: concurrency, rate"},
           {"operators: [A]\nmode: [", "load.yaml:2: scenario: want YAML"},
           {"operators: [A]\nmode: *none", "load.yaml:2: scenario: want YAML"},
           {"operators: [A]\n\tmode: unary", "load.yaml:2: scenario: want YAML"},
       }) {
    const auto scenario = Read(text);
    ASSERT_FALSE(scenario.ok()) << text;
    EXPECT_EQ(ToStd(scenario.status().message()).find(said), 0U) << text << "\n"
                                                                 << scenario.status();
  }
}

TEST(ScenarioTest, IsBounded) {
  EXPECT_FALSE(Read(std::string(kMaxScenarioBytes + 1, ' ')).ok());
  std::string many = "operators:\n";
  for (size_t i = 0; i <= kMaxOperators; ++i) many += "  - A\n";
  EXPECT_FALSE(Read(many).ok());
  EXPECT_FALSE(Read(std::string(100'000, '[')).ok());
  // What aliases repeat is refused before it is written out.
  std::string aliases = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char name = 'b'; name < 'j'; ++name) {
    const char before = static_cast<char>(name - 1);
    aliases += std::string() + name + ": &" + name + " [*" + before + ",*" + before + "]\n";
  }
  EXPECT_FALSE(Read(aliases).ok());
}

// Those that are installed.
TEST(ScenarioTest, TheReadyOnesAreRead) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(SCENARIO_FOLDER)) {
    std::ostringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const auto scenario = ReadScenario(file.path().filename(), text.str());
    EXPECT_THAT(scenario, testing::IsOk());
    if (scenario.ok()) {
      EXPECT_FALSE(scenario->title.empty()) << file.path();
    }
    ++files;
  }
  EXPECT_GE(files, 5);
}

}  // namespace
}  // namespace opserve::loadtest
