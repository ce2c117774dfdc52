#include "client/cli/commands/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "client/cli/output/report.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

using ::testing::HasSubstr;

std::variant<Arguments, Notice, Mistake> Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "opserve");
  return ParseArguments(static_cast<int>(words.size()), words.data());
}

std::string MistakeOf(const std::vector<const char*>& words) {
  const auto parsed = Parse(words);
  const auto* mistake = std::get_if<Mistake>(&parsed);
  if (mistake == nullptr) return "no mistake";
  EXPECT_EQ(ExitCodeOf(mistake->status), ExitCode::kUsage);
  return std::string(ToStd(mistake->status.message()));
}

TEST(ArgumentsTest, ReadsACall) {
  const auto parsed = Parse({"run",      "Op",          "-i",        "x=f32[4,2]{0,1}", "-i",
                             "y=[1]",    "-a",          "beta=-1",   "--dtype",         "out=bf16",
                             "-o",       "out=a=b.npy", "--device",  "cpu:1",           "--full",
                             "--target", "unix:/s",     "--timeout", "500ms",           "--json"});
  const auto* arguments = std::get_if<Arguments>(&parsed);
  ASSERT_NE(arguments, nullptr);
  EXPECT_EQ(arguments->command, Command::kRun);
  EXPECT_EQ(arguments->op, "Op");
  ASSERT_EQ(arguments->inputs.size(), 2u);
  EXPECT_EQ(arguments->inputs[0].name, "x");
  EXPECT_EQ(arguments->inputs[0].text, "f32[4,2]{0,1}");
  EXPECT_EQ(arguments->inputs[1].text, "[1]");
  EXPECT_EQ(arguments->attributes[0].text, "-1");
  EXPECT_EQ(arguments->dtypes[0].text, "bf16");
  EXPECT_EQ(arguments->files[0].text, "a=b.npy");
  EXPECT_EQ(arguments->device, "cpu:1");
  EXPECT_EQ(arguments->elements, Elements::kAll);
  EXPECT_EQ(arguments->target, "unix:/s");
  EXPECT_EQ(arguments->timeout, absl::Milliseconds(500));
  EXPECT_EQ(arguments->format, OutputFormat::kJson);
}

// A file of contexts, in a folder of its own.
class ContextsTest : public ::testing::Test {
 protected:
  ContextsTest() {
    std::ofstream(file_) << R"(
# two servers
[gpu]
target = "gpu.example.org:8500"
cacert = "ca.pem"
token-file = "/run/token"
server-name = gpu
timeout = "5s"

[local.socket]
target = "unix:/run/opserve"

[wrong]
taget = "host:1"

[long]
target = ["a:1", "b:1"]
)";
  }
  ~ContextsTest() override {
    unsetenv("OPSERVE_CONTEXT");
    unsetenv("OPSERVE_TARGET");
  }

  Arguments Read(std::vector<const char*> words) {
    words.insert(words.begin(), {"info", "--contexts", file_.c_str()});
    auto parsed = Parse(words);
    EXPECT_TRUE(std::holds_alternative<Arguments>(parsed));
    return std::holds_alternative<Arguments>(parsed) ? std::get<Arguments>(std::move(parsed))
                                                     : Arguments();
  }
  std::string Mistake(const char* name) {
    return MistakeOf({"info", "--contexts", file_.c_str(), "--context", name});
  }

  const std::string folder_ = ::testing::TempDir();
  const std::string file_ = folder_ + "contexts.toml";
};

TEST_F(ContextsTest, SaysHowToConnect) {
  const Arguments arguments = Read({"--context", "gpu"});
  EXPECT_EQ(arguments.target, "gpu.example.org:8500");
  EXPECT_TRUE(arguments.target_given);
  EXPECT_EQ(arguments.connect.root_ca, folder_ + "ca.pem");
  EXPECT_EQ(arguments.connect.token_file, "/run/token");
  EXPECT_EQ(arguments.connect.server_name, "gpu");
  EXPECT_EQ(arguments.timeout, absl::Seconds(5));
  EXPECT_EQ(Read({"--context=local.socket"}).target, "unix:/run/opserve");
  EXPECT_EQ(Read({}).target, "localhost:8500");
}

