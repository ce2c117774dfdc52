#include "server/connections/connection_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/op_error.h"
#include "server/connections/frame_watch.h"
#include "tests/server/connections/connection_pairs.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

class ConnectionTableTest : public ::testing::Test {
 protected:
  testing::FakeClock clock_;
};

PeerAddress Peer(const char* name) { return PeerAddress::Parse(name); }

TEST_F(ConnectionTableTest, ConnectionsAreBounded) {
  ConnectionTable table({.max_connections = 4, .client_share = 0.5}, clock_);
  EXPECT_THAT(table.Reserve(Peer("ipv4:10.0.0.1:1")), testing::IsOk());
  EXPECT_THAT(table.Reserve(Peer("ipv4:10.0.0.1:2")), testing::IsOk());
  const absl::Status share = table.Reserve(Peer("ipv4:10.0.0.1:3"));
  EXPECT_EQ(share.message(),
            "--client-share: want at most 2 connections of one peer now, got one more");
  EXPECT_THAT(table.Reserve(Peer("ipv4:10.0.0.2:1")), testing::IsOk());
  EXPECT_THAT(table.Reserve(Peer("ipv4:10.0.0.3:1")), testing::IsOk());
  EXPECT_EQ(table.Reserve(Peer("ipv4:10.0.0.4:1")).message(),
            "--max-connections: want at most 4 connections, got one more");
  EXPECT_EQ(table.size(), 4);
  EXPECT_EQ(table.refused(), 2);
  table.Unreserve(Peer("ipv4:10.0.0.1:2"));
  EXPECT_THAT(table.Reserve(Peer("ipv4:10.0.0.4:1")), testing::IsOk());
}

TEST_F(ConnectionTableTest, APeersConnectionsAreBounded) {
  ConnectionTable table({.max_of_peer = 1}, clock_);
  EXPECT_THAT(table.Reserve(Peer("unix:")), testing::IsOk());
  EXPECT_EQ(table.Reserve(Peer("unix:/other")).message(),
            "--max-connections-per-peer: want at most 1 connections of one peer, got one more");
  EXPECT_THAT(table.Reserve(Peer("ipv4:10.0.0.1:1")), testing::IsOk());
}

TEST_F(ConnectionTableTest, FindsTheConnectionOfACall) {
  ConnectionTable table({}, clock_);
  {
    TcpPair pair(table);
    EXPECT_EQ(table.Find(pair.name()).get(), &pair.connection());
    EXPECT_EQ(table.Find("ipv4:127.0.0.1:1"), nullptr);
    EXPECT_EQ(table.Find("unix:"), nullptr);
  }
  EXPECT_EQ(table.size(), 0);
}

TEST_F(ConnectionTableTest, TooManyResetsCutTheConnection) {
  ConnectionTable table({.resets = {.per_second = 10, .burst = 100}}, clock_);
  TcpPair pair(table);
  for (int i = 0; i < 100; ++i) table.NoteResets(pair.connection(), 1);
  EXPECT_FALSE(pair.IsCut());
  clock_.Advance(absl::Seconds(1));
  for (int i = 0; i < 10; ++i) table.NoteResets(pair.connection(), 1);
  EXPECT_FALSE(pair.IsCut());
  table.NoteResets(pair.connection(), 1);
  EXPECT_TRUE(pair.IsCut());
  EXPECT_EQ(table.cut(), 1);
}

TEST_F(ConnectionTableTest, ResetsAreCountedByClient) {
  ConnectionTable table({.resets = {.per_second = 10, .burst = 100}}, clock_);
  const PeerAddress peer = PeerAddress::Parse("ipv4:127.0.0.1:1");
  for (int i = 0; i < 99; ++i) {
    TcpPair pair(table);
    table.NoteResets(pair.connection(), 1);
  }
  TcpPair first(table);
  TcpPair second(table);
  table.NoteResets(first.connection(), 1);
  EXPECT_THAT(table.Reserve(peer), testing::IsOk());
  table.NoteResets(second.connection(), 1);
  EXPECT_FALSE(table.Reserve(peer).ok());
  EXPECT_THAT(table.Reserve(PeerAddress::Parse("ipv4:127.0.0.2:1")), testing::IsOk());
  EXPECT_FALSE(first.IsCut());
  EXPECT_TRUE(second.IsCut());
}

