#include "server/open_addresses.h"

#include <gtest/gtest.h>

namespace opserve::server {
namespace {

TEST(OpenAddressesTest, LoopbackAndSocketsAreNot) {
  for (const char* address : {"localhost:0", "127.0.0.1:8500", "127.1.2.3:0", "[::1]:8500",
                              "[::ffff:127.0.0.1]:1", "unix:/tmp/socket", "unix:///tmp/socket"})
    EXPECT_FALSE(IsOpenAddress(address)) << address;
}

TEST(OpenAddressesTest, EverythingElseIs) {
  for (const char* address :
       {"0.0.0.0:8500", "[::]:0", "[::0]:1", "192.0.2.1:8500", "[2001:db8::1]:8500",
        "[::ffff:192.0.2.1]:1", "[::ffff:0.0.0.0]:1", "128.0.0.1:1", "0:8500"})
    EXPECT_TRUE(IsOpenAddress(address)) << address;
}

TEST(OpenAddressesTest, ANameWithoutAddressIsNot) {
  EXPECT_FALSE(IsOpenAddress("no-such-name.invalid:8500"));
}

TEST(OpenAddressesTest, KeepsTheirOrder) {
  EXPECT_EQ(OpenAddresses({"0.0.0.0:2", "localhost:1", "unix:/s", "[::]:1"}),
            (std::vector<std::string>{"0.0.0.0:2", "[::]:1"}));
}

TEST(OpenAddressesTest, WithoutTlsNoneMayBeOpen) {
  EXPECT_TRUE(CheckNoneIsOpen({"localhost:1", "[::1]:1", "unix:/s"}).ok());
  const std::string why(CheckNoneIsOpen({"localhost:1", "0.0.0.0:2", "[::]:3"}).message());
  EXPECT_NE(why.find("--listen: want loopback addresses"), std::string::npos) << why;
  EXPECT_NE(why.find("got 0.0.0.0:2, [::]:3"), std::string::npos) << why;
}

}  // namespace
}  // namespace opserve::server
