// Calls as spans in OTLP's JSON encoding of ExportTraceServiceRequest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "server/tracing/call_record.h"

namespace opserve::server {

// Each call is a span of kind SERVER, with a child for each of its phases; each has a trace. Ids
// are written in hexadecimal digits and 64-bit numbers as strings, as the encoding wants. `random`
// makes the spans' ids. ASCII alone.
std::string OtlpJson(std::span<const CallRecord> calls, std::string_view version,
                     absl::FunctionRef<uint64_t()> random);

}  // namespace opserve::server