// Of connections whose clients cannot be told apart: each may reset so many calls, and none of them
// is refused for another's.
TEST_F(ConnectionTableTest, ResetsOnAUnixSocketAreCountedByConnection) {
  ConnectionTable table({.resets = {.per_second = 10, .burst = 100}}, clock_);
  UnixPair attacker(table);
  UnixPair client(table);
  for (int i = 0; i < 10; ++i) {
    UnixPair pair(table);
    table.NoteResets(pair.connection(), 100);
    EXPECT_FALSE(pair.IsCut());
  }
  table.NoteResets(attacker.connection(), 100);
  EXPECT_FALSE(table.UnixWaits());
  table.NoteResets(attacker.connection(), 1);
  EXPECT_TRUE(attacker.IsCut());
  EXPECT_TRUE(table.UnixWaits());
  table.NoteResets(client.connection(), 100);
  EXPECT_FALSE(client.IsCut());
  clock_.Advance(absl::Milliseconds(499));
  EXPECT_TRUE(table.UnixWaits());
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_FALSE(table.UnixWaits());
  EXPECT_THAT(table.Reserve(PeerAddress()), testing::IsOk());
}

TEST_F(ConnectionTableTest, ItsClientIsBarredForLongerEachTime) {
  ConnectionTable table({.resets = {.per_second = 10, .burst = 100}}, clock_);
  const PeerAddress peer = PeerAddress::Parse("ipv4:127.0.0.1:1");
  for (const int seconds : {1, 2, 4, 8, 16, 32, 60, 60}) {
    TcpPair pair(table);
    table.NoteResets(pair.connection(), 101);
    EXPECT_TRUE(pair.IsCut());
    const absl::Status barred = table.Reserve(peer);
    ASSERT_TRUE(GetErrorDetail(barred).has_value()) << barred;
    EXPECT_EQ(GetErrorDetail(barred)->parameter, "connection");
    EXPECT_THAT(table.Reserve(PeerAddress::Parse("ipv4:127.0.0.2:1")), testing::IsOk());
    clock_.Advance(absl::Seconds(seconds) - absl::Milliseconds(1));
    EXPECT_FALSE(table.Reserve(peer).ok()) << seconds;
    clock_.Advance(absl::Milliseconds(1));
    EXPECT_THAT(table.Reserve(peer), testing::IsOk()) << seconds;
    table.Settle();
  }
  clock_.Advance(absl::Minutes(2));
  table.Settle();
  TcpPair pair(table);
  table.NoteResets(pair.connection(), 101);
  clock_.Advance(absl::Seconds(1));
  EXPECT_THAT(table.Reserve(peer), testing::IsOk());
}

TEST_F(ConnectionTableTest, ManyResetsOverALongTimeAreNormal) {
  ConnectionTable table({.resets = {.per_second = 10, .burst = 100}}, clock_);
  TcpPair pair(table);
  for (int i = 0; i < 10'000; ++i) {
    clock_.Advance(absl::Milliseconds(100));
    table.NoteResets(pair.connection(), 1);
  }
  EXPECT_FALSE(pair.IsCut());
}

TEST_F(ConnectionTableTest, FewerCallsMayComeWithoutAMessage) {
  ConnectionTable table({.resets = {.per_second = 10, .burst = 100, .empty_burst = 20}}, clock_);
  TcpPair pair(table);
  table.NoteEmptyCalls(pair.connection(), 20);
  table.NoteResets(pair.connection(), 100);
  EXPECT_FALSE(pair.IsCut());
  clock_.Advance(absl::Seconds(1));
  table.NoteEmptyCalls(pair.connection(), 10);
  EXPECT_FALSE(pair.IsCut());
  table.NoteEmptyCalls(pair.connection(), 1);
  EXPECT_TRUE(pair.IsCut());
}

