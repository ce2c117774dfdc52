#include "server/http/playground/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/strings.h"
#include "server/http/views/html.h"

namespace opserve::server {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 300;
constexpr double kLeft = 56;
constexpr double kRight = 12;
constexpr double kTop = 12;
constexpr double kBottom = 28;
constexpr int kColours = 4;  // of the style: line0, line1, …

// Numbers between two bounds, on a line of the image.
struct Axis {
  double low;
  double high;
  double begin;  // where `low` is
  double end;

  double At(double number) const { return begin + (end - begin) * (number - low) / (high - low); }
  bool Has(double number) const { return number >= low && number <= high; }

  // 1, 2 or 5 times a power of ten: about five of them.
  double Step() const {
    const double rough = (high - low) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (rough <= factor * power) return factor * power;
    }
    return 10 * power;
  }
};

Axis HeightsOf(std::span<const Curve> curves) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Curve& curve : curves) {
    for (const float value : curve.values) {
      if (!std::isfinite(value)) continue;
      low = std::min<double>(low, value);
      high = std::max<double>(high, value);
    }
  }
  if (low > high) low = high = 0;
  // Wide enough for floats to differ, and for their differences to be seen.
  const double margin = std::max((high - low) * 0.06, std::max(std::fabs(high), 1.0) * 1e-3);
  return {low - margin, high + margin, kHeight - kBottom, kTop};
}

// Lines across, with their numbers.
std::string Grid(const Axis& across, const Axis& up) {
  std::string svg;
  const double step_x = across.Step();
  for (double x = std::ceil(across.low / step_x) * step_x; x <= across.high; x += step_x) {
    const double shown = std::fabs(x) < step_x / 2 ? 0 : x;
    absl::StrAppendFormat(&svg,
                          "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
                          "text-anchor=\"middle\">%.4g</text>",
                          shown == 0 ? "axis" : "grid", across.At(shown), kTop, kHeight - kBottom,
                          across.At(shown), kHeight - 9, shown);
  }
  const double step_y = up.Step();
  for (double y = std::ceil(up.low / step_y) * step_y; y <= up.high; y += step_y) {
    const double shown = std::fabs(y) < step_y / 2 ? 0 : y;
    absl::StrAppendFormat(&svg,
                          "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
                          "text-anchor=\"end\">%.4g</text>",
                          shown == 0 ? "axis" : "grid", kLeft, up.At(shown), kWidth - kRight,
                          kLeft - 6, up.At(shown) + 4, shown);
  }
  return svg;
}

std::string Line(std::span<const float> x, const Curve& curve, int colour, const Axis& across,
                 const Axis& up) {
  std::string path;
  bool is_drawing = false;
  for (size_t i = 0; i < x.size(); ++i) {
    const double value = curve.values[i];
    const bool is_shown = up.Has(value);
    if (is_shown) {
      absl::StrAppendFormat(&path, "%c%.1f %.1f", is_drawing ? 'L' : 'M', across.At(x[i]),
                            up.At(value));
    }
    is_drawing = is_shown;
  }
  return absl::StrCat("<path class=\"line", colour % kColours, "\" d=\"", path, "\"/>");
}

}  // namespace

std::string PlotHtml(std::string_view title, std::span<const float> x,
                     std::span<const Curve> curves) {
  const Axis across = {x.front(), x.back(), kLeft, kWidth - kRight};
  const Axis up = HeightsOf(curves);
  std::string svg = Grid(across, up);
  std::string names;
  for (size_t i = 0; i < curves.size(); ++i) {
    const int colour = static_cast<int>(i);
    absl::StrAppend(&svg, Line(x, curves[i], colour, across, up));
    absl::StrAppend(&names, "<span class=\"key key", colour % kColours, "\">",
                    HtmlText(curves[i].name), "</span>");
  }
  const std::string label = HtmlText(title);
  return absl::StrCat("<section class=\"plot\"><div class=\"head\"><h2>", label, "</h2>", names,
                      "</div><svg viewBox=\"0 0 ", kWidth, " ", kHeight,
                      "\" role=\"img\" aria-label=\"", label, "\">", svg, "</svg></section>\n");
}

}  // namespace opserve::server
