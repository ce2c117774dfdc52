#include "server/connections/acceptor.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/connections/unix_socket.h"
#include "server/descriptors.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

// A client's end; not open where it could not connect.
UniqueFd ConnectTo(const std::string& address) {
  const auto port = static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)) != 0) return {};
  return socket;
}

// What comes until the other side ends the connection.
std::string ReadToEnd(int socket) {
  std::string all;
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::recv(socket, buffer, sizeof(buffer), 0);
    if (count <= 0) return all;
    all.append(buffer, static_cast<size_t>(count));
  }
}

class AcceptorTest : public ::testing::Test {
 protected:
  ~AcceptorTest() override {
    acceptor_.reset();
    for (const int socket : sockets_) ::close(socket);
  }

  void Start(const ConnectionLimits& limits = {},
             absl::Duration most_ended_time = absl::InfiniteDuration()) {
    table_ = std::make_unique<ConnectionTable>(limits, Clock::Real());
    absl::StatusOr<Listening> listening = Listen("127.0.0.1:0", 0600);
    ASSERT_THAT(listening, testing::IsOk());
    address_ = listening->address;
    listener_ = listening->listeners[0].socket.get();
    Acceptor::Options options;
    options.most_ended_time = most_ended_time;
    options.on_accepted = [this](const auto& /*connection*/) {
      MutexLock lock(mutex_);
      ++accepted_;
      changed_.NotifyAll();
    };
    options.hand_over = [this](const Acceptor::Arrival& arrival) {
      MutexLock lock(mutex_);
      sockets_.push_back(arrival.socket);
      times_.push_back(Clock::Real().Now());
      changed_.NotifyAll();
      while (held_) changed_.Wait(mutex_);
    };
    options.on_handed_over = [this](const auto& /*connection*/) {
      MutexLock lock(mutex_);
      // No other was handed over since.
      EXPECT_EQ(sockets_.size(), ++handed_over_);
    };
    options.is_crowded = [this](ClientId /*client*/) { return is_crowded_.load(); };
    options.on_tick = [this] {
      MutexLock lock(mutex_);
      ++ticks_;
      changed_.NotifyAll();
    };
    options.on_dead_listener = [this](std::string_view reason) {
      dead_.set_value(std::string(reason));
    };
    absl::StatusOr<std::unique_ptr<Acceptor>> acceptor =
        Acceptor::Start(std::move(listening->listeners), *table_, options);
    ASSERT_THAT(acceptor, testing::IsOk());
    acceptor_ = *std::move(acceptor);
  }

  // Waits for so many connections in all; the last one.
  int AwaitHandOver(size_t count) {
    MutexLock lock(mutex_);
    while (sockets_.size() < count) changed_.Wait(mutex_);
    return sockets_[count - 1];
  }
  size_t num_handed_over() {
    MutexLock lock(mutex_);
    return sockets_.size();
  }
  // What gRPC does with a connection takes long, until it is let go on.
  void Hold(bool held) {
    MutexLock lock(mutex_);
    held_ = held;
    changed_.NotifyAll();
  }
  absl::Duration TimeBetween(size_t first, size_t second) {
    MutexLock lock(mutex_);
    return times_[second] - times_[first];
  }
  void AwaitAccepted(int count) {
    MutexLock lock(mutex_);
    while (accepted_ < count) changed_.Wait(mutex_);
  }
  void AwaitTicks(int count) {
    MutexLock lock(mutex_);
    const int enough = ticks_ + count;
    while (ticks_ < enough) changed_.Wait(mutex_);
  }
  // As gRPC does it.
  static void LetGo(int socket) {
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
  }
  void AwaitSize(int64_t size) {
    while (table_->size() != size) std::this_thread::yield();
  }

