// What lies unread in a connection, as the server looks for floods in it.
//
// Input: how many bytes lie before; those; what is repeated behind them, to 64 KiB in all.
#include "server/connections/frame_scan.h"

#include <algorithm>

#include "tests/fuzz/fuzz_input.h"

namespace {

constexpr size_t kSample = size_t{64} << 10;
constexpr size_t kSmallestFrame = 9;

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  using opserve::server::FindFlood;
  using opserve::server::FrameFlood;
  fuzz::Input input(data, size);
  const size_t before = input.TakeByte();
  const std::string once(input.rest());
  fuzz::Require(once.size() >= 1000 * kSmallestFrame || FindFlood(once) == FrameFlood::kNone,
                "a few frames are no flood");
  const std::string pattern = once.substr(std::min(before, once.size()));
  if (pattern.empty()) return 0;
  std::string bytes = once.substr(0, once.size() - pattern.size());
  while (bytes.size() < kSample) bytes += pattern;
  const FrameFlood flood = FindFlood(bytes);
  const size_t period = pattern.size();
  const bool is_number = period == 1 || period == 2 || period == 4 || period == 8;
  fuzz::Require(!is_number || flood == FrameFlood::kNone, "a tensor of one value is no flood");
  return 0;
}
