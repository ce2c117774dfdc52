#include "client/cli/output/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace opserve::cli {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(1);
constexpr absl::Duration kInterval = absl::Milliseconds(100);
constexpr int kBarWidth = 24;
// To the line's start, and the line is empty.
constexpr char kClearLine[] = "\r\x1b[K";

std::string Bar(int64_t bytes, int64_t total_bytes) {
  const double part = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total_bytes));
  const int filled = static_cast<int>(part * kBarWidth);
  return absl::StrFormat("[%s%s] %3d%%", std::string(static_cast<size_t>(filled), '#'),
                         std::string(static_cast<size_t>(kBarWidth - filled), ' '),
                         static_cast<int>(part * 100));
}

}  // namespace

std::string BytesText(int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double count = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (count >= 1024 && unit + 1 < std::size(kUnits)) {
    count /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s", count, kUnits[unit]);
}

Progress Progress::OnTerminal() {
  if (isatty(STDERR_FILENO) == 0) return {Clock::Real(), nullptr};
  return {Clock::Real(), [](const std::string& text) {
            std::fputs(text.c_str(), stderr);
            std::fflush(stderr);
          }};
}

void Progress::Begin(std::string_view what) {
  what_ = what;
  begin_ = clock_.Now();
  shown_ = absl::InfinitePast();
}

void Progress::Reached(int64_t bytes, int64_t total_bytes) {
  if (!write_) return;
  const absl::Time now = clock_.Now();
  if (now - begin_ < kPatience || now - shown_ < kInterval) return;
  shown_ = now;
  const double rate = static_cast<double>(bytes) / absl::ToDoubleSeconds(now - begin_);
  write_(absl::StrCat(kClearLine, what_, " ", Bar(bytes, total_bytes), " of ",
                      BytesText(total_bytes), ", ", BytesText(static_cast<int64_t>(rate)), "/s"));
}

void Progress::End() {
  if (write_ && shown_ != absl::InfinitePast()) write_(kClearLine);
}

}  // namespace opserve::cli
