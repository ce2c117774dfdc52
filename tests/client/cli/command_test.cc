// The `opserve` command against the real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "client/cli/formats/npy.h"
#include "tests/client/cli/process.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

using Words = std::vector<std::string>;

class CommandTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new ServerProcess(); }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->Stop(), 0) << "the server leaves cleanly";
    delete server_;
  }

  void SetUp() override {
    ASSERT_NE(std::getenv("OPSERVE_BIN_DIR"), nullptr) << "ctest sets it";
    ASSERT_FALSE(server_->unix_target().empty()) << "opserve-server did not start";
  }

  static Finished Run(Words words, const std::string& input = "") {
    words.insert(words.end(), {"--target", server_->unix_target()});
    return RunProgram("opserve", words, input);
  }

  // `run SmoothL1LossBackward` on the sample's self and target.
  static Finished Sample(const Words& more, const std::string& input = "") {
    Words words = {"run", "SmoothL1LossBackward", "-i", "self=f32[4,2]{0,1,2,3,4,5,6,7}",
                   "-i",  "target=f32[4,2]=1"};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words, input);
  }

  // The values of the first output.
  static json Values(const Words& more) {
    Words words = more;
    words.emplace_back("--json");
    const Finished done = Sample(words);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out, nullptr, false)["outputs"][0]["values"];
  }

  static ServerProcess* server_;
};

ServerProcess* CommandTest::server_ = nullptr;

constexpr char kGradient[] = "grad_input f32[4,2]\n[[-1  0]\n [ 1  1]\n [ 1  1]\n [ 1  1]]\n";

TEST_F(CommandTest, PrintsTheSampleOverBothTransports) {
  const Words sample = {"run",     "SmoothL1LossBackward",
                        "-i",      "grad_out=f32[4,2]=1",
                        "-i",      "self=f32[4,2]{0,1,2,3,4,5,6,7}",
                        "-i",      "target=f32[4,2]=1",
                        "-a",      "reduction=0",
                        "-a",      "beta=1",
                        "--target"};
  for (const std::string& target : {server_->unix_target(), server_->tcp_target()}) {
    Words words = sample;
    words.push_back(target);
    const Finished done = RunProgram("opserve", words);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(done.out, kGradient);
    EXPECT_THAT(done.err, IsEmpty());
  }
}

TEST_F(CommandTest, TellsHowItWasExecuted) {
  EXPECT_THAT(
      Sample({"-i", "grad_out=1", "-a", "reduction=0", "--execution"}).out,
      MatchesRegex("grad_input(.|\n)*\nexecuted on cpu:0 in [0-9.]+.s, after 0 in the queue\n"));
  EXPECT_THAT(Sample({"-i", "grad_out=1", "-a", "reduction=0", "--execution", "--json"}).out,
              HasSubstr("],\"execution\":{\"device\":\"cpu:0\",\"queued_ns\":0,\"executed_ns\":"));
  EXPECT_NE(Sample({"-i", "grad_out=1", "--execution", "--session"}).exit_code, 0);
}

TEST_F(CommandTest, JsonIsOneObject) {
  const Finished done = Sample({"-i", "grad_out=1", "-a", "reduction=0", "--json"});
  EXPECT_EQ(done.out,
            "{\"operator\":\"SmoothL1LossBackward\",\"outputs\":[{\"name\":\"grad_input\","
            "\"dtype\":\"float32\","
            "\"shape\":[4,2],\"values\":[-1.0,0.0,1.0,1.0,1.0,1.0,1.0,1.0]}]}\n");
}

