#include "server/connections/connection_table.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "server/connections/frame_watch.h"
#include "server/connections/memory_guard.h"
#include "tests/support/fake_clock.h"

namespace opserve::server {
namespace {

// Both ends of a TCP connection on this machine; the server's is in a table.
class TcpPair {
 public:
  explicit TcpPair(ConnectionTable& table) : table_(table) {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), any, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), any, &size), 0);
    client_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client_.get(), any, size), 0);
    sockaddr_storage peer = {};
    size = sizeof(peer);
    UniqueFd server(::accept4(listener.get(), reinterpret_cast<sockaddr*>(&peer), &size, 0));
    EXPECT_TRUE(server.is_open());
    peer_ = PeerAddress::Of(peer);
    sockaddr_in v4 = {};
    std::memcpy(&v4, &peer, sizeof(v4));
    name_ = absl::StrCat("ipv4:127.0.0.1:", ntohs(v4.sin_port));
    EXPECT_TRUE(table.Reserve(peer_).ok());
    connection_ = table.Add(std::move(server), peer_);
  }
  ~TcpPair() { table_.Remove(connection_); }
  TcpPair(const TcpPair&) = delete;
  TcpPair& operator=(const TcpPair&) = delete;

  Connection& connection() { return *connection_; }
  const std::string& name() const { return name_; }
  // The other side reads it.
  void Send(size_t bytes) {
    std::string data(size_t{16} << 10, 'x');
    while (bytes > 0) {
      const size_t part = std::min(bytes, data.size());
      ASSERT_EQ(::send(client_.get(), data.data(), part, MSG_NOSIGNAL), static_cast<ssize_t>(part));
      sent_ += static_cast<int64_t>(part);
      while (connection_->received_bytes() < sent_) {
      }
      EXPECT_GT(::recv(connection_->socket(), data.data(), data.size(), MSG_DONTWAIT), 0);
      bytes -= part;
    }
  }
  // Nobody reads it. At least 64 KiB, of which as much comes as the sockets take.
  void Leave(const std::string& bytes) {
    ASSERT_GT(::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT), 0);
    while (connection_->received_bytes() < 64 << 10) {
    }
  }
  // The other side ended it.
  bool IsCut() {
    char byte = 0;
    const ssize_t got = ::recv(client_.get(), &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }

 private:
  ConnectionTable& table_;
  UniqueFd client_;
  PeerAddress peer_;
  std::string name_;
  std::shared_ptr<Connection> connection_;
  int64_t sent_ = 0;
};

