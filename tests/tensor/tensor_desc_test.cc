#include "core/tensor/tensor_desc.h"

#include <limits>

#include "core/base/op_error.h"
#include "gtest/gtest.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve {
namespace {

using opserve::testing::AclnnCode;
using opserve::testing::kParamInvalid;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TensorDesc View(Dims shape, Dims strides, int64_t offset, DType dtype = DType::kFloat32) {
  TensorDesc desc;
  desc.dtype = dtype;
  desc.shape = std::move(shape);
  desc.strides = std::move(strides);
  desc.storage_offset = offset;
  return desc;
}

bool Refused(const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  return detail.has_value() && AclnnCode(*detail) == kParamInvalid && detail->parameter == "self";
}

TEST(TensorDescTest, RefusesWhatIsNotATensor) {
  EXPECT_TRUE(Refused(CheckDesc(View({2}, {1}, 0, DType::kUndefined), "self")));
  EXPECT_TRUE(Refused(CheckDesc(View({-1}, {1}, 0), "self")));
  EXPECT_TRUE(Refused(CheckDesc(View({2}, {-1}, 0), "self")));
  EXPECT_TRUE(Refused(CheckDesc(View({2}, {1}, -1), "self")));
  EXPECT_TRUE(Refused(CheckDesc(View({2, 2}, {1}, 0), "self")));
}

TEST(TensorDescTest, RefusesNumbersThatOverflow) {
  EXPECT_TRUE(
      Refused(CheckDesc(TensorDesc::Dense(DType::kFloat32, Dims{int64_t{1} << 62, 4}), "self")));
  EXPECT_TRUE(
      Refused(CheckDesc(TensorDesc::Dense(DType::kFloat32, Dims{int64_t{1} << 62}), "self")));
  EXPECT_TRUE(Refused(CheckDesc(View({2}, {kHuge}, 0), "self")));
  EXPECT_TRUE(Refused(CheckDesc(View({2, 2}, {kHuge / 2, kHuge / 2}, 2), "self")));
  EXPECT_TRUE(Refused(CheckDesc(View({1}, {1}, kHuge), "self")));
  EXPECT_THAT(CheckDesc(View({kHuge, 0}, {kHuge, kHuge}, kHuge), "self"), testing::IsOk());
}

TEST(TensorDescTest, APlainTensorHasExactlyItsBytes) {
  const TensorDesc desc = TensorDesc::Dense(DType::kFloat32, Dims{4, 2});
  EXPECT_THAT(CheckStorage(desc, 32, "self"), testing::IsOk());
  EXPECT_TRUE(Refused(CheckStorage(desc, 31, "self")));
  EXPECT_TRUE(Refused(CheckStorage(desc, 36, "self")));
  EXPECT_TRUE(
      Refused(CheckStorage(TensorDesc::Dense(DType::kFloat32, Dims{5, 1 << 28}), 16, "self")));
}

TEST(TensorDescTest, AViewLiesInsideItsStorage) {
  const TensorDesc transposed = View({2, 4}, {1, 2}, 1);
  EXPECT_EQ(transposed.reach_bytes(), 36);
  EXPECT_THAT(CheckStorage(transposed, 36, "self"), testing::IsOk());
  EXPECT_THAT(CheckStorage(transposed, 400, "self"), testing::IsOk());
  EXPECT_TRUE(Refused(CheckStorage(transposed, 32, "self")));
  EXPECT_TRUE(Refused(CheckStorage(transposed, 37, "self")));
}

TEST(TensorDescTest, DenseLooksThroughExtentsOfOne) {
  EXPECT_TRUE(View({2, 1, 3}, {3, 99, 1}, 5).IsDense());
  EXPECT_FALSE(View({2, 1, 3}, {3, 99, 1}, 5).IsPlain());
  EXPECT_FALSE(View({2, 3}, {1, 2}, 0).IsDense());
  EXPECT_TRUE(View({0, 3}, {7, 7}, 0).IsDense());
}

TEST(TensorDescTest, OutputsDoNotOverlapThemselves) {
  EXPECT_THAT(CheckNoSelfOverlap(View({2, 3}, {3, 1}, 0), "self"), testing::IsOk());
  EXPECT_THAT(CheckNoSelfOverlap(View({2, 3}, {1, 2}, 0), "self"), testing::IsOk());
  EXPECT_THAT(CheckNoSelfOverlap(View({2, 3}, {10, 2}, 4), "self"), testing::IsOk());
  EXPECT_THAT(CheckNoSelfOverlap(View({1, 3}, {0, 1}, 0), "self"), testing::IsOk());
  EXPECT_TRUE(Refused(CheckNoSelfOverlap(View({2, 3}, {0, 1}, 0), "self")));
  EXPECT_TRUE(Refused(CheckNoSelfOverlap(View({2, 3}, {2, 1}, 0), "self")));
}

}  // namespace
}  // namespace opserve