TEST_F(ContextsTest, ComesBehindTheCommandLineAndBeforeVariables) {
  ASSERT_EQ(setenv("OPSERVE_TARGET", "variable:1", 1), 0);
  EXPECT_EQ(Read({"--context", "gpu"}).target, "gpu.example.org:8500");
  EXPECT_EQ(Read({"--context", "gpu", "--target", "given:1"}).target, "given:1");
  EXPECT_EQ(Read({}).target, "variable:1");
  ASSERT_EQ(setenv("OPSERVE_CONTEXT", "local.socket", 1), 0);
  EXPECT_EQ(Read({}).target, "unix:/run/opserve");
  EXPECT_EQ(Read({"--context", "gpu"}).target, "gpu.example.org:8500");
}

TEST_F(ContextsTest, MistakesNameTheFileAndWhatWasWanted) {
  EXPECT_EQ(Mistake("gpo"),
            "--context: want one of " + file_ + " (gpu, local.socket, wrong, long), got 'gpo'");
  EXPECT_EQ(Mistake("wrong"),
            file_ +
                ": context wrong: want one of target, tls, cacert, cert, key, server-name, "
                "token-file, timeout, got 'taget'");
  EXPECT_EQ(Mistake("long"), file_ + ": context long: target: want one value, got 2");
  EXPECT_THAT(MistakeOf({"info", "--contexts", "/nowhere", "--context", "gpu"}),
              HasSubstr("/nowhere"));
  ASSERT_EQ(setenv("XDG_CONFIG_HOME", "/nowhere", 1), 0);
  EXPECT_EQ(MistakeOf({"info", "--context", "gpu"}),
            "--context: want a file of contexts, got none at /nowhere/opserve/contexts.toml "
            "(--contexts and $OPSERVE_CONTEXTS name another)");
  ASSERT_EQ(unsetenv("XDG_CONFIG_HOME"), 0);
}

TEST(ArgumentsTest, ListOptionsLeaveTheOperatorAlone) {
  const auto parsed = Parse({"run", "-i", "x=1", "Op"});
  ASSERT_TRUE(std::holds_alternative<Arguments>(parsed));
  EXPECT_EQ(std::get<Arguments>(parsed).op, "Op");
}

TEST(ArgumentsTest, StatsLooksOnceOrAgainAndAgain) {
  const auto watch = [](const std::vector<const char*>& words) {
    const auto parsed = Parse(words);
    const auto* arguments = std::get_if<Arguments>(&parsed);
    if (arguments == nullptr) return std::pair(-absl::InfiniteDuration(), int64_t{-1});
    EXPECT_EQ(arguments->command, Command::kStats);
    return std::pair(arguments->watch, arguments->count);
  };
  EXPECT_FALSE(std::get<Arguments>(Parse({"stats"})).all_methods);
  EXPECT_TRUE(std::get<Arguments>(Parse({"stats", "--all"})).all_methods);
  EXPECT_EQ(watch({"stats"}), std::pair(absl::ZeroDuration(), int64_t{0}));
  EXPECT_EQ(watch({"stats", "--watch"}), std::pair(absl::Seconds(1), int64_t{0}));
  EXPECT_EQ(watch({"stats", "--watch", "--count", "3"}), std::pair(absl::Seconds(1), int64_t{3}));
  EXPECT_EQ(watch({"stats", "--watch", "0.5", "--json"}),
            std::pair(absl::Milliseconds(500), int64_t{0}));
  EXPECT_THAT(MistakeOf({"stats", "--count", "3"}), HasSubstr("--watch"));
  EXPECT_THAT(MistakeOf({"stats", "--watch", "0"}), HasSubstr("--watch"));
  EXPECT_THAT(MistakeOf({"stats", "--watch", "soon"}), HasSubstr("--watch"));
  EXPECT_THAT(MistakeOf({"stats", "--watch", "--count", "0"}), HasSubstr("--count"));
}

