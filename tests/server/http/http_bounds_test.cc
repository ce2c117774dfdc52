// What bounds the HTTP port, part by part.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "core/base/unique_fd.h"
#include "server/http/port/cpu_budget.h"
#include "server/http/port/http_connections.h"
#include "server/http/port/request_rate.h"
#include "server/http/views/readiness.h"

namespace opserve::server {
namespace {

constexpr auto kA = static_cast<ClientId>(1);
constexpr auto kB = static_cast<ClientId>(2);
const absl::Time kStart = absl::FromUnixSeconds(1000);

TEST(CpuBudgetTest, RestsForWhatWasTakenBeyondItsShare) {
  CpuBudget budget(0.1, absl::Seconds(1), kStart);
  budget.Spend(absl::Seconds(1));
  EXPECT_EQ(budget.Rest(kStart), absl::ZeroDuration());
  budget.Spend(absl::Milliseconds(5));
  EXPECT_EQ(budget.Rest(kStart), absl::Milliseconds(50));
  EXPECT_EQ(budget.Rest(kStart + absl::Milliseconds(20)), absl::Milliseconds(30));
  EXPECT_EQ(budget.Rest(kStart + absl::Milliseconds(50)), absl::ZeroDuration());
}

TEST(CpuBudgetTest, SavesNoMoreThanItsBurst) {
  CpuBudget budget(0.5, absl::Seconds(1), kStart);
  EXPECT_EQ(budget.Rest(kStart + absl::Hours(1)), absl::ZeroDuration());
  budget.Spend(absl::Milliseconds(1500));
  EXPECT_EQ(budget.Rest(kStart + absl::Hours(1)), absl::Seconds(1));
}

TEST(RequestRateTest, EachClientHasItsOwn) {
  RequestRate rate(2, 1);
  EXPECT_TRUE(rate.Admit(kA, kStart));
  EXPECT_FALSE(rate.Admit(kA, kStart));
  EXPECT_TRUE(rate.Admit(kB, kStart));
  EXPECT_FALSE(rate.Admit(kA, kStart + absl::Milliseconds(400)));
  EXPECT_TRUE(rate.Admit(kA, kStart + absl::Milliseconds(500)));
}

TEST(RequestRateTest, ForgetsClientsThatRested) {
  RequestRate rate(1, 1);
  for (uint64_t i = 1; i <= 10'000; ++i) rate.Admit(static_cast<ClientId>(i), kStart);
  EXPECT_LE(rate.num_clients(), 4096u);
  // Not one more, as nobody has rested; those that are known are still told apart.
  EXPECT_FALSE(rate.Admit(static_cast<ClientId>(20'000), kStart));
  EXPECT_TRUE(rate.Admit(static_cast<ClientId>(20'000), kStart + absl::Seconds(1)));
  EXPECT_EQ(rate.num_clients(), 1u);
}

TEST(RequestRateTest, LooksForClientsThatRestedNowAndThen) {
  RequestRate rate(1000, 1);  // rested after a millisecond
  const auto admit_300 = [&](absl::Time now) {
    for (uint64_t i = 1; i <= 300; ++i) rate.Admit(static_cast<ClientId>(i), now);
  };
  admit_300(kStart);
  rate.Admit(static_cast<ClientId>(1000), kStart + absl::Milliseconds(99));
  EXPECT_EQ(rate.num_clients(), 301u);
  rate.Admit(static_cast<ClientId>(1001), kStart + absl::Milliseconds(101));
  EXPECT_EQ(rate.num_clients(), 1u);
  // Also where the clock was set back.
  admit_300(kStart - absl::Hours(1));
  rate.Admit(static_cast<ClientId>(1000), kStart - absl::Hours(1) + absl::Milliseconds(100));
  EXPECT_EQ(rate.num_clients(), 2u) << "the one of later, and the new one";
}

class HttpConnectionsTest : public ::testing::Test {
 protected:
  struct Pair {
    UniqueFd ours, theirs;
    HttpConnections::Connection* connection = nullptr;
  };

  Pair Connect(ClientId client, absl::Time now) {
    std::array<int, 2> sockets = {};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets.data()), 0);
    Pair pair{.ours = UniqueFd(sockets[0]), .theirs = UniqueFd(sockets[1])};
    pair.connection = &connections_.Add(sockets[0], client, now);
    return pair;
  }

  static bool IsCut(const Pair& pair) {
    char byte = 0;
    return ::recv(pair.theirs.get(), &byte, 1, 0) == 0;
  }

  HttpConnections connections_;
};

TEST_F(HttpConnectionsTest, TheOldestOfWhoHasMostIsCut) {
  const Pair lonely = Connect(kB, kStart);
  const Pair older = Connect(kA, kStart + absl::Seconds(1));
  const Pair newer = Connect(kA, kStart + absl::Seconds(2));
  connections_.CutOne();
  EXPECT_TRUE(IsCut(older));
  EXPECT_FALSE(IsCut(newer));
  EXPECT_FALSE(IsCut(lonely));
  // Of those that are left each client has one.
  connections_.CutOne();
  EXPECT_TRUE(IsCut(lonely));
  EXPECT_EQ(connections_.size(), 3u);
  connections_.Remove(*older.connection);
  EXPECT_EQ(connections_.size(), 2u);
}

TEST_F(HttpConnectionsTest, ThoseThatTakeLongAreCut) {
  const Pair slow = Connect(kA, kStart);
  const Pair quick = Connect(kA, kStart);
  quick.connection->since = kStart + absl::Seconds(5);
  connections_.CutThoseSince(kStart + absl::Seconds(4));
  EXPECT_TRUE(IsCut(slow));
  EXPECT_FALSE(IsCut(quick));
}

TEST_F(HttpConnectionsTest, ThoseWhoseClientsLeftAreCut) {
  const Pair left = Connect(kA, kStart);
  const Pair stays = Connect(kA, kStart);
  const Pair leaves = Connect(kA, kStart + absl::Seconds(5));
  for (const Pair* pair : {&left, &leaves}) ::shutdown(pair->theirs.get(), SHUT_WR);
  connections_.CutThoseLeftSince(kStart + absl::Seconds(4));
  EXPECT_TRUE(left.connection->is_cut);
  EXPECT_TRUE(IsCut(left));
  EXPECT_FALSE(stays.connection->is_cut);
  EXPECT_FALSE(leaves.connection->is_cut);
}

TEST(ReadinessTest, SaysWhyNot) {
  using Reasons = std::vector<std::string>;
  Readiness readiness;
  EXPECT_EQ(readiness.reasons(), Reasons{"the server is starting"});
  readiness.SetReady();
  EXPECT_EQ(readiness.reasons(), Reasons{});
  readiness.AddReason("device npu:0 is lost");
  readiness.AddReason("the server is draining");
  readiness.SetReady();
  EXPECT_EQ(readiness.reasons(), (Reasons{"device npu:0 is lost", "the server is draining"}));
}

}  // namespace
}  // namespace opserve::server
