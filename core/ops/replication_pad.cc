// ReplicationPad1d and ReplicationPad2d, and their gradients: schema.
#include "core/ops/pad_schema.h"

namespace opserve::replication_pad {
namespace {

constexpr std::string_view kBorderGradient =
    "grad_input = for each element the sum of grad_output over the outputs that it is, in their "
    "order. Of self only the shape counts. Sums are float64.";

}  // namespace

extern constinit const Operator kReplicationPad1d = Pad<1, PadLimit::kNone>(
    {.name = "ReplicationPad1d",
     .summary = "Rows with their first and last elements repeated before and behind.",
     .description = "out[w] = self[min(max(w - padding[0], 0), W - 1)]",
     .gradient = "ReplicationPad1dBackward"});

extern constinit const Operator kReplicationPad1dBackward =
    PadBackward<1, PadLimit::kNone>({.name = "ReplicationPad1dBackward",
                                     .summary = "Gradient of ReplicationPad1d.",
                                     .description = kBorderGradient});

extern constinit const Operator kReplicationPad2d = Pad<2, PadLimit::kNone>(
    {.name = "ReplicationPad2d",
     .summary = "Planes with their borders repeated around them.",
     .description = "out[h][w] = self[min(max(h - padding[2], 0), H - 1)][min(max(w - padding[0], "
                    "0), W - 1)]",
     .gradient = "ReplicationPad2dBackward"});

extern constinit const Operator kReplicationPad2dBackward =
    PadBackward<2, PadLimit::kNone>({.name = "ReplicationPad2dBackward",
                                     .summary = "Gradient of ReplicationPad2d.",
                                     .description = kBorderGradient});

}  // namespace opserve::replication_pad