TEST_F(CommandTest, StatsCountWhatWasRun) {
  EXPECT_EQ(Sample({"-i", "grad_out=1"}).exit_code, 0);
  const Finished text = Run({"stats"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("uptime "));
  EXPECT_THAT(text.out, HasSubstr("\nExecute "));
  const json counted = json::parse(Run({"stats", "--json"}).out, nullptr, false);
  EXPECT_EQ(counted["methods"][4]["method"], "Execute");
  EXPECT_GE(counted["methods"][4]["ended"]["OK"], 1);
  EXPECT_EQ(counted["operators"][0]["operator"], "SmoothL1LossBackward");
  EXPECT_EQ(counted["devices"][0]["device"], "cpu:0");
  const Finished live = Run({"stats", "--watch", "0.05", "--count", "2"});
  EXPECT_EQ(live.exit_code, 0) << live.err;
  EXPECT_THAT(live.out, MatchesRegex("a second (.|\n)*\na second (.|\n)*"));
  const Finished lines = Run({"stats", "--watch", "0.05", "--count", "2", "--json"});
  EXPECT_EQ(std::count(lines.out.begin(), lines.out.end(), '\n'), 2);
}

TEST_F(CommandTest, ReductionsAndBroadcasting) {
  EXPECT_EQ(Values({"-i", "grad_out=1", "-a", "reduction=1"}),
            json({-0.125, 0.0, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125}));
  EXPECT_EQ(Values({"-i", "grad_out=1", "-a", "reduction=mean"}),
            Values({"-i", "grad_out=1", "-a", "reduction=1"}));
  EXPECT_EQ(Values({"-i", "grad_out=2", "-a", "reduction=2"}),
            json({-2.0, 0.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0}));
  EXPECT_EQ(Values({"-i", "grad_out=f32[1,2]{1,10}", "-a", "reduction=0"}),
            json({-1.0, 0.0, 1.0, 10.0, 1.0, 10.0, 1.0, 10.0}));
}

TEST_F(CommandTest, StridedAndHalfPrecisionInputs) {
  Finished done = Run({"run", "SmoothL1LossBackward", "-i", "grad_out=1", "-i",
                       "self=f32[4,2]{0,1,2,3,4,5,6,7}.strides(1,4)", "-i",
                       "target=f32[4,2]{9,1}.strides(0,0).offset(1)", "-a", "reduction=0"});
  EXPECT_EQ(done.out, "grad_input f32[4,2]\n[[-1  1]\n [ 0  1]\n [ 1  1]\n [ 1  1]]\n") << done.err;
  for (const std::string dtype : {"f16", "bf16"}) {
    done =
        Run({"run", "SmoothL1LossBackward", "-i", "grad_out=" + dtype + "[2]=1", "-i",
             "self=" + dtype + "{0.1,3}", "-i", "target=" + dtype + "[]=0", "-a", "reduction=0"});
    EXPECT_THAT(done.out, MatchesRegex("grad_input " + dtype + "\\[2\\]\n\\[0.1 +1\\]\n"))
        << done.err;
  }
}

TEST_F(CommandTest, EmptyTensors) {
  const Finished done = Run({"run", "SmoothL1LossBackward", "-i", "grad_out=1", "-i",
                             "self=f32[0,3]{}", "-i", "target=f32[3]=1"});
  EXPECT_EQ(done.out, "grad_input f32[0,3]\n[]\n") << done.err;
}

TEST_F(CommandTest, SpecialNumbersSurvive) {
  const Finished done =
      Run({"run", "SmoothL1LossBackward", "-i", "grad_out=1", "-i", "self=f32{nan,inf,-inf}", "-i",
           "target=0", "-a", "reduction=0", "--json"});
  EXPECT_EQ(json::parse(done.out, nullptr, false)["outputs"][0]["values"], json({"nan", 1.0, -1.0}))
      << done.err;
}

TEST_F(CommandTest, FilesGoInAndOut) {
  const std::string path = ::testing::TempDir() + "/opserve_command_test.npy";
  Finished done = Sample({"-i", "grad_out=1", "-a", "reduction=0", "--dtype", "grad_input=bf16",
                          "-o", "grad_input=" + path});
  EXPECT_EQ(done.out, "grad_input bf16[4,2] in " + path + "\n") << done.err;
  done = Run({"run", "SmoothL1LossBackward", "-i", "grad_out=1", "-i", "self=" + path, "-i",
              "target=bf16[]=0", "-a", "reduction=0"});
  EXPECT_EQ(done.out, kGradient) << done.err;
  std::filesystem::remove(path);
}

TEST_F(CommandTest, PipesFiles) {
  const Finished first = Sample({"-i", "grad_out=1", "-a", "reduction=0", "-o", "grad_input=-"});
  EXPECT_EQ(first.err, "grad_input f32[4,2] in standard output\n");
  ASSERT_THAT(cli::ParseNpy(std::as_bytes(std::span(first.out))), testing::IsOk());
  const Finished second = Run({"run", "SmoothL1LossBackward", "-i", "grad_out=1", "-i", "self=-",
                               "-i", "target=0", "-a", "reduction=0"},
                              first.out);
  EXPECT_EQ(second.out, kGradient) << second.err;
}

TEST_F(CommandTest, FortranFilesAreRead) {
  std::string file = cli::NpyPreamble(DType::kFloat32, std::vector<int64_t>{2, 2});
  file.replace(file.find("False"), 5, "True ");
  const float values[] = {0, 1, 2, 3};
  file.append(reinterpret_cast<const char*>(values), sizeof(values));
  const Finished done = Run({"run", "SmoothL1LossBackward", "-i", "grad_out=1", "-i", "self=-",
                             "-i", "target=0", "-a", "reduction=0", "-a", "beta=4"},
                            file);
  EXPECT_EQ(done.out, "grad_input f32[2,2]\n[[   0  0.5]\n [0.25 0.75]]\n") << done.err;
}

TEST_F(CommandTest, LargeResultsAreShortenedUnlessFull) {
  const Words words = {"run", "L1LossBackward", "-i", "grad_output=1", "-i", "self=f32[2000]=3",
                       "-i",  "target=1",       "-a", "reduction=0"};
  Finished done = Run(words);
  EXPECT_EQ(done.out, "grad_input f32[2000]\n[1 1 1 … 1 1 1]\n") << done.err;
  Words full = words;
  full.emplace_back("--full");
  done = Run(full);
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '1'), 2000);
}

