// ReflectionPad1d and ReflectionPad2d, and their gradients: schema.
#include "core/ops/pad_schema.h"

namespace opserve::reflection_pad {
namespace {

constexpr std::string_view kMirrorGradient =
    "grad_input = for each element the sum of grad_output over the outputs that it is, in their "
    "order. Of self only the shape counts. Sums are float64.";

}  // namespace

extern constinit const Operator kReflectionPad1d =
    Pad<1, PadLimit::kBelowExtent>({.name = "ReflectionPad1d",
                                    .summary = "Rows with their mirror image before and behind.",
                                    .description = "out[w] = self[x], x = w - padding[0]; where x "
                                                   "< 0 self[-x], where x >= W self[2 * (W - 1) "
                                                   "- x].\n"
                                                   "padding is less than W on both sides.",
                                    .gradient = "ReflectionPad1dBackward"});

extern constinit const Operator kReflectionPad1dBackward =
    PadBackward<1, PadLimit::kBelowExtent>({.name = "ReflectionPad1dBackward",
                                            .summary = "Gradient of ReflectionPad1d.",
                                            .description = kMirrorGradient});

extern constinit const Operator kReflectionPad2d = Pad<2, PadLimit::kBelowExtent>(
    {.name = "ReflectionPad2d",
     .summary = "Planes with their mirror images around them.",
     .description =
         "out[h][w] = self[y][x], x = w - padding[0] and y = h - padding[2]; where x < 0 at -x, "
         "where x >= W at 2 * (W - 1) - x, and y likewise.\n"
         "padding is less than W left and right and less than H above and below.",
     .gradient = "ReflectionPad2dBackward"});

extern constinit const Operator kReflectionPad2dBackward =
    PadBackward<2, PadLimit::kBelowExtent>({.name = "ReflectionPad2dBackward",
                                            .summary = "Gradient of ReflectionPad2d.",
                                            .description = kMirrorGradient});

}  // namespace opserve::reflection_pad
