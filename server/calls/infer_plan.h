// Plans of the Open Inference Protocol's requests, and what their answers may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "core/engine/engine.h"
#include "server/calls/plan_cache.h"
#include "server/calls/planned_call.h"

namespace opserve::server {

// The plan of a serialized ModelInferRequest without id and raw entries, which are `raw`; one that
// `plans` keeps, if there is one. Errors: ParseHeader's, DecodeInferRequest's, MakeInfer's.
absl::StatusOr<std::shared_ptr<const PlannedCall>> FindInferPlan(const Engine& engine,
                                                                 PlanCache& plans,
                                                                 std::string_view header,
                                                                 std::span<const Fragments> raw);

// Whether an answer of at most `bytes` may be made to `shot`: what CheckStorages says of one that
// is too large, or RESOURCE_EXHAUSTED.
absl::Status CheckAnswer(const OneShot& shot, size_t bytes, int64_t max_message_bytes);

}  // namespace opserve::server
