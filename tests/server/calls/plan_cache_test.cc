#include "server/calls/plan_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/fragments.h"
#include "tests/server/requests.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using server::PlanCache;
using server::PlannedCall;
using Planned = std::shared_ptr<const PlannedCall>;

class PlanCacheTest : public ::testing::Test {
 protected:
  Planned Plan(const v1::ExecuteRequest& request) {
    std::vector<Fragments> raw;
    for (const std::string& entry : request.raw())
      raw.emplace_back(std::as_bytes(std::span(entry)));
    absl::StatusOr<Planned> planned =
        PlannedCall::Make(*engine_, request.call(), raw, v1::TENSOR_ENCODING_RAW);
    EXPECT_THAT(planned, IsOk());
    return *std::move(planned);
  }

  const std::unique_ptr<Engine> engine_ = MakeEngine(1);
  const Planned sample_ = Plan(SampleRequest());
  PlanCache cache_;
};

TEST_F(PlanCacheTest, FindsWhatWasPutByHeaderAndNumberOfRawEntries) {
  EXPECT_EQ(cache_.Find("header", 3), nullptr);
  cache_.Put("header", 3, sample_);
  EXPECT_EQ(cache_.Find("header", 3), sample_);
  EXPECT_EQ(cache_.Find("header", 2), nullptr);
  EXPECT_EQ(cache_.Find("heade", 3), nullptr);
  cache_.Put("header", 3, Plan(SampleRequest()));
  EXPECT_EQ(cache_.Find("header", 3), sample_);
  const PlanCache::Stats stats = cache_.stats();
  EXPECT_EQ(stats.entries, 1u);
  EXPECT_EQ(stats.hits, 2);
  EXPECT_EQ(stats.misses, 3);
}

TEST_F(PlanCacheTest, LetsTheOnesGoThatWereNotUsedLongest) {
  cache_.Put("used", 3, sample_);
  cache_.Put("unused", 3, sample_);
  const std::string padding(1000, 'x');
  size_t put = 2;
  while (cache_.stats().entries == put && put < 10'000) {
    EXPECT_NE(cache_.Find("used", 3), nullptr);
    cache_.Put(absl::StrCat(put++, padding), 3, sample_);
  }
  EXPECT_LT(put, 10'000u);
  EXPECT_NE(cache_.Find("used", 3), nullptr);
  EXPECT_EQ(cache_.Find("unused", 3), nullptr);
  EXPECT_EQ(cache_.Find(absl::StrCat(put - 1, padding), 3), sample_);
}

TEST_F(PlanCacheTest, DoesNotKeepWhatIsLarge) {
  cache_.Put(std::string(PlanCache::kMaxKeyBytes + 1, 'x'), 3, sample_);
  v1::ExecuteRequest request = SampleRequest();
  for (int i = 0; i < 8; ++i)
    request.mutable_call()->mutable_inputs(0)->mutable_values()->add_floats(1);
  request.mutable_call()->mutable_inputs(1)->set_raw_index(0);
  request.mutable_call()->mutable_inputs(2)->set_raw_index(1);
  request.mutable_raw()->DeleteSubrange(0, 1);
  const Planned with_values = Plan(request);
  EXPECT_EQ(with_values->values().size(), 1u);
  cache_.Put("values", 2, with_values);
  EXPECT_EQ(cache_.stats().entries, 0u);
}

TEST_F(PlanCacheTest, DoesNotKeepCallsWhoseAttributesLieInTheirRawEntries) {
  v1::ExecuteRequest request = SampleRequest();
  v1::Call& call = *request.mutable_call();
  call.mutable_attributes()->DeleteSubrange(1, 1);
  AddInput(request, "beta", v1::DATA_TYPE_FLOAT32, {}, {2});
  const Planned planned = Plan(request);
  EXPECT_FALSE(planned->is_shareable());
  cache_.Put("attribute", 4, planned);
  EXPECT_EQ(cache_.stats().entries, 0u);
}

}  // namespace
}  // namespace opserve::testing
