// Finding the vendor's libraries, and not finding them.
#include <filesystem>
#include <fstream>

#include "core/backends/ascend/acl_library.h"
#include "core/base/op_error.h"
#include "core/op/op_table.h"
#include "gmock/gmock.h"
#include "tests/ascend/ascend_fixture.h"
#include "tests/support/calls.h"
#include "tests/support/errors.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ascend::AclLibrary;
using ::testing::AllOf;
using ::testing::ElementsAre;
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

// Libraries under the names that are looked for.
void Link(const Folder& folder, const std::string& runtime, const std::string& operators) {
  for (const char* name : {"libascendcl.so", "libnnopbase.so"})
    std::filesystem::create_symlink(runtime, folder.File(name));
  std::filesystem::create_symlink(operators, folder.File("libopapi.so"));
}

TEST(AscendLoadingTest, NamesTheSymbolThatIsMissing) {
  const Folder folder("ascend_other");
  Link(folder, FewOperators(), FewOperators());
  const absl::Status status = AclLibrary::Open({folder.path()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("aclInit in libascendcl.so or libnnopbase.so"));
}

TEST(AscendLoadingTest, AnOperatorIsThereWhenBothItsPhasesAre) {
  const Folder folder("ascend_few");
  Link(folder, StandInFolder() + "/libascendcl.so", FewOperators());
  const absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(OptionsWith(folder.path()));
  ASSERT_THAT(engine, IsOk());
  std::vector<std::string> names;
  for (const Operator* op : AllOperators()) {
    if ((*engine)->devices()[0]->FindKernel(*op) != nullptr) names.emplace_back(op->name);
  }
  EXPECT_THAT(names, ElementsAre("Hardshrink"));
  const OpCase other = CallOf("L1Loss", {Floats({1}), Floats({2})}, {int64_t{0}});
  ExpectError((*engine)->MakePlan(ToNamedCall(other)).status(), ErrorReason::kOperatorUnsupported,
              "device");
}

class AscendOperatorsTest : public AscendFixture {};

TEST_F(AscendOperatorsTest, AreThereWithBothPhases) {
  const auto library = AclLibrary::Open({StandInFolder()});
  ASSERT_THAT(library, IsOk());
  EXPECT_TRUE((*library)->FindOperator("CtcLossBackward").has_value());
  EXPECT_FALSE((*library)->FindOperator("Nonsense").has_value());
}

TEST_F(AscendOperatorsTest, EveryDeviceThatTheRuntimeSees) {
  EngineOptions options = OptionsWith(StandInFolder());
  const absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(options);
  ASSERT_THAT(engine, IsOk());
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
