// What requests about shared memory are answered.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/http/inference/rest_exchange.h"

namespace opserve::server {

// The JSON of the answer to a request of kRegions, kRegister, kUnregister, kCudaRegions or
// kCudaMemory. Errors as those of gRPC's methods.
absl::StatusOr<std::string> AnswerMemory(const RestContext& with, const RestHead& head,
                                         std::string_view body);

}  // namespace opserve::server
