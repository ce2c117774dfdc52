// Answers on a ModelStreamInfer: what a ModelStreamInferResponse has around them.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "server/codec/raw_writer.h"

namespace opserve::server {

// A ModelInferResponse, as InferForm writes it, as the one answer to its request, which says so
// (triton_final_response). Large outputs are not copied.
WrittenMessage WrapStreamAnswer(WrittenMessage answer);

// Likewise, of a request with that id that failed.
WrittenMessage WriteStreamError(std::string_view id, const absl::Status& status);

}  // namespace opserve::server
