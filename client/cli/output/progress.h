// How far a transfer is, on a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "core/base/clock.h"

namespace opserve::cli {

// One transfer after another. Shows nothing of one that takes less than a second. Not thread-safe.
class Progress {
 public:
  using Write = std::function<void(const std::string& text)>;

  // Writes to `write`; nothing when it is empty.
  Progress(const Clock& clock, Write write) : clock_(clock), write_(std::move(write)) {}
  // To standard error when that is a terminal.
  static Progress OnTerminal();

  // "uploading self".
  void Begin(std::string_view what);
  // So many bytes of all are there now.
  void Reached(int64_t bytes, int64_t total_bytes);
  void End();

 private:
  const Clock& clock_;
  Write write_;
  std::string what_;
  absl::Time begin_;
  absl::Time shown_ = absl::InfinitePast();
};

// "3 B", "1.5 KiB", "2.0 GiB".
std::string BytesText(int64_t bytes);

}  // namespace opserve::cli
