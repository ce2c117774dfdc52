// A backend is a value: this file has all of one, which no other file names.
#include <string>

#include "core/engine/engine.h"
#include "gmock/gmock.h"
#include "tests/support/calls.h"
#include "tests/support/run.h"
#include "tests/support/status_matchers.h"
#include "tests/support/unreadable_device.h"

namespace opserve::testing {
namespace {

using ::testing::HasSubstr;

// "toy:3": a device with memory of its own, called by that number.
absl::Status ReadToy(const DeviceText& text, DeviceSpec& spec) {
  if (text.number.size() != 1) return BadDeviceText("device: toy", "one digit", text.number);
  spec.ids = {text.number[0] - '0'};
  return ReadCommonOptions(text, spec);
}

absl::StatusOr<std::vector<MakeDevice>> FindToys(const DeviceSpec& spec, int /*number*/,
                                                 const std::vector<std::string>& /*paths*/) {
  const std::string name = "toy:" + std::to_string(spec.ids[0]);
  const int threads = spec.threads;
  return std::vector<MakeDevice>{
      [name, threads](const DeviceLimits& limits,
                      const Clock& clock) -> absl::StatusOr<std::unique_ptr<Device>> {
        return std::make_unique<UnreadableDevice>(name, threads, limits.memory_limit_bytes, clock);
      }};
}

constexpr Backend kToyBackend = {
    .kind = "toy", .usage = "toy:N[,threads=N]", .read = ReadToy, .find = FindToys};

constexpr const Backend* kBackends[] = {&kToyBackend};

TEST(ToyBackendTest, ReadsItsOwnText) {
  const absl::StatusOr<DeviceSpec> spec = ParseDeviceSpec("toy:3,threads=2", kBackends);
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->ids, std::vector<int>{3});
  EXPECT_EQ(spec->threads, 2);
  EXPECT_THAT(ParseDeviceSpec("toy", kBackends).status().message(),
              HasSubstr("device: toy: want one digit, got nothing"));
  EXPECT_THAT(ParseDeviceSpec("cpu", kBackends).status().message(),
              HasSubstr("device: want toy:N[,threads=N], got cpu"));
}

TEST(ToyBackendTest, RunsCalls) {
  EngineOptions options;
  options.backends = kBackends;
  options.devices = {*ParseDeviceSpec("toy:3,threads=2", kBackends)};
  options.memory_limit_bytes = 1 << 20;
  const absl::StatusOr<std::unique_ptr<Engine>> engine = Engine::Create(options);
  ASSERT_THAT(engine, IsOk());
  EXPECT_EQ((*engine)->devices()[0]->info().name, "toy:3");
  const OpCase op_case = CallOf("Hardshrink", {Floats({-2, 0.25, 3})}, {0.5});
  const absl::StatusOr<std::vector<TestTensor>> outputs = testing::Run(**engine, op_case);
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT(outputs->front().Values(), ::testing::ElementsAre(-2, 0, 3));
}

TEST(ToyBackendTest, ASpecOfNoBackendIsRefused) {
  EngineOptions options;
  options.backends = kBackends;
  EXPECT_THAT(Engine::Create(options).status().message(),
              HasSubstr("device: want a backend's kind, got cpu"));
}

}  // namespace
}  // namespace opserve::testing
