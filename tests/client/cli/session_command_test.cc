// `opserve run --session` against the real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/formats/npy.h"
#include "tests/client/cli/process.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using Words = std::vector<std::string>;

// A server that takes messages of 1 MiB.
class SessionCommandTest : public ::testing::Test {
 public:
  ~SessionCommandTest() override { fs::remove_all(folder_); }

 protected:
  static void SetUpTestSuite() { server_ = new ServerProcess({"--max-message-bytes", "1048576"}); }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->Stop(), 0) << "the server leaves cleanly";
    delete server_;
  }

  SessionCommandTest()
      : folder_(fs::path(::testing::TempDir()) / absl::StrCat("session", getpid())) {
    fs::create_directories(folder_);
  }

  void SetUp() override {
    ASSERT_FALSE(server_->unix_target().empty()) << "opserve-server did not start";
  }

  static Finished Run(Words words, const std::string& input = "") {
    words.insert(words.end(), {"--target", server_->unix_target()});
    return RunProgram("opserve", words, input);
  }
  static Finished RunSession(Words words, const std::string& input = "") {
    words.emplace_back("--session");
    return Run(std::move(words), input);
  }

  std::string Path(const char* name) const { return (folder_ / name).string(); }
  // A file of a million floats 0, 1, 2, 3, 0, …: four times what a message holds.
  std::string LargeFile(const char* name) const {
    const std::vector<int64_t> shape = {1000, 1000};
    std::ofstream file(Path(name), std::ios::binary);
    file << cli::NpyPreamble(DType::kFloat32, shape);
    for (int i = 0; i < 1000000; ++i) {
      const auto value = static_cast<float>(i % 4);
      file.write(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    return Path(name);
  }
  static std::string Contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  const fs::path folder_;
  static ServerProcess* server_;
};

ServerProcess* SessionCommandTest::server_ = nullptr;

TEST_F(SessionCommandTest, PrintsWhatItPrintsWithoutASession) {
  const std::vector<Words> calls = {
      {"run", "SmoothL1LossBackward", "-i", "grad_out=1", "-i",
       "self=f32[4,2]{0,1,2,3,4,5,6,7}.strides(1,4)", "-i", "target=f32[4,2]=1", "-a",
       "reduction=0", "--dtype", "grad_input=bf16"},
      {"run", "SmoothL1LossBackward", "-i", "grad_out=1", "-i", "self=f32[0,3]{}", "-i",
       "target=f32[3]=1", "--json"},
      {"run", "GroupNorm", "-i", "self=f32[1,2,2]{1,2,3,4}", "-a", "N=1", "-a", "C=2", "-a",
       "HxW=2", "-a", "group=1"},
      {"run", "L1Loss", "-i", "self=f16{1,2}", "-i", "target=f16{3,5}", "-a", "reduction=1"}};
  for (const Words& words : calls) {
    const Finished with = RunSession(words);
    EXPECT_EQ(with.exit_code, 0) << with.err;
    EXPECT_EQ(with.out, Run(words).out);
    EXPECT_THAT(with.err, IsEmpty());
  }
}

TEST_F(SessionCommandTest, ErrorsAreWhatTheyAreWithoutASession) {
  const std::vector<Words> calls = {
      {"run", "SmoothL1LossBackward", "-i", "self=1", "-i", "target=1", "-i", "grad_out=1", "-a",
       "beta=-1"},
      {"run", "SmoothL1LossBackward", "-i", "self=1"},
      {"run", "Hardshrink", "-i", "self=f32[2]{1,2}", "-i", "slef=1"}};
  for (const Words& words : calls) {
    const Finished with = RunSession(words);
    EXPECT_EQ(with.exit_code, 1);
    EXPECT_EQ(with.err, Run(words).err);
  }
}

TEST_F(SessionCommandTest, CallsLargerThanAMessageGoThrough) {
  const std::string self = LargeFile("self.npy");
  const std::string out = Path("out.npy");
  const Words words = {"run", "HardshrinkBackward", "-i", "grad_output=" + self,
                       "-i",  "self=" + self,       "-a", "lambd=1.5",
                       "-o",  "grad_input=" + out};
  const Finished without = Run(words);
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.err,
              HasSubstr("; --session sends it in pieces (RESOURCE_LIMIT, RESOURCE_EXHAUSTED)"));
  const Finished done = RunSession(words);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "grad_input f32[1000,1000] in " + out + "\n");
  const std::string file = Contents(out);
  const auto tensor = cli::ParseNpy(std::as_bytes(std::span(file)));
  ASSERT_THAT(tensor, testing::IsOk());
  const auto* values = reinterpret_cast<const float*>(tensor->data.data());
  for (int i = 0; i < 1000000; ++i) ASSERT_EQ(values[i], static_cast<float>(i % 4 < 2 ? 0 : i % 4));
}

TEST_F(SessionCommandTest, AnOutputMayReplaceAnInput) {
  const std::string self = LargeFile("self.npy");
  const std::string before = Contents(self);
  const Finished done = RunSession({"run", "HardshrinkBackward", "-i", "grad_output=" + self, "-i",
                                    "self=" + self, "-a", "lambd=0", "-o", "grad_input=" + self});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(Contents(self), before);
}

TEST_F(SessionCommandTest, LargeCallsThatAreNotElementWiseStayOnTheServer) {
  const std::string self = LargeFile("self.npy");
  const Finished done = RunSession(
      {"run", "L1Loss", "-i", "self=" + self, "-i", "target=" + self, "-a", "reduction=1"});
  EXPECT_EQ(done.out, "out f32[]\n0\n") << done.err;
}

TEST_F(SessionCommandTest, LargeCallsThatAreWrongAreToldSo) {
  const std::string self = LargeFile("self.npy");
  const std::string out = Path("out.npy");
  const Finished done =
      RunSession({"run", "SmoothL1Loss", "-i", "self=" + self, "-i", "target=" + self, "-a",
                  "beta=-1", "-a", "reduction=0", "-o", "result=" + out});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, MatchesRegex("opserve: SmoothL1Loss: beta: want >= 0, got -1 .*\n"));
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(SessionCommandTest, PipesFiles) {
  const std::string self = Contents(LargeFile("self.npy"));
  const Finished done =
      RunSession({"run", "Hardshrink", "-i", "self=-", "-a", "lambd=0", "-o", "out=-"}, self);
  EXPECT_EQ(done.out, self);
  EXPECT_EQ(done.err, "out f32[1000,1000] in standard output\n");
}

}  // namespace
}  // namespace opserve::client
