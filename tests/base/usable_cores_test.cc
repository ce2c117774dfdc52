#include "core/base/usable_cores.h"

#include "gtest/gtest.h"

namespace opserve {
namespace {

TEST(UsableCoresTest, ReadsTheQuotaOfACgroup) {
  EXPECT_EQ(CoresOfCpuMax("max 100000\n"), std::nullopt);
  EXPECT_EQ(CoresOfCpuMax("200000 100000\n"), 2);
  EXPECT_EQ(CoresOfCpuMax("150000 100000"), 2);
  EXPECT_EQ(CoresOfCpuMax("50000 100000"), 1);
  EXPECT_EQ(CoresOfCpuMax("300000"), 3);
  EXPECT_EQ(CoresOfCpuMax(""), std::nullopt);
  EXPECT_EQ(CoresOfCpuMax("100000 0"), std::nullopt);
  EXPECT_EQ(CoresOfCpuMax("-1 100000"), std::nullopt);
}

TEST(UsableCoresTest, ThereIsAlwaysOne) { EXPECT_GE(UsableCores(), 1); }

}  // namespace
}  // namespace opserve
