#include "client/cli/output/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opserve::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FakeClock final : public Clock {
 public:
  absl::Time Now() const override { return now; }
  absl::Time now = absl::UnixEpoch();
};

class ProgressTest : public ::testing::Test {
 protected:
  void ReachedAt(absl::Duration after, int64_t bytes) {
    clock_.now = absl::UnixEpoch() + after;
    progress_.Reached(bytes, 4 << 20);
  }

  FakeClock clock_;
  std::vector<std::string> written_;
  Progress progress_{clock_, [this](const std::string& text) { written_.push_back(text); }};
};

TEST_F(ProgressTest, ShortTransfersShowNothing) {
  progress_.Begin("uploading x");
  ReachedAt(absl::Milliseconds(999), 4 << 20);
  progress_.End();
  EXPECT_THAT(written_, IsEmpty());
}

TEST_F(ProgressTest, LongTransfersShowHowFarTheyAre) {
  progress_.Begin("uploading x");
  ReachedAt(absl::Milliseconds(2000), 1 << 20);
  ReachedAt(absl::Milliseconds(2050), 2 << 20);
  ReachedAt(absl::Milliseconds(4000), 4 << 20);
  progress_.End();
  EXPECT_THAT(written_,
              ElementsAre("\r\x1b[Kuploading x [######                  ]  25% of 4.0 MiB, "
                          "512.0 KiB/s",
                          "\r\x1b[Kuploading x [########################] 100% of 4.0 MiB, "
                          "1.0 MiB/s",
                          "\r\x1b[K"));
}

TEST_F(ProgressTest, EachTransferHasItsOwnPatience) {
  progress_.Begin("first");
  ReachedAt(absl::Seconds(3), 1);
  progress_.End();
  written_.clear();
  progress_.Begin("second");
  ReachedAt(absl::Milliseconds(3500), 1);
  progress_.End();
  EXPECT_THAT(written_, IsEmpty());
}

TEST(BytesTextTest, TakesTheLargestUnit) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(int64_t{5} << 30), "5.0 GiB");
  EXPECT_EQ(BytesText(int64_t{1} << 60), "1048576.0 TiB");
}

}  // namespace
}  // namespace opserve::cli
