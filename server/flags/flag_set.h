// Flags that are bound to what they set: the value that is there before is the default, and --help
// tells it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/App.hpp>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace opserve::server {

// Both ends are within.
struct Bounds {
  int64_t least = 0;
  int64_t most = INT64_MAX;
};

// Adds flags to `app`; it and the values must outlive the parsing.
class FlagSet {
 public:
  explicit FlagSet(CLI::App& app) : app_(app) {}

  // In --help the flags that follow are in it.
  void SetGroup(const char* name) { group_ = name; }

  // Sizes as ParseByteSize reads them; "0", too, where `bounds` has it.
  void AddSize(const char* flag, int64_t& bytes, Bounds bounds, const char* help);
  // Likewise, of a size whose default follows from other flags: `help` tells it.
  void AddDerivedSize(const char* flag, int64_t& bytes, Bounds bounds, const char* help);
  void AddCount(const char* flag, int64_t& count, Bounds bounds, const char* help);
  using TimeParser = absl::StatusOr<absl::Duration>(std::string_view text, std::string_view flag);
  void AddTime(const char* flag, absl::Duration& time, TimeParser* parse, const char* help);
  // Makes `value` false.
  void AddSwitch(const char* flag, bool& value, const char* help);
  // Makes it true.
  void AddEnablingSwitch(const char* flag, bool& value, const char* help);
  // `read` sets what the flag is about, or tells what is wrong with its text; `shown` is the
  // default, empty for none.
  using Reader = std::function<absl::Status(const std::string& text)>;
  void Add(const char* flag, const char* type, std::string shown, const char* help, Reader read);
  // Likewise, of a flag that may be given many times.
  using ListReader = std::function<absl::Status(const std::vector<std::string>& texts)>;
  void AddList(const char* flag, const char* type, std::string shown, const char* help,
               ListReader read);

  // Whether the flag was given.
  bool IsGiven(const char* flag) const { return app_.count(flag) > 0; }
  // Of what was parsed, the first error.
  const absl::Status& status() const { return status_; }

 private:
  void AddSize(const char* flag, int64_t& bytes, Bounds bounds, std::string shown,
               const char* help);
  template <typename Text, typename Read>
  CLI::Option& AddOption(const char* flag, const char* type, std::string shown, const char* help,
                         Read read);

  CLI::App& app_;
  std::string group_;
  absl::Status status_;
};

// The value, if there is one; why not otherwise.
template <typename T>
absl::Status Set(T& value, absl::StatusOr<T> read) {
  if (!read.ok()) return read.status();
  value = *std::move(read);
  return absl::OkStatus();
}

// "64MiB" and the like: a whole number and B, kB, MB, GB, TB, KiB, MiB, GiB, TiB or nothing
// (bytes); >= 1. Errors (161002) name `flag`.
absl::StatusOr<int64_t> ParseByteSize(std::string_view text, std::string_view flag);

// As ParseByteSize reads it: "64MiB", "1000".
std::string FormatByteSize(int64_t bytes);

// "30s", "500ms", "2m", or a number of seconds; >= 0. Errors (161002) name `flag`.
absl::StatusOr<absl::Duration> ParseTimeout(std::string_view text, std::string_view flag);

// A time of 1ms to 24 days, which is what gRPC counts in, or 0. Errors (161002) name `flag`.
absl::StatusOr<absl::Duration> ParseConnectionTime(std::string_view text, std::string_view flag);

}  // namespace opserve::server
