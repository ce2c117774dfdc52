// opserve-server on an NPU, whose vendor's libraries are libopserve_acl with guarded memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/op/op_table.h"
#include "tests/server/pending_call.h"
#include "tests/server/requests.h"
#include "tests/server/server_process.h"
#include "tests/server/test_server.h"
#include "tests/support/stand_in.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using ::testing::HasSubstr;

class AscendServerTest : public ::testing::Test {
 public:
  ~AscendServerTest() override { ::unsetenv("OPSERVE_ACL_FAULTS"); }

 protected:
  AscendServerTest()
      : socket_(std::filesystem::temp_directory_path() /
                ("opserve-ascend-" + std::to_string(::getpid()))) {
    ::setenv("OPSERVE_ACL_GUARD_MEMORY", "1", 1);
    ::setenv("OPSERVE_ACL_DEVICES", "cpu,threads=2", 1);
  }

  ServerProcess Start() const {
    return ServerProcess({"--listen", address(), "--device", "ascend:0,threads=2",
                          "--ascend-library-path", StandInFolder()});
  }
  std::string address() const { return "unix:" + socket_; }

 private:
  const std::string socket_;
};

TEST_F(AscendServerTest, ServesAsTheCpuDoes) {
  ServerProcess server = Start();
  ASSERT_TRUE(server.WaitForLine("msg=serving")) << server.output();
  Client client(address());
  const auto devices = client.ListDevices();
  ASSERT_EQ(devices.response.devices_size(), 1) << devices.message;
  EXPECT_EQ(devices.response.devices(0).name(), "ascend:0");
  EXPECT_EQ(devices.response.devices(0).kind(), "ascend");
  EXPECT_EQ(static_cast<size_t>(devices.response.devices(0).operators_size()),
            AllOperators().size());
  EXPECT_EQ(devices.response.devices(0).state(), v1::DEVICE_STATE_WORKING);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.Execute(SampleRequest());
    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(OutputOf(answer.response), SampleGradient());
  }
  EXPECT_EQ(client.Health(""), "SERVING");
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0) << server.output();
}

TEST_F(AscendServerTest, ALostDeviceIsToldToCallsBalancersAndPeople) {
  ::setenv("OPSERVE_ACL_FAULTS", "device_lost:200", 1);
  ServerProcess server = Start();
  ASSERT_TRUE(server.WaitForLine("msg=serving")) << server.output();
  HealthWatch watch(address(), "opserve.v1.OperatorService");
  EXPECT_EQ(watch.Next(), "SERVING");
  Client client(address());
  auto answer = client.Execute(SampleRequest());
  EXPECT_THAT(answer, IsOk());
  for (int i = 0; i < 200 && answer.ok(); ++i) answer = client.Execute(SampleRequest());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(answer.code, "UNAVAILABLE") << answer.message;
    EXPECT_EQ(answer.info.reason(), "DEVICE_LOST");
    EXPECT_EQ(answer.aclnn_code(), "361001");
    EXPECT_THAT(answer.message,
                HasSubstr("SmoothL1LossBackward: device: want a device that works"));
    answer = client.Execute(SampleRequest());
  }
  EXPECT_EQ(watch.Next(), "NOT_SERVING");
  EXPECT_EQ(client.Health(""), "NOT_SERVING");
  const auto devices = client.ListDevices();
  EXPECT_THAT(devices.response.devices(0).state_reason(), HasSubstr("507015"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0) << server.output();
  EXPECT_THAT(server.output(), HasSubstr("msg=\"device lost\" name=ascend:0 error="));
}

TEST_F(AscendServerTest, DoesNotStartWithoutTheLibraries) {
  ServerProcess server({"--listen", address(), "--device", "ascend"});
  EXPECT_EQ(server.Wait(), 1);
  EXPECT_THAT(server.output(), HasSubstr("ascend: want the library libascendcl.so, got none"));
}

}  // namespace
}  // namespace opserve::testing
