// Curves, drawn.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/http/playground/curves.h"

namespace opserve::server {

// An SVG image of curves over `x` with axes, and their names in a line below. What is infinite or
// NaN is a gap.
std::string PlotHtml(std::string_view title, std::span<const float> x,
                     std::span<const Curve> curves);

}  // namespace opserve::server