TEST(ArgumentsTest, TargetComesFromOptionEnvironmentDefault) {
  ASSERT_EQ(unsetenv("OPSERVE_TARGET"), 0);
  EXPECT_EQ(std::get<Arguments>(Parse({"info"})).target, "localhost:8500");
  ASSERT_EQ(setenv("OPSERVE_TARGET", "host:1", 1), 0);
  EXPECT_EQ(std::get<Arguments>(Parse({"info"})).target, "host:1");
  EXPECT_EQ(std::get<Arguments>(Parse({"--target", "host:2", "info"})).target, "host:2");
  ASSERT_EQ(unsetenv("OPSERVE_TARGET"), 0);
}

TEST(ArgumentsTest, SuggestsTheNearestWord) {
  EXPECT_EQ(MistakeOf({"rnu", "Op"}), "unknown command 'rnu'; did you mean 'run'?");
  EXPECT_EQ(MistakeOf({"run", "Op", "--tmeout=5s"}),
            "unknown option '--tmeout'; did you mean '--timeout'?");
  EXPECT_EQ(MistakeOf({"run", "Op", "--ful"}), "unknown option '--ful'; did you mean '--full'?");
  EXPECT_EQ(MistakeOf({"--jsn", "info"}), "unknown option '--jsn'; did you mean '--json'?");
  EXPECT_EQ(MistakeOf({"info", "--zzzzzz"}), "unknown option '--zzzzzz'");
}

TEST(ArgumentsTest, NamesOtherMistakes) {
  EXPECT_THAT(MistakeOf({}), HasSubstr("want a command: ops, devices, info, plan, run"));
  EXPECT_EQ(MistakeOf({"info", "more"}), "unexpected argument 'more'");
  EXPECT_EQ(MistakeOf({"run", "Relu", "self=1"}),
            "unexpected argument 'self=1'; inputs are -i NAME=VALUE, attributes -a NAME=VALUE");
  EXPECT_EQ(MistakeOf({"run"}), "OP is required; see opserve run --help");
  EXPECT_THAT(MistakeOf({"program", "run"}), HasSubstr("; see opserve program run --help"));
  EXPECT_EQ(MistakeOf({"run", "Op", "-i", "x"}), "-i: want NAME=…, got 'x'");
  EXPECT_EQ(MistakeOf({"run", "Op", "-a", "=1"}), "-a: want NAME=…, got '=1'");
  EXPECT_EQ(MistakeOf({"run", "Op", "-o", "out="}), "-o: want NAME=FILE, got 'out='");
  EXPECT_THAT(MistakeOf({"info", "--timeout", "10"}),
              HasSubstr("--timeout: want a duration such as 500ms"));
  EXPECT_THAT(MistakeOf({"info", "--timeout", "-1s"}), HasSubstr("--timeout: want a duration"));
}

TEST(ArgumentsTest, JsonMistakesStayJson) {
  const auto parsed = Parse({"rnu", "--json"});
  ASSERT_TRUE(std::holds_alternative<Mistake>(parsed));
  EXPECT_EQ(std::get<Mistake>(parsed).format, OutputFormat::kJson);
}

TEST(ArgumentsTest, HelpTellsTheExitCodesAndTheGrammar) {
  const auto parsed = Parse({"--help"});
  ASSERT_TRUE(std::holds_alternative<Notice>(parsed));
  EXPECT_THAT(std::get<Notice>(parsed).text, HasSubstr("3  the server cannot be reached"));
  const auto run = Parse({"run", "--help"});
  ASSERT_TRUE(std::holds_alternative<Notice>(run));
  EXPECT_THAT(std::get<Notice>(run).text, HasSubstr(".strides(1,4)"));
  EXPECT_THAT(std::get<Notice>(Parse({"--version"})).text, HasSubstr("opserve "));
}

}  // namespace
}  // namespace opserve::cli