  std::unique_ptr<ConnectionTable> table_;
  std::string address_;
  int listener_ = -1;
  std::promise<std::string> dead_;
  std::atomic<bool> is_crowded_ = false;
  std::unique_ptr<Acceptor> acceptor_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<int> sockets_ ABSL_GUARDED_BY(mutex_);
  std::vector<absl::Time> times_ ABSL_GUARDED_BY(mutex_);
  size_t handed_over_ ABSL_GUARDED_BY(mutex_) = 0;
  int accepted_ ABSL_GUARDED_BY(mutex_) = 0;
  int ticks_ ABSL_GUARDED_BY(mutex_) = 0;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST_F(AcceptorTest, HandsConnectionsOver) {
  Start();
  const UniqueFd client = ConnectTo(address_);
  const int socket = AwaitHandOver(1);
  EXPECT_EQ(table_->size(), 1);
  int no_delay = 0;
  socklen_t size = sizeof(no_delay);
  EXPECT_EQ(::getsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
  EXPECT_NE(no_delay, 0);
  ASSERT_EQ(::send(client.get(), "hello", 5, 0), 5);
  pollfd ready = {.fd = socket, .events = POLLIN};
  EXPECT_EQ(::poll(&ready, 1, 10'000), 1);
  char buffer[5] = {};
  EXPECT_EQ(::recv(socket, buffer, sizeof(buffer), 0), 5);
}

TEST_F(AcceptorTest, ForgetsConnectionsThatAreOver) {
  Start();
  {
    const UniqueFd first = ConnectTo(address_);
    const UniqueFd second = ConnectTo(address_);
    LetGo(AwaitHandOver(2));
    AwaitSize(1);
  }
  // The client closed its end: gRPC reads that, and lets go.
  LetGo(AwaitHandOver(1));
  AwaitSize(0);
}

// gRPC works on what came by a connection after its client has gone: new ones must not come faster
// than that.
TEST_F(AcceptorTest, AConnectionHasItsPlaceUntilGrpcLetsGo) {
  Start({.max_of_peer = 1});
  {
    const UniqueFd client = ConnectTo(address_);
    AwaitHandOver(1);
    const linger reset = {.l_onoff = 1, .l_linger = 0};
    ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  }
  const UniqueFd second = ConnectTo(address_);
  EXPECT_NE(ReadToEnd(second.get()), "");
  EXPECT_EQ(table_->size(), 1);
  LetGo(AwaitHandOver(1));
  AwaitSize(0);
  const UniqueFd third = ConnectTo(address_);
  AwaitHandOver(2);
}

// Whatever gRPC, which has its socket here until the end, still has to read.
TEST_F(AcceptorTest, AConnectionIsOverOnceItsClientHasGone) {
  Start();
  UniqueFd client = ConnectTo(address_);
  AwaitHandOver(1);
  const ConnectionTable::Connections connections = table_->All();
  ASSERT_EQ(connections.size(), 1u);
  EXPECT_FALSE(connections[0]->is_over());
  client = UniqueFd();
  const absl::Time until = Clock::Real().Now() + absl::Seconds(30);
  while (!connections[0]->is_over() && Clock::Real().Now() < until)
    absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(connections[0]->is_over());
}

TEST_F(AcceptorTest, AConnectionThatGrpcKeepsGivesItsPlaceBackAfterAWhile) {
  Start({}, absl::Milliseconds(1));
  {
    const UniqueFd client = ConnectTo(address_);
    AwaitHandOver(1);
    EXPECT_EQ(table_->size(), 1);
  }
  AwaitSize(0);
}

TEST_F(AcceptorTest, CutEndsAConnectionForBothSides) {
  Start();
  const UniqueFd client = ConnectTo(address_);
  const int socket = AwaitHandOver(1);
  table_->All()[0]->Cut();
  EXPECT_EQ(ReadToEnd(client.get()), "");
  char byte = 0;
  EXPECT_LE(::recv(socket, &byte, 1, 0), 0);
  LetGo(socket);
  AwaitSize(0);
}

TEST_F(AcceptorTest, OneTooManyIsToldWhy) {
  Start({.max_of_peer = 2});
  const UniqueFd first = ConnectTo(address_);
  const UniqueFd second = ConnectTo(address_);
  const UniqueFd third = ConnectTo(address_);
  const std::string told = ReadToEnd(third.get());
  EXPECT_NE(told.find("--max-connections-per-peer: want at most 2 connections of one peer, got one "
                      "more"),
            std::string::npos)
      << told;
  const int one = AwaitHandOver(2);
  EXPECT_EQ(num_handed_over(), 2u);
  LetGo(one);
  AwaitSize(1);
  const UniqueFd fourth = ConnectTo(address_);
  AwaitHandOver(3);
}

TEST_F(AcceptorTest, AcceptsAgainAfterThereWasNoDescriptor) {
  Start();
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 20; ++i) clients.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
  // The next free number is the first that may not be.
  const UniqueFd next(::dup(0));
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(next.get()) + 1;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto port = static_cast<uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1)));
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (const UniqueFd& client : clients) {
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    EXPECT_EQ(ReadToEnd(client.get()), "");
  }
  EXPECT_EQ(num_handed_over(), 0u);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd late = ConnectTo(address_);
  AwaitHandOver(1);
}

TEST_F(AcceptorTest, ADeadListenerIsToldOf) {
  Start();
  ::shutdown(listener_, SHUT_RDWR);
  EXPECT_EQ(dead_.get_future().get(), std::strerror(EINVAL));
}

