#include "client/cli/files/tensor_argument.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/cli/files/files.h"
#include "client/cli/formats/npy.h"
#include "core/base/op_error.h"
#include "tests/support/status_matchers.h"

namespace opserve::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TensorArgumentTest, ReadsLiterals) {
  const absl::StatusOr<client::TensorView> view =
      ReadTensorArgument("x", "f32[2]{0,1,2,3}.strides(2).offset(1)", TensorUse::kRun);
  ASSERT_THAT(view, testing::IsOk());
  EXPECT_THAT(view->strides, ElementsAre(2));
  EXPECT_EQ(view->storage_offset, 1);
  EXPECT_EQ(view->storage.size(), 16u);
  EXPECT_NE(view->owner, nullptr);
}

TEST(TensorArgumentTest, PlanningNeedsNoData) {
  const absl::StatusOr<client::TensorView> view =
      ReadTensorArgument("x", "f32[1000000,1000000]", TensorUse::kPlan);
  ASSERT_THAT(view, testing::IsOk());
  EXPECT_TRUE(view->storage.empty());
  EXPECT_THAT(ReadTensorArgument("x", "f32[1000000,1000000]=1", TensorUse::kPlan), testing::IsOk());
  EXPECT_FALSE(ReadTensorArgument("x", "f32[1000000,1000000]=1", TensorUse::kRun).ok());
  EXPECT_FALSE(ReadTensorArgument("x", "f32[4]", TensorUse::kRun).ok());
}

TEST(TensorArgumentTest, ReadsFiles) {
  const std::string path = ::testing::TempDir() + "/tensor_argument_test.npy";
  const std::vector<float> values = {1, 2, 3};
  ASSERT_THAT(WriteFile(path, NpyPreamble(DType::kFloat32, std::vector<int64_t>{3}),
                        std::as_bytes(std::span(values))),
              testing::IsOk());
  const absl::StatusOr<client::TensorView> view = ReadTensorArgument("x", path, TensorUse::kRun);
  ASSERT_THAT(view, testing::IsOk());
  EXPECT_THAT(view->shape, ElementsAre(3));
  EXPECT_TRUE(view->strides.empty());
  EXPECT_EQ(view->storage.size(), 12u);
}

TEST(TensorArgumentTest, FortranFilesAreStridedViews) {
  const std::string path = ::testing::TempDir() + "/tensor_argument_test_fortran.npy";
  std::string preamble = NpyPreamble(DType::kFloat32, std::vector<int64_t>{2, 2});
  preamble.replace(preamble.find("False"), 5, "True ");
  const std::vector<float> values(4);
  ASSERT_THAT(WriteFile(path, preamble, std::as_bytes(std::span(values))), testing::IsOk());
  const absl::StatusOr<client::TensorView> view = ReadTensorArgument("x", path, TensorUse::kRun);
  ASSERT_THAT(view, testing::IsOk());
  EXPECT_THAT(view->strides, ElementsAre(1, 2));
}

TEST(TensorArgumentTest, ErrorsNameTheInput) {
  const absl::Status literal = ReadTensorArgument("self", "f32[2]{1}", TensorUse::kRun).status();
  EXPECT_EQ(GetErrorDetail(literal)->parameter, "self");
  const absl::Status missing = ReadTensorArgument("self", "no/such.npy", TensorUse::kRun).status();
  EXPECT_THAT(std::string(missing.message()), HasSubstr("self: want a .npy file, - or a literal"));
  const absl::Status directory = ReadTensorArgument("self", "/", TensorUse::kRun).status();
  EXPECT_THAT(std::string(directory.message()), HasSubstr("self: /: Is a directory"));
}

}  // namespace
}  // namespace opserve::cli
