// What the engine counted, as the Open Inference Protocol tells it.
#pragma once

#include "core/engine/engine.h"
#include "inference/open_inference.pb.h"

namespace opserve::server {

// Of one operator, called or not, or of all for nullptr.
inference::ModelStatisticsResponse EncodeModelStatistics(const EngineStatistics& statistics,
                                                         const Operator* op);

}  // namespace opserve::server
