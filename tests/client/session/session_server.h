// A session of the C++ client on a real server, for each test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <opserve/session.h>

#include "tests/server/test_server.h"

namespace opserve::client {

std::vector<float> Random(size_t count, uint32_t seed);

// The same bits.
void ExpectSame(const Tensor& a, const Tensor& b);

class SessionServerTest : public opserve::testing::ServerTest {
 protected:
  void SetUp() override;

  // A tensor on the device with what `view` holds.
  DeviceTensor Put(const TensorView& view);

  std::optional<Client> client_;
  std::optional<Session> session_;
  std::optional<Context> context_;
  std::optional<Stream> stream_;
};

}  // namespace opserve::client
