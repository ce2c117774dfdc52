// Whose the other end of a connection is.
#include "server/connections/peer_user.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "core/base/unique_fd.h"

namespace opserve::server {
namespace {

sockaddr_storage LoopV4(const char* host, uint16_t port) {
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET, host, &v4.sin_addr), 1);
  sockaddr_storage out = {};
  std::memcpy(&out, &v4, sizeof(v4));
  return out;
}

sockaddr_storage LoopV6(const char* host, uint16_t port) {
  sockaddr_in6 v6 = {};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET6, host, &v6.sin6_addr), 1);
  sockaddr_storage out = {};
  std::memcpy(&out, &v6, sizeof(v6));
  return out;
}

// Lines of a machine whose numbers are little-endian.
constexpr char kList[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1\n"
    "   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 2\n"
    "   2: 0100007F:9C41 0100007F:1F90 06 00000000:00000000 03:00000000 00000000  1001        0 3\n"
    "   3: 0100007F:9C42 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 65534        0 4\n"
    "   4: 00000000000000000000000001000000:9C43 00000000000000000000000001000000:1F90 01 "
    "00000000:00000000 00:00000000 00000000  1002        0 5\n"
    "   5: 0000000000000000FFFF00000100007F:9C44 0000000000000000FFFF00000100007F:1F90 01 "
    "00000000:00000000 00:00000000 00000000  1003        0 6\n"
    "   6: 0100007F:9C45 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  -1x        0 7\n"
    "   7: 0100007F:zzzz 01\n"
    "   8: 010000:9C46 0100007F:1F90 01 0:0 00:0 0 1 0\n";

std::optional<uid_t> Owner(const sockaddr_storage& local, const sockaddr_storage& remote) {
  return OwnerInList(kList, local, remote);
}

TEST(PeerUserTest, TheOwnerIsTheOneOfTheConnectionsOtherEnd) {
  const sockaddr_storage server = LoopV4("127.0.0.1", 8080);
  EXPECT_EQ(Owner(LoopV4("127.0.0.1", 40000), server), 1000u);
  EXPECT_EQ(Owner(LoopV6("::ffff:127.0.0.1", 40000), server), 1000u);  // one that listens on both
  EXPECT_EQ(Owner(LoopV6("::1", 40003), LoopV6("::1", 8080)), 1002u);
  EXPECT_EQ(Owner(LoopV4("127.0.0.1", 40004), server), 1003u);
}

TEST(PeerUserTest, ThereIsNoTellingOfOthers) {
  const sockaddr_storage server = LoopV4("127.0.0.1", 8080);
  EXPECT_EQ(Owner(LoopV4("127.0.0.1", 40001), server), std::nullopt);  // closed: nobody's any more
  EXPECT_EQ(Owner(LoopV4("127.0.0.1", 40002), server), std::nullopt);  // a user of no number
  EXPECT_EQ(Owner(LoopV4("127.0.0.1", 40005), server), std::nullopt);  // no number at all
  EXPECT_EQ(Owner(LoopV4("127.0.0.1", 40000), LoopV4("127.0.0.1", 8081)), std::nullopt);
  EXPECT_EQ(Owner(server, LoopV4("0.0.0.0", 0)), std::nullopt);  // who listens
  EXPECT_EQ(OwnerInList("", LoopV4("127.0.0.1", 40000), server), std::nullopt);
}

TEST(PeerUserTest, OfSockets) {
  std::array<int, 2> pair = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  const UniqueFd one(pair[0]);
  const UniqueFd other(pair[1]);
  EXPECT_EQ(PeerUser(one.get()), ::getuid());
  EXPECT_EQ(PeerUser(-1), std::nullopt);

  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage address = LoopV4("127.0.0.1", 0);
  socklen_t bytes = sizeof(sockaddr_in);
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener.get(), name, bytes), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener.get(), name, &bytes), 0);
  EXPECT_EQ(PeerUser(listener.get()), std::nullopt);
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(client.get(), name, bytes), 0);
  const UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_EQ(PeerUser(accepted.get()), ::getuid());
  client = UniqueFd();
  EXPECT_EQ(PeerUser(accepted.get()), std::nullopt);  // whose it was is not told any more
}

}  // namespace
}  // namespace opserve::server
