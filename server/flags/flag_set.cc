#include "server/flags/flag_set.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

constexpr absl::Duration kMaxConnectionTime = absl::Hours(24 * 24);  // below 2^31 ms

struct Unit {
  std::string_view name;
  int64_t bytes;
};
// A size is written in the last one that it is a multiple of.
constexpr std::array<Unit, 10> kUnits = {{{"B", 1},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000},
                                          {"", 1},
                                          {"KiB", int64_t{1} << 10},
                                          {"MiB", int64_t{1} << 20},
                                          {"GiB", int64_t{1} << 30},
                                          {"TiB", int64_t{1} << 40}}};

// nullopt: not a unit.
std::optional<int64_t> BytesOfUnit(std::string_view unit) {
  for (const Unit& known : kUnits) {
    if (known.name == unit) return known.bytes;
  }
  return std::nullopt;
}

bool Has(Bounds bounds, int64_t number) { return number >= bounds.least && number <= bounds.most; }

absl::StatusOr<int64_t> ReadSize(const std::string& text, const char* flag, Bounds bounds) {
  int64_t bytes = 0;
  if (text != "0" || bounds.least > 0) {
    OPSERVE_ASSIGN_OR_RETURN(bytes, ParseByteSize(text, flag));
  }
  if (Has(bounds, bytes)) return bytes;
  return InvalidParameter(
      flag, absl::StrCat(FormatByteSize(bounds.least), " to ", FormatByteSize(bounds.most)), text);
}

absl::StatusOr<int64_t> ReadCount(const std::string& text, const char* flag, Bounds bounds) {
  int64_t count = 0;
  if (absl::SimpleAtoi(text, &count) && Has(bounds, count)) return count;
  return InvalidParameter(flag, absl::StrCat(bounds.least, " to ", bounds.most), Quoted(text));
}

}  // namespace

void FlagSet::AddSize(const char* flag, int64_t& bytes, Bounds bounds, const char* help) {
  AddSize(flag, bytes, bounds, FormatByteSize(bytes), help);
}

void FlagSet::AddDerivedSize(const char* flag, int64_t& bytes, Bounds bounds, const char* help) {
  AddSize(flag, bytes, bounds, "", help);
}

void FlagSet::AddSize(const char* flag, int64_t& bytes, Bounds bounds, std::string shown,
                      const char* help) {
  Add(flag, "SIZE", std::move(shown), help,
      [=, &bytes](const std::string& text) { return Set(bytes, ReadSize(text, flag, bounds)); });
}

void FlagSet::AddCount(const char* flag, int64_t& count, Bounds bounds, const char* help) {
  Add(flag, "N", absl::StrCat(count), help,
      [=, &count](const std::string& text) { return Set(count, ReadCount(text, flag, bounds)); });
}

void FlagSet::AddTime(const char* flag, absl::Duration& time, TimeParser* parse, const char* help) {
  Add(flag, "TIME", absl::FormatDuration(time), help,
      [=, &time](const std::string& text) { return Set(time, parse(text, flag)); });
}

void FlagSet::AddSwitch(const char* flag, bool& value, const char* help) {
  app_.add_flag_callback(
          flag, [&value] { value = false; }, help)
      ->group(group_);
}

void FlagSet::AddEnablingSwitch(const char* flag, bool& value, const char* help) {
  app_.add_flag_callback(
          flag, [&value] { value = true; }, help)
      ->group(group_);
}

void FlagSet::Add(const char* flag, const char* type, std::string shown, const char* help,
                  Reader read) {
  AddOption<std::string>(flag, type, std::move(shown), help, std::move(read));
}

void FlagSet::AddList(const char* flag, const char* type, std::string shown, const char* help,
                      ListReader read) {
  AddOption<std::vector<std::string>>(flag, type, std::move(shown), help, std::move(read))
      .allow_extra_args(false);
}

template <typename Text, typename Read>
CLI::Option& FlagSet::AddOption(const char* flag, const char* type, std::string shown,
                                const char* help, Read read) {
  const auto take = [this, read = std::move(read)](const Text& text) {
    status_.Update(read(text));
  };
  return *app_.add_option_function<Text>(flag, take, help)
              ->default_str(std::move(shown))
              ->type_name(type)
              ->group(group_);
}

absl::StatusOr<int64_t> ParseByteSize(std::string_view text, std::string_view flag) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<int64_t> unit = BytesOfUnit(text.substr(digits));
  int64_t number = 0;
  int64_t bytes = 0;
  if (!unit.has_value() || !absl::SimpleAtoi(ToAbsl(text.substr(0, digits)), &number) ||
      number <= 0 || __builtin_mul_overflow(number, *unit, &bytes)) {
    return InvalidParameter(flag, "a size such as 67108864, 64MiB or 1GiB", Quoted(text));
  }
  return bytes;
}

std::string FormatByteSize(int64_t bytes) {
  const auto unit = std::find_if(kUnits.rbegin(), kUnits.rend(), [bytes](const Unit& candidate) {
    return candidate.bytes == 1 || (bytes > 0 && bytes % candidate.bytes == 0);
  });
  return absl::StrCat(bytes / unit->bytes, ToAbsl(unit->name));
}

absl::StatusOr<absl::Duration> ParseTimeout(std::string_view text, std::string_view flag) {
  std::string with_unit(text);
  if (with_unit.find_first_not_of("0123456789.") == std::string::npos) with_unit.push_back('s');
  absl::Duration timeout;
  if (absl::ParseDuration(with_unit, &timeout) && timeout >= absl::ZeroDuration() &&
      timeout <= absl::Hours(24 * 365)) {
    return timeout;
  }
  return InvalidParameter(flag, "a time such as 30s, 500ms or 2m", Quoted(text));
}

absl::StatusOr<absl::Duration> ParseConnectionTime(std::string_view text, std::string_view flag) {
  OPSERVE_ASSIGN_OR_RETURN(const absl::Duration time, ParseTimeout(text, flag));
  if (time == absl::ZeroDuration() ||
      (time >= absl::Milliseconds(1) && time <= kMaxConnectionTime)) {
    return time;
  }
  return InvalidParameter(flag, "0, or 1ms to 24 days (576h)", Quoted(text));
}

}  // namespace opserve::server