TEST_F(AcceptorTest, StopsAccepting) {
  Start();
  const UniqueFd client = ConnectTo(address_);
  AwaitHandOver(1);
  acceptor_->StopAccepting();
  EXPECT_FALSE(ConnectTo(address_).is_open());
  EXPECT_EQ(table_->size(), 1);
  LetGo(AwaitHandOver(1));
  AwaitSize(0);
}

// gRPC reads what a connection has brought where it is handed over.
TEST_F(AcceptorTest, AConnectionThatHoldsTheHandOverHoldsNothingElse) {
  Start();
  Hold(true);
  const UniqueFd first = ConnectTo(address_);
  AwaitHandOver(1);
  const UniqueFd second = ConnectTo(address_);
  AwaitAccepted(2);
  AwaitTicks(3);
  EXPECT_EQ(num_handed_over(), 1u);
  Hold(false);
  AwaitHandOver(2);
}

TEST_F(AcceptorTest, ConnectionsOfACrowdedClientWaitForEachOther) {
  is_crowded_ = true;
  Start();
  const UniqueFd first = ConnectTo(address_);
  const UniqueFd second = ConnectTo(address_);
  const UniqueFd third = ConnectTo(address_);
  AwaitHandOver(3);
  // Each was noted a moment after it was let go.
  EXPECT_GT(TimeBetween(0, 1), Acceptor::kCrowdedPace / 2);
  EXPECT_GT(TimeBetween(0, 2), Acceptor::kCrowdedPace * 3 / 2);
}

TEST_F(AcceptorTest, AClientThatIsBarredLosesConnectionsThatWait) {
  is_crowded_ = true;
  Start();
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(ConnectTo(address_));
  const int socket = AwaitHandOver(1);
  AwaitAccepted(20);
  table_->Expel(*table_->All().front(), "", absl::Minutes(1));
  EXPECT_EQ(ReadToEnd(clients.back().get()), "");
  EXPECT_LT(num_handed_over(), 20u);
  LetGo(socket);
}

TEST_F(AcceptorTest, ConnectionsThatAreLeftWhileTheyWaitAreNotHandedOver) {
  is_crowded_ = true;
  Start();
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(ConnectTo(address_));
  AwaitAccepted(20);
  clients.clear();
  // The others have given their places back.
  while (table_->size() != static_cast<int64_t>(num_handed_over())) std::this_thread::yield();
  const size_t handed_over = num_handed_over();
  EXPECT_LT(handed_over, 20u);
  AwaitTicks(static_cast<int>(Acceptor::kCrowdedPace / Acceptor::kTick) + 2);
  EXPECT_EQ(num_handed_over(), handed_over);
}

TEST_F(AcceptorTest, AConnectionThatHoldsTheHandOverIsCutAtTheEnd) {
  Start();
  Hold(true);
  const UniqueFd first = ConnectTo(address_);
  AwaitHandOver(1);
  const UniqueFd second = ConnectTo(address_);
  AwaitAccepted(2);
  std::thread gives_up_when_cut([&] {
    EXPECT_EQ(ReadToEnd(first.get()), "");
    Hold(false);
  });
  acceptor_->StopAccepting();
  gives_up_when_cut.join();
  EXPECT_EQ(num_handed_over(), 1u);
  EXPECT_EQ(ReadToEnd(second.get()), "");  // it waited
}

TEST(ListenTest, AnAddressThatIsTakenIsToldWithTheReason) {
  const absl::StatusOr<Listening> first = Listen("127.0.0.1:0", 0600);
  ASSERT_THAT(first, testing::IsOk());
  EXPECT_EQ(Listen(first->address, 0600).status().message(),
            "--listen: want an address that can be bound, got " + first->address +
                ", which cannot: Address already in use");
}

TEST(ListenTest, LocalhostIsAllThatThisMachineHas) {
  const absl::StatusOr<Listening> listening = Listen("localhost:0", 0600);
  ASSERT_THAT(listening, testing::IsOk());
  EXPECT_GE(listening->listeners.size(), 1u);
  EXPECT_TRUE(listening->address.starts_with("localhost:"));
  EXPECT_TRUE(ConnectTo(listening->address).is_open());
}

TEST(DescriptorsTest, ConnectionsAreThoseThatCanBe) {
  EXPECT_EQ(*ConnectionsFor(1 << 16, 100), 100);
  const int64_t most = *ConnectionsFor(1000, 0);
  EXPECT_GT(most, 300);
  EXPECT_LT(most, 500);
  EXPECT_FALSE(ConnectionsFor(1000, most + 1).ok());
  const absl::Status status = ConnectionsFor(10, 0).status();
  EXPECT_NE(status.message().find("--max-connections: want at most 0, as the process may have 10"),
            std::string::npos)
      << status;
  EXPECT_GT(RaiseDescriptorLimit(), 16);
}

}  // namespace
}  // namespace opserve::server
