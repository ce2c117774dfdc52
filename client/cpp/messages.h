// Requests and answers: our values to and from the messages of opserve.v1.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/call.h"
#include "client/cpp/request.h"
#include "client/cpp/schema.h"
#include "client/cpp/statistics.h"
#include "core/base/fragments.h"

namespace opserve::client {

// Requests. Those with inputs refer to the views' storage where it is large; views of the same
// storage share one entry.
Request MakeListOperatorsRequest(std::span<const std::string> names);
Request MakeGetWorkspaceSizeRequest(const Call& call);
Request MakeExecuteRequest(const Call& call);
// Views of the same storage share one entry whichever calls they belong to.
Request MakeExecuteBatchRequest(std::span<const Call> calls);

// Answers. INTERNAL, saying what is wrong, for bytes that are not such a message; dtypes and kinds
// that this client does not know become kUndefined and kUnknown.
absl::StatusOr<ServerInfo> ReadServerInfo(const Fragments& answer);
absl::StatusOr<std::vector<OperatorSchema>> ReadOperators(const Fragments& answer);
absl::StatusOr<std::vector<Device>> ReadDevices(const Fragments& answer);
absl::StatusOr<Plan> ReadPlan(const Fragments& answer);
// Copies each output's bytes once; those that the call had written to `shared` are there.
absl::StatusOr<ExecuteResult> ReadExecuteResult(const Fragments& fragments,
                                                const SharedOutputs& shared = {});
// One result for each of the `calls` that were sent; `shared` has the outputs of each, or is empty
// where none has any.
absl::StatusOr<BatchResults> ReadBatchResults(const Fragments& fragments, size_t calls,
                                              std::span<const SharedOutputs> shared = {});
absl::StatusOr<Statistics> ReadStatistics(const Fragments& answer);

}  // namespace opserve::client
