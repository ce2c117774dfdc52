// What the fuzz targets share: taking an input apart, and stopping on what must not be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "core/base/op_error.h"

namespace opserve::fuzz {

// Stops with a report that libFuzzer keeps the input of.
inline void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// A refusal in opserve's words: what was wanted and what came.
inline void RequireDetail(const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  Require(detail.has_value(), "an error has an ErrorDetail");
  Require(!detail->want.empty() && !detail->got.empty(), "an error says want and got");
}

// The input, from front to back.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  // 0 at the end.
  uint8_t TakeByte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// Bytes in pieces, each in memory of its own so that reading past one is seen. With `longest` = 0
// in one piece, else in pieces of 0 to `longest` bytes as `seed` has it.
class Pieces {
 public:
  Pieces(std::string_view bytes, uint8_t longest, uint8_t seed) {
    uint32_t state = seed;
    while (!bytes.empty()) {
      state = state * 1664525 + 1013904223;
      const size_t length = longest == 0 ? bytes.size() : (state >> 16) % (longest + 1U);
      Add(bytes.substr(0, length));
      bytes.remove_prefix(std::min(length, bytes.size()));
    }
  }

  const std::vector<std::span<const std::byte>>& spans() const { return spans_; }

 private:
  void Add(std::string_view piece) {
    auto copy = std::make_unique<std::byte[]>(piece.size());
    std::copy_n(reinterpret_cast<const std::byte*>(piece.data()), piece.size(), copy.get());
    spans_.emplace_back(copy.get(), piece.size());
    memory_.push_back(std::move(copy));
  }

  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::span<const std::byte>> spans_;
};

}  // namespace opserve::fuzz
