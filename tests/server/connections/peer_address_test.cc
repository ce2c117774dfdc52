#include "server/connections/peer_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

namespace opserve::server {
namespace {

sockaddr_storage V4(const char* host, uint16_t port) {
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET, host, &v4.sin_addr), 1);
  sockaddr_storage address = {};
  std::memcpy(&address, &v4, sizeof(v4));
  return address;
}

sockaddr_storage V6(const char* host, uint16_t port) {
  sockaddr_in6 v6 = {};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  EXPECT_EQ(::inet_pton(AF_INET6, host, &v6.sin6_addr), 1);
  sockaddr_storage address = {};
  std::memcpy(&address, &v6, sizeof(v6));
  return address;
}

TEST(PeerAddressTest, IsWhatGrpcCallsThePeer) {
  EXPECT_EQ(PeerAddress::Of(V4("127.0.0.1", 40000)), PeerAddress::Parse("ipv4:127.0.0.1:40000"));
  EXPECT_EQ(PeerAddress::Of(V6("::1", 40000)), PeerAddress::Parse("ipv6:%5B::1%5D:40000"));
  EXPECT_EQ(PeerAddress::Of(V6("2001:db8::7", 1)), PeerAddress::Parse("ipv6:[2001:db8::7]:1"));
  EXPECT_EQ(PeerAddress::Of(V6("fe80::1", 5)), PeerAddress::Parse("ipv6:%5Bfe80::1%25eth0%5D:5"));
  EXPECT_NE(PeerAddress::Parse("ipv4:127.0.0.1:1"), PeerAddress::Parse("ipv4:127.0.0.1:2"));
}

TEST(PeerAddressTest, AMappedAddressIsTheIpv4One) {
  EXPECT_EQ(PeerAddress::Of(V6("::ffff:10.1.2.3", 7)), PeerAddress::Parse("ipv4:10.1.2.3:7"));
  EXPECT_EQ(PeerAddress::Of(V6("::ffff:10.1.2.3", 7)).host(), "10.1.2.3");
}

TEST(PeerAddressTest, ClientsAreHosts) {
  const auto client = [](const char* peer) { return PeerAddress::Parse(peer).client(); };
  EXPECT_EQ(client("ipv4:10.0.0.1:1"), client("ipv4:10.0.0.1:2"));
  EXPECT_NE(client("ipv4:10.0.0.1:1"), client("ipv4:10.0.0.2:1"));
  EXPECT_EQ(client("ipv6:[2001:db8:1:2::3]:1"), client("ipv6:[2001:db8:1:2:ffff::4]:2"));
  EXPECT_NE(client("ipv6:[2001:db8:1:2::3]:1"), client("ipv6:[2001:db8:1:3::3]:1"));
  EXPECT_EQ(client("unix:"), client("unix:/run/opserve"));
  EXPECT_NE(client("unix:"), client("ipv4:10.0.0.1:1"));
  EXPECT_NE(client("unix:"), ClientId::kNone);
}

TEST(PeerAddressTest, WhatIsNoAddressIsLikeAUnixSocket) {
  for (const char* peer : {"", "unix:", "unix:/run/opserve", "ipv4:", "ipv4:10.0.0.1",
                           "ipv4:10.0.0.1:", "ipv4:10.0.0.1:65536", "ipv4:10.0.0.1:-1",
                           "ipv4:10.0.0.256:1", "ipv4:[::1]:1", "ipv6:::1", "ipv6:[::1:1",
                           "ipv6:%5B%5D:1", "ipv6:[x]:1", "tcp:10.0.0.1:1"}) {
    EXPECT_EQ(PeerAddress::Parse(peer), PeerAddress()) << peer;
    EXPECT_FALSE(PeerAddress::Parse(peer).is_ip()) << peer;
  }
  sockaddr_storage address = {};
  address.ss_family = AF_UNIX;
  EXPECT_FALSE(PeerAddress::Of(address).is_ip());
  EXPECT_EQ(PeerAddress().host(), "unix");
}

}  // namespace
}  // namespace opserve::server
