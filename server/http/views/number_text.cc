#include "server/http/views/number_text.h"

#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

std::string ThreeDigits(double number) {
  const double size = std::abs(number);
  if (size == 0) return "0";
  if (size < 0.01) return "<0.01";
  return absl::StrFormat("%.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, number);
}

// In the first unit in which it is below `step`.
std::string Scaled(double number, double step, std::span<const std::string_view> units) {
  size_t unit = 0;
  while (number >= 0.9995 * step && unit + 1 < units.size()) {
    number /= step;
    ++unit;
  }
  const bool is_whole = unit == 0 && number == std::floor(number);
  return absl::StrCat(is_whole ? absl::StrCat(static_cast<int64_t>(number)) : ThreeDigits(number),
                      ToAbsl(units[unit]));
}

}  // namespace

std::string CountText(double count) {
  constexpr std::array<std::string_view, 4> kUnits = {"", "k", "M", "G"};
  return Scaled(count, 1000, kUnits);
}

std::string BytesText(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
  return Scaled(bytes, 1024, kUnits);
}

std::string TimeText(absl::Duration time) {
  constexpr std::array<std::string_view, 4> kUnits = {" ns", " µs", " ms", " s"};
  if (time == absl::ZeroDuration()) return "0 s";
  if (time == absl::InfiniteDuration()) return "> 50 s";
  return Scaled(std::round(absl::ToDoubleNanoseconds(time)), 1000, kUnits);
}

std::string LongTimeText(absl::Duration time) {
  const int64_t seconds = absl::ToInt64Seconds(time);
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  const int64_t days = hours / 24;
  if (days > 0) return absl::StrCat(days, " d ", hours % 24, " h");
  if (hours > 0) return absl::StrCat(hours, " h ", minutes % 60, " min");
  if (minutes > 0) return absl::StrCat(minutes, " min ", seconds % 60, " s");
  return absl::StrCat(seconds, " s");
}

absl::Duration QuantileOf(const DurationCounts& counts, double quantile) {
  const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  if (all <= 0) return absl::ZeroDuration();
  double left = quantile * static_cast<double>(all);
  for (size_t i = 0; i < kDurationBoundsNs.size(); ++i) {
    const auto count = static_cast<double>(counts[i]);
    if (count > 0 && left <= count) {
      const int64_t least = i == 0 ? 0 : kDurationBoundsNs[i - 1];
      const auto width = static_cast<double>(kDurationBoundsNs[i] - least);
      return absl::Nanoseconds(static_cast<double>(least) + width * left / count);
    }
    left -= count;
  }
  return absl::InfiniteDuration();
}

}  // namespace opserve::server
