// Finding the vendor's libraries, and not finding them.
#include <filesystem>
#include <fstream>

#include "core/backends/ascend/acl_library.h"
#include "core/base/op_error.h"
#include "gmock/gmock.h"
#include "tests/ascend/ascend_fixture.h"

namespace opserve::testing {
namespace {

using ascend::AclLibrary;
using ::testing::AllOf;
using ::testing::HasSubstr;

// An empty folder, for as long as it lives.
class Folder {
 public:
  explicit Folder(const char* name) : path_(std::filesystem::path(::testing::TempDir()) / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string File(const char* name) const { return path_ / name; }
  std::string path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

EngineOptions OptionsWith(const std::string& path) {
  EngineOptions options;
  options.devices = {DeviceSpec{.kind = "ascend"}};
  options.ascend_library_paths = {path};
  return options;
}

TEST(AscendLoadingTest, NamesWhatItSearched) {
  const Folder folder("ascend_empty");
  const absl::Status status = Engine::Create(OptionsWith(folder.path())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("libascendcl.so"), HasSubstr("cannot open")));
}

TEST(AscendLoadingTest, NamesTheFileThatIsNoLibrary) {
  const Folder folder("ascend_broken");
  std::ofstream(folder.File("libascendcl.so")) << "no library";
  const absl::Status status = AclLibrary::Open({folder.path()}).status();
  EXPECT_THAT(status.message(), HasSubstr(folder.File("libascendcl.so")));
}

TEST(AscendLoadingTest, NamesTheSymbolThatIsMissing) {
  const Folder folder("ascend_other");
  for (const char* name : {"libascendcl.so", "libnnopbase.so"})
    std::filesystem::create_symlink("/proc/self/exe", folder.File(name));
  const absl::Status status = AclLibrary::Open({folder.path()}).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("libascendcl.so"));
}

class AscendOperatorsTest : public AscendFixture {};

TEST_F(AscendOperatorsTest, AreThereWithBothPhases) {
  const auto library = AclLibrary::Open({StandInFolder()});
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_TRUE((*library)->FindOperator("CtcLossBackward").has_value());
  EXPECT_FALSE((*library)->FindOperator("Softmax").has_value());
}

TEST_F(AscendOperatorsTest, EveryDeviceThatTheRuntimeSees) {
  EngineOptions options = OptionsWith(StandInFolder());
  const absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(options);
  ASSERT_TRUE(engine.ok()) << engine.status();
  ASSERT_EQ((*engine)->devices().size(), 1u);
  EXPECT_EQ((*engine)->devices()[0]->info().name, "ascend:0");
  EXPECT_THAT((*engine)->devices()[0]->info().description, HasSubstr("opserve-host"));
  options.devices = {DeviceSpec{.kind = "ascend", .ids = {0, 0}}};
  EXPECT_THAT(Engine::Create(options).status().message(), HasSubstr("ascend:0 once"));
  options.devices = {DeviceSpec{.kind = "ascend", .ids = {9}}};
  EXPECT_THAT(Engine::Create(options).status().message(), HasSubstr("aclrtCreateContext gave"));
}

}  // namespace
}  // namespace opserve::testing