TEST_F(ConnectionTableTest, ABarredClientComesBackWithLittle) {
  ConnectionTable table({.resets = {.per_second = 10, .burst = 100, .empty_burst = 20}}, clock_);
  TcpPair pair(table);
  {
    TcpPair flood(table);
    table.Expel(flood.connection(), "a flood", ConnectionTable::kFloodBar);
  }
  table.NoteResets(pair.connection(), 5);
  clock_.Advance(ConnectionTable::kFloodBar);
  table.NoteResets(pair.connection(), 5);
  table.NoteEmptyCalls(pair.connection(), 10);
  EXPECT_FALSE(pair.IsCut());
  clock_.Advance(absl::Seconds(9));
  table.NoteResets(pair.connection(), 90);
  EXPECT_FALSE(pair.IsCut());
  table.NoteEmptyCalls(pair.connection(), 21);
  EXPECT_TRUE(pair.IsCut());
}

TEST_F(ConnectionTableTest, BytesThatAreNoMessageCutTheConnection) {
  ConnectionTable table({.max_first_message_bytes = 10'000}, clock_);
  TcpPair quiet(table);
  TcpPair client(table);
  TcpPair attacker(table);
  client.Send(20'000);
  client.connection().NoteMessages(15'000);
  attacker.Send(10'000);
  table.Settle();
  EXPECT_FALSE(attacker.IsCut());
  attacker.Send(1);
  table.Settle();
  EXPECT_TRUE(attacker.IsCut());
  EXPECT_FALSE(client.IsCut());
  EXPECT_FALSE(quiet.IsCut());
}

TEST_F(ConnectionTableTest, FloodsOfFramesCutTheConnectionAndBarItsClient) {
  std::string pings;
  std::string tensor("\0\x40\0\0\0\0\0\0\1", 9);  // DATA of stream 1
  while (pings.size() < size_t{128} << 10)
    pings += std::string("\0\0\x08\x06\0\0\0\0\0pingping", 17);
  while (tensor.size() < pings.size()) tensor += "tens";
  ConnectionTable table({}, clock_);
  FrameWatch watch(table);
  TcpPair quiet(table);
  TcpPair slow(table);
  TcpPair attacker(table);
  slow.Leave(tensor);
  watch.Check();
  EXPECT_THAT(table.Reserve(Peer("ipv4:127.0.0.1:1")), testing::IsOk());
  attacker.Leave(pings);
  watch.Check();
  EXPECT_TRUE(attacker.IsCut());
  EXPECT_FALSE(slow.IsCut());
  EXPECT_FALSE(quiet.IsCut());
  EXPECT_FALSE(table.Reserve(Peer("ipv4:127.0.0.1:1")).ok());
  clock_.Advance(ConnectionTable::kFloodBar);
  EXPECT_THAT(table.Reserve(Peer("ipv4:127.0.0.1:1")), testing::IsOk());
}

TEST_F(ConnectionTableTest, AFloodBarsForLongerThanTheResetsBeforeIt) {
  ConnectionTable table({.resets = {.per_second = 10, .burst = 100}}, clock_);
  TcpPair pair(table);
  table.NoteResets(pair.connection(), 101);
  table.Expel(pair.connection(), "a flood", ConnectionTable::kFloodBar);
  clock_.Advance(ConnectionTable::kFloodBar - absl::Milliseconds(1));
  EXPECT_FALSE(table.Reserve(Peer("ipv4:127.0.0.1:1")).ok());
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_THAT(table.Reserve(Peer("ipv4:127.0.0.1:1")), testing::IsOk());
}

TEST_F(ConnectionTableTest, KnowsWhatIsUnfinished) {
  ConnectionTable table({}, clock_);
  TcpPair pair(table);
  pair.Send(50'000);
  EXPECT_EQ(pair.connection().unfinished_bytes(), 50'000);
  pair.connection().NoteMessages(49'000);
  EXPECT_EQ(pair.connection().unfinished_bytes(), 1000);
  // What lies beside messages for minutes was headers and frames.
  for (int i = 0; i < 5000; ++i) table.Settle();
  EXPECT_LT(pair.connection().unfinished_bytes(), 400);
  // Samples may say too much.
  pair.connection().NoteMessages(10'000);
  EXPECT_EQ(pair.connection().unfinished_bytes(), 0);
  table.Settle();
  pair.Send(5000);
  EXPECT_EQ(pair.connection().unfinished_bytes(), 5000);
}

}  // namespace
}  // namespace opserve::server
