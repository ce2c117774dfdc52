// `opserve bench` against the real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/client/cli/process.h"

namespace opserve::client {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

// Short, as what is tested is not how fast the server is.
const Words kShort = {"--warm-up", "50ms", "--duration", "300ms"};

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class BenchTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string socket =
        ::testing::TempDir() + "/bench_" + std::to_string(getpid()) + "_memory.sock";
    server_ = new ServerProcess({"--allow-shared-memory", "unix:" + socket});
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->Stop(), 0) << "the server leaves cleanly";
    delete server_;
  }
  void SetUp() override {
    ASSERT_FALSE(server_->unix_target().empty()) << "opserve-server did not start";
    folder_ = ::testing::TempDir() + "/bench_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static Finished Bench(const Words& words) {
    return RunProgram("opserve",
                      Words{"bench"} + words + Words{"--target", server_->unix_target()});
  }

  // The report of a run that must succeed.
  static json Report(const Words& words) {
    const Finished done = Bench(words + Words{"--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out, nullptr, false);
  }

  // What the server has counted so far.
  static json Statistics() {
    const Finished done =
        RunProgram("opserve", {"stats", "--json", "--target", server_->unix_target()});
    return json::parse(done.out, nullptr, false);
  }

  // Calls of `op` that ended, whichever way they came.
  static int64_t CallsOf(const std::string& op) {
    const json counted = Statistics();
    for (const json& one : counted["operators"])
      if (one["operator"] == op) return one["calls"];
    return 0;
  }

  // Until the server has ended some more of these than `before`: a load is under way.
  static void AwaitLoad(const std::string& op, int64_t before) {
    for (int i = 0; i < 1000 && CallsOf(op) < before + 20; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/" + name).rdbuf();
    return text.str();
  }

  std::string folder_;
  static ServerProcess* server_;
};

ServerProcess* BenchTest::server_ = nullptr;

TEST_F(BenchTest, AnOperatorsNameIsEnough) {
  const json report =
      Report(Words{"SmoothL1LossBackward", "--shape", "64", "--concurrency", "1,4"} + kShort);
  ASSERT_EQ(report["levels"].size(), 2U);
  for (const json& level : report["levels"]) {
    EXPECT_GT(level["served"], 0);
    EXPECT_EQ(level["failed"], 0);
    EXPECT_EQ(level["loop"], "closed");
    EXPECT_GT(level["calls_per_second"], 0);
    EXPECT_GT(level["latency_us"]["p50"], 0);
    EXPECT_LE(level["latency_us"]["p50"], level["latency_us"]["max"]);
    EXPECT_EQ(level["executed_us"]["count"], level["latency_us"]["count"]);
    EXPECT_GE(level["windows"].size(), 3U);
  }
  EXPECT_EQ(report["levels"][1]["load"], 4);
}

// What a run says it did is what the server has counted, in every mode.
TEST_F(BenchTest, TotalsAreThoseOfTheServer) {
  for (const std::string mode : {"unary", "batch", "session", "shared"}) {
    const int64_t before = CallsOf("L1Loss");
    const json report = Report(Words{"L1Loss", "--shape", "32", "--mode", mode, "--concurrency",
                                     "4", "--batch", "10", "--check", "1"} +
                               kShort);
    int64_t calls = report["prepared_calls"];
    for (const json& level : report["levels"]) {
      calls += level["totals"]["calls"].get<int64_t>();
      EXPECT_EQ(level["totals"]["failed"], 0) << mode << level["failures"];
      EXPECT_EQ(level["totals"]["checked"], level["totals"]["calls"]) << mode;
      EXPECT_EQ(level["executed_us"]["count"], level["latency_us"]["count"]) << mode;
    }
    EXPECT_EQ(CallsOf("L1Loss") - before, calls) << mode;
  }
}

TEST_F(BenchTest, ACountIsExact) {
  const int64_t before = CallsOf("MseLoss");
  const json report = Report({"MseLoss", "--shape", "8", "--concurrency", "3", "--count", "100",
                              "--warm-up", "0s", "--duration", "60s"});
  EXPECT_EQ(report["levels"][0]["served"], 100);
  EXPECT_EQ(CallsOf("MseLoss") - before, 101);
}

TEST_F(BenchTest, AnOpenLoopKeepsItsRate) {
  const json report = Report({"L1Loss", "--shape", "8", "--rate", "200", "--arrivals", "even",
                              "--warm-up", "0s", "--duration", "1s"});
  const json& level = report["levels"][0];
  EXPECT_EQ(level["loop"], "open");
  EXPECT_NEAR(level["served"].get<double>() + level["unsent"].get<double>(), 200, 20);
}

TEST_F(BenchTest, StepsAndRecordedTimesAreRuns) {
  const json steps =
      Report({"L1Loss", "--shape", "8", "--steps", "100@300ms,0..200@300ms", "--arrivals", "even"});
  EXPECT_NEAR(steps["levels"][0]["served"].get<double>(), 60, 3);
  const std::string times = Write("times", "0\n0.01\n0.01\n0.05 # late\n");
  const json replay = Report({"L1Loss", "--shape", "8", "--replay", times});
  EXPECT_EQ(replay["levels"][0]["served"], 4);
  const Finished bad = Bench({"L1Loss", "--shape", "8", "--replay", Write("bad", "0\n1\nsoon\n")});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("line 3: want seconds"));
}

// A closed loop would send nothing meanwhile and see one slow call; an open loop's calls were due.
TEST_F(BenchTest, AStallShowsInAnOpenLoop) {
  std::thread stall([before = CallsOf("L1Loss")] {
    AwaitLoad("L1Loss", before);
    server_->Signal(SIGSTOP);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    server_->Signal(SIGCONT);
  });
  const json report = Report({"L1Loss", "--shape", "8", "--rate", "100", "--warm-up", "0s",
                              "--duration", "6s", "--call-timeout", "10s"});
  stall.join();
  const json& level = report["levels"][0];
  EXPECT_EQ(level["failed"], 0);
  EXPECT_GE(level["latency_us"]["max"], 900'000);
  EXPECT_GE(level["latency_us"]["p99"], 600'000) << "a sixth of the calls were due in the stall";
  EXPECT_NEAR(level["served"].get<double>(), 600, 150) << "all of them were sent";
}

// The server hears nothing of it: TotalsAreThoseOfTheServer would count it.
TEST_F(BenchTest, ItsOwnCeilingIsMeasured) {
  for (const std::string mode : {"unary", "batch", "session", "shared"}) {
    const json report = Report(Words{"L1Loss", "--shape", "8", "--mode", mode, "--batch", "5",
                                     "--concurrency", "1,4", "--connections", "2"} +
                               kShort);
    const json& ceiling = report["ceiling"];
    ASSERT_TRUE(ceiling.is_object()) << mode << report["levels"];
    EXPECT_GT(ceiling["calls_per_second"], 0) << mode;
    EXPECT_EQ(ceiling["near"], ceiling["share"] >= 0.8) << mode;
    double most = 0;
    for (const json& level : report["levels"])
      most = std::max(most, level["calls_per_second"].get<double>());
    EXPECT_NEAR(ceiling["share"].get<double>(), most / ceiling["calls_per_second"].get<double>(),
                1e-6);
  }
}

// Of the mix each entry has an answer of its own.
TEST_F(BenchTest, TheCeilingIsThatOfTheWholeMix) {
  const std::string file = Write("mix.yaml", R"yaml(
concurrency: 4
warm-up: 50ms
duration: 300ms
check: 1
operators:
  - {op: L1Loss, shape: 16}
  - {op: Relu, shape: 16}
)yaml");
  for (const std::string mode : {"unary", "session"}) {
    const json report = Report({"--scenario", file, "--mode", mode});
    EXPECT_EQ(report["levels"][0]["failed"], 0) << report["levels"][0]["failures"];
    ASSERT_TRUE(report["ceiling"].is_object()) << report["levels"][0]["warnings"];
    EXPECT_GT(report["ceiling"]["calls_per_second"], 0) << mode;
  }
}

TEST_F(BenchTest, TheCeilingIsMeasuredWhereItMayHaveBeenReached) {
  const auto has_ceiling = [](const Words& words) {
    return Report(Words{"L1Loss", "--shape", "8", "--warm-up", "50ms"} + words).contains("ceiling");
  };
  EXPECT_FALSE(has_ceiling({"--duration", "300ms", "--concurrency", "2", "--no-ceiling"}));
  EXPECT_FALSE(has_ceiling({"--duration", "3s", "--rate", "50", "--arrivals", "even"}))
      << "it kept its rate";
  EXPECT_TRUE(has_ceiling({"--duration", "300ms", "--rate", "200000", "--max-outstanding", "4"}))
      << "it did not";
}

TEST_F(BenchTest, CtrlCEndsALoadAndReports) {
  const int64_t before = CallsOf("L1Loss");
  const Finished done =
      RunInterrupted("opserve",
                     {"bench", "L1Loss", "--shape", "8", "--rate", "100,200", "--warm-up", "100ms",
                      "--duration", "60s", "--json", "--target", server_->unix_target()},
                     [before] { AwaitLoad("L1Loss", before); });
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const json report = json::parse(done.out, nullptr, false);
  ASSERT_EQ(report["levels"].size(), 1U) << "the second level was not begun";
  EXPECT_EQ(report["levels"][0]["interrupted"], true);
  EXPECT_GT(report["levels"][0]["served"], 0);
}

// A load on several servers, of which none is told of the others.
TEST_F(BenchTest, TargetsShareALoad) {
  const int64_t before = CallsOf("Relu");
  const ServerProcess other;
  const Finished done =
      RunProgram("opserve", Words{"bench", "Relu", "--shape", "8", "--concurrency", "4", "--json",
                                  "--target", server_->unix_target() + "," + other.unix_target()} +
                                kShort);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const json report = json::parse(done.out, nullptr, false);
  EXPECT_EQ(report["targets"].size(), 2U);
  const int64_t here = CallsOf("Relu") - before;
  const int64_t all = report["levels"][0]["totals"]["calls"].get<int64_t>() +
                      report["prepared_calls"].get<int64_t>();
  EXPECT_GT(here, 1);
  EXPECT_GT(all - here, 1);
}

TEST_F(BenchTest, ScenariosMixOperators) {
  const std::string file = Write("mix.yaml", R"yaml(
title: A mix
concurrency: 4
warm-up: 50ms
duration: 300ms
connections: 2
operators:
  - {op: L1Loss, shape: 16, weight: 3}
  - op: NLLLoss
    name: classes
    inputs: {self: "f32[8,10]", target: "i64[8].random(0,9)", weight: "f32[10]=1"}
)yaml");
  const json report = Report({"--scenario", file});
  EXPECT_EQ(report["title"], "A mix");
  const json& entries = report["levels"][0]["operators"];
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1]["name"], "classes");
  EXPECT_GT(entries[0]["served"], entries[1]["served"]);
  EXPECT_EQ(report["levels"][0]["failed"], 0) << report["levels"][0]["failures"];
  const Finished bad = Bench({"--scenario", Write("bad.yaml", "operators: [L1Loss]\nspeed: 3\n")});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.yaml:2: speed: want a key"));
}

TEST_F(BenchTest, FailuresHaveTheirReason) {
  const std::string file = Write("late.yaml", R"yaml(
concurrency: 2
warm-up: 0s
duration: 300ms
operators:
  - {op: L1Loss, shape: 16}
  - {op: L1Loss, shape: [2000, 1000], name: large, timeout: 1ms}
)yaml");
  const json report = Report({"--scenario", file});
  const json& level = report["levels"][0];
  EXPECT_GT(level["served"], 0);
  ASSERT_GT(level["failed"], 0);
  EXPECT_EQ(level["failures"][0]["code"], "DEADLINE_EXCEEDED") << level["failures"];
}

TEST_F(BenchTest, ASearchFindsALoad) {
  const json report =
      Report(Words{"L1Loss", "--shape", "8", "--goal", "p50<5s", "--concurrency", "1", "--count",
                   "20", "--check", "0", "--warm-up", "0s", "--duration", "10s"});
  EXPECT_EQ(report["search"]["goal"], "p50<5s");
  EXPECT_GT(report["search"]["highest"], 1);
}

TEST_F(BenchTest, ReportsAreWritten) {
  const Words run = Words{"L1Loss", "--shape", "16", "--concurrency", "2"} + kShort;
  const std::string json_file = folder_ + "/run.json";
  const Finished text = Bench(run + Words{"--save", json_file, "--html", folder_ + "/run.html"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("load"));
  EXPECT_THAT(text.out, HasSubstr("\n2 under way "));
  EXPECT_THAT(text.err, ::testing::IsEmpty()) << "no progress where there is no terminal";
  EXPECT_THAT(Read("run.html"), StartsWith("<!doctype html>"));
  EXPECT_TRUE(json::accept(Read("run.json")));
  const Finished csv = Bench(run + Words{"--csv"});
  EXPECT_THAT(csv.out, StartsWith("load,calls_per_second,"));
  const Finished both =
      Bench({"--compare", json_file, "--compare", json_file, "--html", folder_ + "/both.html"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_GT(Read("both.html").size(), Read("run.html").size());
}

TEST_F(BenchTest, FilesThatCannotBeWrittenLoseNothingElse) {
  const Finished done = Bench(Words{"L1Loss", "--shape", "16", "--concurrency", "2", "--save",
                                    folder_ + "/none/run.json", "--html", folder_ + "/run.html"} +
                              kShort);
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.err, HasSubstr("none/run.json"));
  EXPECT_THAT(done.out, StartsWith("load"));
  EXPECT_THAT(Read("run.html"), StartsWith("<!doctype html>"));
}

// Before a server is spoken to: there is none.
TEST_F(BenchTest, FilesAreReadFirst) {
  const Words run = {"bench", "L1Loss", "--shape", "16", "--target", "unix:/nowhere/at/all"};
  const auto error = [&run](const Words& words) {
    const Finished done = RunProgram("opserve", run + words);
    EXPECT_EQ(done.exit_code, 2) << done.err;
    return done.err;
  };
  const std::string page = folder_ + "/x.html";
  EXPECT_THAT(error({"--compare", folder_ + "/none.json", "--html", page}), HasSubstr("none.json"));
  EXPECT_THAT(error({"--compare", Write("x.json", "{}"), "--html", page}),
              HasSubstr("x.json: want a report"));
  EXPECT_THAT(error({"--replay", folder_ + "/none.txt"}), HasSubstr("none.txt"));
  EXPECT_THAT(error({"--replay", Write("times.txt", "soon")}), HasSubstr("times.txt"));
}

TEST_F(BenchTest, MistakesAreTold) {
  const auto error = [](const Words& words, int code) {
    const Finished done = Bench(words);
    EXPECT_EQ(done.exit_code, code) << done.err;
    return done.err;
  };
  EXPECT_THAT(error({}, 2), HasSubstr("want an operator or --scenario"));
  EXPECT_THAT(error({"L1Loss"}, 2), HasSubstr("L1Loss: self: want a tensor"));
  EXPECT_THAT(error({"L1Loss", "--shape", "x"}, 2), HasSubstr("--shape: want extents"));
  EXPECT_THAT(error({"L1Loss", "--shape", "8", "--rate", "0"}, 2), HasSubstr("rate: want numbers"));
  EXPECT_THAT(error({"L1Loss", "-i", "self=f32[4].random(1)"}, 2), HasSubstr("want two numbers"));
  EXPECT_THAT(error({"L1Los", "--shape", "8"}, 1), HasSubstr("L1Los"));
  EXPECT_THAT(error({"L1Loss", "-i", "self=f32[3]", "-i", "target=f32[4]"}, 1),
              HasSubstr("L1Loss"));
  EXPECT_THAT(error({"--compare", Write("x.json", "{}"), "--html", folder_ + "/x.html"}, 2),
              HasSubstr("x.json: want a report"));
}

}  // namespace
}  // namespace opserve::client