// Likewise of a unix socket.
class UnixPair {
 public:
  explicit UnixPair(ConnectionTable& table) : table_(table) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    client_ = UniqueFd(ends[0]);
    EXPECT_TRUE(table.Reserve(PeerAddress()).ok());
    connection_ = table.Add(UniqueFd(ends[1]), PeerAddress());
  }
  ~UnixPair() { table_.Remove(connection_); }
  UnixPair(const UnixPair&) = delete;
  UnixPair& operator=(const UnixPair&) = delete;

  Connection& connection() { return *connection_; }
  bool IsCut() {
    char byte = 0;
    return ::recv(client_.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

 private:
  ConnectionTable& table_;
  UniqueFd client_;
  std::shared_ptr<Connection> connection_;
};

class ConnectionTableTest : public ::testing::Test {
 protected:
  testing::FakeClock clock_;
};

PeerAddress Peer(const char* name) { return PeerAddress::Parse(name); }

TEST_F(ConnectionTableTest, ConnectionsAreBounded) {
  ConnectionTable table({.max_connections = 4, .client_share = 0.5}, clock_);
  EXPECT_TRUE(table.Reserve(Peer("ipv4:10.0.0.1:1")).ok());
  EXPECT_TRUE(table.Reserve(Peer("ipv4:10.0.0.1:2")).ok());
  const absl::Status share = table.Reserve(Peer("ipv4:10.0.0.1:3"));
  EXPECT_EQ(share.message(),
            "--client-share: want at most 2 connections of one peer now, got one more");
  EXPECT_TRUE(table.Reserve(Peer("ipv4:10.0.0.2:1")).ok());
  EXPECT_TRUE(table.Reserve(Peer("ipv4:10.0.0.3:1")).ok());
  EXPECT_EQ(table.Reserve(Peer("ipv4:10.0.0.4:1")).message(),
            "--max-connections: want at most 4 connections, got one more");
  EXPECT_EQ(table.size(), 4);
  EXPECT_EQ(table.refused(), 2);
  table.Unreserve(Peer("ipv4:10.0.0.1:2"));
  EXPECT_TRUE(table.Reserve(Peer("ipv4:10.0.0.4:1")).ok());
}

TEST_F(ConnectionTableTest, APeersConnectionsAreBounded) {
  ConnectionTable table({.max_of_peer = 1}, clock_);
  EXPECT_TRUE(table.Reserve(Peer("unix:")).ok());
  EXPECT_EQ(table.Reserve(Peer("unix:/other")).message(),
            "--max-connections-per-peer: want at most 1 connections of one peer, got one more");
  EXPECT_TRUE(table.Reserve(Peer("ipv4:10.0.0.1:1")).ok());
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
  EXPECT_TRUE(table.Reserve(peer).ok());
  table.NoteResets(second.connection(), 1);
  EXPECT_FALSE(table.Reserve(peer).ok());
  EXPECT_TRUE(table.Reserve(PeerAddress::Parse("ipv4:127.0.0.2:1")).ok());
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
  EXPECT_TRUE(table.Reserve(PeerAddress()).ok());
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
    EXPECT_TRUE(table.Reserve(PeerAddress::Parse("ipv4:127.0.0.2:1")).ok());
    clock_.Advance(absl::Seconds(seconds) - absl::Milliseconds(1));
    EXPECT_FALSE(table.Reserve(peer).ok()) << seconds;
    clock_.Advance(absl::Milliseconds(1));
    EXPECT_TRUE(table.Reserve(peer).ok()) << seconds;
    table.Settle();
  }
  clock_.Advance(absl::Minutes(2));
  table.Settle();
  TcpPair pair(table);
  table.NoteResets(pair.connection(), 101);
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(table.Reserve(peer).ok());
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
  EXPECT_TRUE(table.Reserve(Peer("ipv4:127.0.0.1:1")).ok());
  attacker.Leave(pings);
  watch.Check();
  EXPECT_TRUE(attacker.IsCut());
  EXPECT_FALSE(slow.IsCut());
  EXPECT_FALSE(quiet.IsCut());
  EXPECT_FALSE(table.Reserve(Peer("ipv4:127.0.0.1:1")).ok());
  clock_.Advance(ConnectionTable::kFloodBar);
  EXPECT_TRUE(table.Reserve(Peer("ipv4:127.0.0.1:1")).ok());
}

