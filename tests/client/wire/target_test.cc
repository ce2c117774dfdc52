#include "client/cpp/transport/target.h"
#include "tests/support/status_matchers.h"

#include <gtest/gtest.h>

#include <opserve/client.h>

namespace opserve::client {
namespace {

TEST(TargetTest, WhatCanBeDialled) {
  for (const char* target :
       {"localhost:8500", "10.0.0.1:1", "[::1]:65535", "unix:socket", "unix:///tmp/socket",
        "dns:///host:80", "ipv4:1.2.3.4:80,5.6.7.8:80", "unix-abstract:name"}) {
    EXPECT_THAT(CheckTarget(target), testing::IsOk()) << target;
    EXPECT_THAT(Client::Connect(target), testing::IsOk()) << target;
  }
}

TEST(TargetTest, WhatCannotIsNamed) {
  for (const char* target :
       {"localhost", "localhost:", ":8500", "localhost:0", "localhost:65536", "localhost:99999",
        "localhost:-1", "localhost:http", "http://localhost:8500", "::1", "::1:80", "[]:80",
        "unix:", "/tmp/socket", "local host:80"}) {
    const absl::Status status = CheckTarget(target);
    EXPECT_EQ(std::string(status.message()),
              std::string("target: want host:port with a port of 1 to 65535, or unix:path, got '") +
                  target + "'");
    EXPECT_FALSE(Client::Connect(target).ok()) << target;
  }
  EXPECT_FALSE(Client::Connect("").ok());
}

}  // namespace
}  // namespace opserve::client
