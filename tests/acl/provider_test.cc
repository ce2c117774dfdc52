// Devices of another library: everything goes through the seam that a server's devices take.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "aclnnop/aclnn_l1_loss_backward.h"
#include "gmock/gmock.h"
#include "tests/acl/acl_fixture.h"

namespace opserve::acl_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string InLibraryFolder(const std::string& name) {
  return std::filesystem::path(std::getenv("OPSERVE_BIN_DIR")).parent_path() / "lib" / name;
}

class AclProviderTest : public ::testing::Test {
 protected:
  const Environment library_{"OPSERVE_ACL_REMOTE_LIBRARY",
                             InLibraryFolder("libopserve_acl_test_provider.so").c_str()};
};

TEST_F(AclProviderTest, RunsOperators) {
  const Environment target("OPSERVE_TARGET", "here");
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(total, size_t{1} << 20) << "not this library's own device";
  {
    const FloatTensor grad({2}, {1, 2});
    const FloatTensor self({2}, {0, 9});
    const FloatTensor out({2}, {9, 9});
    Planned planned;
    EXPECT_EQ(aclnnL1LossBackwardGetWorkspaceSize(grad.get(), self.get(), grad.get(), 7, out.get(),
                                                  &planned.workspace_size, &planned.executor),
              ACLNN_ERR_PARAM_INVALID);
    EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("L1LossBackward: reduction: want"));
    ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(grad.get(), self.get(), grad.get(), 0, out.get(),
                                                  &planned.workspace_size, &planned.executor),
              ACLNN_SUCCESS)
        << aclGetRecentErrMsg();
    EXPECT_EQ(RunToEnd(aclnnL1LossBackward, planned), ACL_SUCCESS);
    EXPECT_THAT(out.Read(), ElementsAre(-1, 2));
    void* memory = nullptr;
    EXPECT_EQ(aclrtMalloc(&memory, 1 << 21, ACL_MEM_MALLOC_HUGE_FIRST),
              ACL_ERROR_RT_MEMORY_ALLOCATION);
  }
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

TEST_F(AclProviderTest, TellsWhyATargetIsNotOpened) {
  const Environment target("OPSERVE_TARGET", "there");
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("target: want \"here\", got \"there\""));
}

TEST(AclProviderLibraryTest, MustBeOne) {
  const Environment target("OPSERVE_TARGET", "here");
  const Environment library("OPSERVE_ACL_REMOTE_LIBRARY",
                            InLibraryFolder("libopserve_acl.so").c_str());
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_API_NOT_SUPPORT);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("has no opserve_acl_open_provider"));
}

// A program that loads the vendor's libraries by their names gets this one each time.
TEST(AclFieldNamesTest, AreOneLibrary) {
  for (const char* name :
       {"libascendcl.so", "libnnopbase.so", "libopapi.so", "libopapi_nn.so", "libopapi_math.so"}) {
    const std::string path = InLibraryFolder(std::string("opserve/ascend/") + name);
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    EXPECT_EQ(::dlsym(library, "aclInit"), reinterpret_cast<void*>(&aclInit)) << name;
    EXPECT_NE(::dlsym(library, "aclnnCtcLossBackwardGetWorkspaceSize"), nullptr) << name;
    EXPECT_EQ(::dlclose(library), 0);
  }
}

}  // namespace
}  // namespace opserve::acl_test