TEST_F(ConnectionTableTest, AFloodBarsForLongerThanTheResetsBeforeIt) {
  ConnectionTable table({.resets = {.per_second = 10, .burst = 100}}, clock_);
  TcpPair pair(table);
  table.NoteResets(pair.connection(), 101);
  table.Expel(pair.connection(), "a flood", ConnectionTable::kFloodBar);
  clock_.Advance(ConnectionTable::kFloodBar - absl::Milliseconds(1));
  EXPECT_FALSE(table.Reserve(Peer("ipv4:127.0.0.1:1")).ok());
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_TRUE(table.Reserve(Peer("ipv4:127.0.0.1:1")).ok());
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

class MemoryGuardTest : public ConnectionTableTest {
 protected:
  MemoryGuard::System System() {
    return {.resident_bytes = [this] { return resident_; },
            .heap = [this] { return heap_; },
            .trim =
                [this] {
                  ++trims_;
                  resident_ -= freed_by_trim_;
                  freed_by_trim_ = 0;
                }};
  }

  void CheckFor(MemoryGuard& guard, absl::Duration time) {
    for (; time > absl::ZeroDuration(); time -= absl::Milliseconds(100)) {
      clock_.Advance(absl::Milliseconds(100));
      guard.Check();
    }
  }

  static constexpr int64_t kMiB = 1 << 20;
  ConnectionTable table_{{}, clock_};
  int64_t resident_ = 0;
  int64_t freed_by_trim_ = 0;
  MemoryGuard::Heap heap_;
  int trims_ = 0;
};

TEST_F(MemoryGuardTest, GivesFreeMemoryBackBeforeItCuts) {
  MemoryGuard guard(100 * kMiB, table_, clock_, System());
  TcpPair pair(table_);
  pair.Send(2 * kMiB);
  resident_ = 150 * kMiB;
  freed_by_trim_ = 60 * kMiB;
  guard.Check();
  EXPECT_EQ(trims_, 1);
  EXPECT_FALSE(pair.IsCut());
}

TEST_F(MemoryGuardTest, CutsTheConnectionsWhoseRequestsTakeMost) {
  MemoryGuard guard(100 * kMiB, table_, clock_, System());
  TcpPair large(table_);
  TcpPair larger(table_);
  TcpPair small(table_);
  TcpPair busy(table_);
  large.Send(2 * kMiB);
  larger.Send(3 * kMiB);
  small.Send(kMiB / 2);
  busy.Send(4 * kMiB);
  busy.connection().NoteMessages(4 * kMiB);
  resident_ = 100 * kMiB;
  guard.Check();
  EXPECT_FALSE(larger.IsCut());
  // A sixteenth of the limit below it would be enough, and is more than there is.
  resident_ = 100 * kMiB + 1;
  guard.Check();
  EXPECT_TRUE(large.IsCut());
  EXPECT_TRUE(larger.IsCut());
  EXPECT_FALSE(small.IsCut());
  EXPECT_FALSE(busy.IsCut());
}

TEST_F(MemoryGuardTest, CutsNoMoreThanItMust) {
  MemoryGuard guard(16 * kMiB, table_, clock_, System());
  TcpPair large(table_);
  TcpPair larger(table_);
  large.Send(2 * kMiB);
  larger.Send(3 * kMiB);
  resident_ = 17 * kMiB;
  guard.Check();
  EXPECT_TRUE(larger.IsCut());
  EXPECT_FALSE(large.IsCut());
}

TEST_F(MemoryGuardTest, WithoutALimitNothingIsCut) {
  MemoryGuard guard(0, table_, clock_, System());
  TcpPair pair(table_);
  pair.Send(2 * kMiB);
  resident_ = 1'000'000 * kMiB;
  guard.Check();
  EXPECT_FALSE(pair.IsCut());
}

TEST_F(MemoryGuardTest, WhatWasNotUsedForSecondsIsGivenBackOnce) {
  MemoryGuard guard(0, table_, clock_, System());
  resident_ = 50 * kMiB;
  heap_ = {.used_bytes = 10 * kMiB, .free_bytes = 10 * kMiB};
  CheckFor(guard, absl::Seconds(20));
  EXPECT_EQ(trims_, 0);
  // In use, then free but used a moment ago, then free.
  heap_ = {.used_bytes = 510 * kMiB, .free_bytes = 10 * kMiB};
  resident_ = 550 * kMiB;
  CheckFor(guard, absl::Seconds(1));
  heap_ = {.used_bytes = 10 * kMiB, .free_bytes = 510 * kMiB};
  freed_by_trim_ = 500 * kMiB;
  CheckFor(guard, absl::Seconds(4));
  EXPECT_EQ(trims_, 0);
  CheckFor(guard, absl::Seconds(4));
  EXPECT_EQ(trims_, 1);
  // The heap counts it as free still.
  CheckFor(guard, absl::Seconds(60));
  EXPECT_EQ(trims_, 1);
}

// Of what was in use when memory was given back, too.
TEST_F(MemoryGuardTest, WhatIsFreedLaterIsGivenBackAsWell) {
  MemoryGuard guard(0, table_, clock_, System());
  resident_ = 600 * kMiB;
  heap_ = {.used_bytes = 300 * kMiB, .free_bytes = 300 * kMiB};
  freed_by_trim_ = 100 * kMiB;
  CheckFor(guard, absl::Seconds(10));
  EXPECT_EQ(trims_, 1);
  heap_ = {.used_bytes = 10 * kMiB, .free_bytes = 590 * kMiB};
  freed_by_trim_ = 450 * kMiB;
  CheckFor(guard, absl::Seconds(10));
  EXPECT_EQ(trims_, 2);
  EXPECT_EQ(resident_, 50 * kMiB);
}

TEST(RealMemoryTest, IsRead) {
  const MemoryGuard::System system = MemoryGuard::RealSystem();
  EXPECT_GT(system.resident_bytes(), 1 << 20);
  EXPECT_GE(system.heap().used_bytes, 0);
  system.trim();
}

}  // namespace
}  // namespace opserve::server