TEST_F(CommandTest, PlansFromShapes) {
  Finished done = Run({"plan", "SmoothL1LossBackward", "-i", "grad_out=f32[]", "-i",
                       "self=bf16[64,1024]", "-i", "target=bf16[1024]"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("outputs    262144 bytes\nestimate   39.8us, queued\n"
                                  "grad_input f32[64,1024]\n"));
  done = Run({"plan", "SmoothL1LossBackward", "-i", "grad_out=f32[]", "-i", "self=f32[2]=1", "-i",
              "target=1", "--json"});
  const json plan = json::parse(done.out, nullptr, false);
  EXPECT_EQ(plan["outputs"][0]["shape"], json({2})) << done.err;
  EXPECT_EQ(plan["device"], "cpu:0");
}

TEST_F(CommandTest, DescribesServerOperatorsAndDevices) {
  EXPECT_THAT(Run({"info"}).out, HasSubstr("max message        "));
  EXPECT_GT(json::parse(Run({"info", "--json"}).out, nullptr, false)["max_message_bytes"], 0);
  EXPECT_THAT(Run({"devices"}).out, HasSubstr("cpu:0\n  profile    host\n"));
  EXPECT_EQ(json::parse(Run({"devices", "--json"}).out, nullptr, false)["devices"][0]["name"],
            "cpu:0");
  EXPECT_THAT(Run({"ops"}).out, ContainsRegex("SmoothL1LossBackward +Gradient of"));
  EXPECT_THAT(Run({"ops", "SmoothL1LossBackward"}).out, HasSubstr("ATTRIBUTES\n    reduction"));
  EXPECT_THAT(Run({"ops", "SmoothL1Loss"}).out, HasSubstr("GRADIENT, BY SmoothL1LossBackward\n"));
  EXPECT_FALSE(json::parse(Run({"ops", "--json"}).out, nullptr, false)["operators"].empty());
  EXPECT_THAT(Run({"ops", "--search", "SOFTMAX"}).out,
              HasSubstr("\nAlong one dimension\n  Softmax "));
}

// Every operator's page ends in a command line; the ones without files work as they stand.
TEST_F(CommandTest, ExamplesOfThePagesWork) {
  const json list = json::parse(Run({"ops", "--json"}).out, nullptr, false)["operators"];
  int run = 0;
  for (const json& schema : list) {
    const std::string name = schema["name"];
    const std::string page = Run({"ops", name}).out;
    std::istringstream example(page.substr(page.find("EXAMPLE\n") + 8));
    if (example.str().find(".npy") != std::string::npos) continue;
    Words words;
    for (std::string word; example >> word;) {
      word.erase(std::remove(word.begin(), word.end(), '\''), word.end());
      words.push_back(word);
    }
    ASSERT_EQ(words[0], "opserve");
    words.erase(words.begin());
    const Finished done = Run(words);
    EXPECT_EQ(done.exit_code, 0) << name << ": " << done.err;
    ++run;
  }
  EXPECT_GT(run, 0);
}

struct Failure {
  const char* name;
  Words words;
  int exit_code;
  const char* error;  // a regular expression of the line

  friend std::ostream& operator<<(std::ostream& out, const Failure& failure) {
    return out << failure.name;
  }
};

class CommandFailureTest : public CommandTest, public ::testing::WithParamInterface<Failure> {};

TEST_P(CommandFailureTest, IsToldInOneLine) {
  const Finished done = Sample(GetParam().words);
  EXPECT_EQ(done.exit_code, GetParam().exit_code);
  EXPECT_THAT(done.out, IsEmpty());
  EXPECT_THAT(done.err, MatchesRegex(std::string("opserve: ") + GetParam().error + "\n"));
  Words with_json = GetParam().words;
  with_json.emplace_back("--json");
  const json error = json::parse(Sample(with_json).err, nullptr, false);
  ASSERT_TRUE(error.is_object()) << error;
  EXPECT_EQ(error["error"]["exit_code"], GetParam().exit_code);
}

INSTANTIATE_TEST_SUITE_P(
    All, CommandFailureTest,
    ::testing::Values(
        Failure{"Beta",
                {"-i", "grad_out=1", "-a", "beta=-1"},
                1,
                "SmoothL1LossBackward: beta: want >= 0, got -1 .OUT_OF_RANGE, 161002, "
                "INVALID_ARGUMENT."},
        Failure{
            "Reduction",
            {"-i", "grad_out=1", "-a", "reduction=7"},
            1,
            "SmoothL1LossBackward: reduction: .*got 7 .OUT_OF_RANGE, 161002, INVALID_ARGUMENT."},
        Failure{"ReductionText",
                {"-i", "grad_out=1", "-a", "reduction=x"},
                2,
                "SmoothL1LossBackward: reduction: want one of 0 none, 1 mean, 2 sum, got 'x' "
                ".[A-Z_]+, 161002, .*"},
        Failure{"ReductionName",
                {"-i", "grad_out=1", "-a", "reduction=maen"},
                2,
                "SmoothL1LossBackward: reduction: want .*, got 'maen'; did you mean 'mean'. "
                ".[A-Z_]+, 161002, .*"},
        Failure{"NameOfNoChoice",
                {"-i", "grad_out=1", "-a", "beta=mean"},
                2,
                "SmoothL1LossBackward: beta: want a float, got 'mean' .[A-Z_]+, 161002, .*"},
        Failure{"MissingInput",
                {},
                1,
                "SmoothL1LossBackward: grad_out: .* .[A-Z_]+, 161001, INVALID_ARGUMENT."},
        Failure{"InputName",
                {"-i", "grad_ot=1"},
                1,
                "SmoothL1LossBackward: grad_ot: .*did you mean .grad_out.*161002, .*"},
        Failure{"AttributeName",
                {"-i", "grad_out=1", "-a", "bta=1"},
                1,
                "SmoothL1LossBackward: bta: .*did you mean .beta.*161002, .*"},
        Failure{"OutputName",
                {"-i", "grad_out=1", "-o", "grad_inptu=x.npy"},
                2,
                "SmoothL1LossBackward: grad_inptu: .*did you mean .grad_input.*"},
        Failure{"Shape",
                {"-i", "grad_out=f32[3]=1"},
                1,
                "SmoothL1LossBackward: .*broadcast.*161002, .*"},
        Failure{"DType",
                {"-i", "grad_out=i32[]=1"},
                1,
                "SmoothL1LossBackward: grad_out: .*int32 .[A-Z_]+, 161002, .*"},
        Failure{"Rank",
                {"-i", "grad_out=f32[1,1,1,1,1,1,1,1,1]=1"},
                1,
                "SmoothL1LossBackward: grad_out: .*9 .[A-Z_]+, 161002, .*"},
        Failure{"Strides",
                {"-i", "grad_out=f32[4,2]{1,1}.strides(1,1)"},
                1,
                "SmoothL1LossBackward: grad_out: .*161002, .*"},
        Failure{"HugeShape",
                {"-i", "grad_out=f32[1342177280]{0,1,2,3}.strides(1)"},
                1,
                "SmoothL1LossBackward: .*161002, .*"},
        Failure{"Overflow",
                {"-i", "grad_out=f32[9223372036854775807,4]{}.strides(0,0)"},
                1,
                "SmoothL1LossBackward: grad_out: .*161002, .*"},
        Failure{"Literal",
                {"-i", "grad_out=f32[2]{1}"},
                2,
                "grad_out: want as many elements .*got 1 element .[A-Z_]+, 161002, .*"},
        Failure{"Endless",
                {"-i", "grad_out=/dev/zero"},
                2,
                "grad_out: want a .npy file with NumPy's signature, got other bytes.*"},
        Failure{"File", {"-i", "grad_out=none.npy"}, 2, "grad_out: want a .npy file, .*none.npy.*"},
        Failure{"Device", {"-i", "grad_out=1", "--device", "npu:7"}, 1, ".*npu:7.*NOT_FOUND."},
        Failure{
            "Option", {"--dtpe", "x=f32"}, 2, "unknown option '--dtpe'; did you mean '--dtype'."}),
    [](const auto& failure) { return failure.param.name; });

TEST_F(CommandTest, UnknownOperatorsGetTheNearest) {
  for (const Words& words :
       {Words{"run", "SmothL1LossBackward"}, Words{"plan", "SmothL1LossBackward"},
        Words{"ops", "SmothL1LossBackward"}}) {
    const Finished done = Run(words);
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.err,
                MatchesRegex("opserve: .*did you mean .SmoothL1LossBackward.*NOT_FOUND.\n"));
  }
  EXPECT_EQ(Run({"ops", "--search", "nonsense"}).exit_code, 1);
}

}  // namespace
}  // namespace opserve::client
