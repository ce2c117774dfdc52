// Requests and answers: our values to and from the messages of opserve.v1.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/asked_outputs.h"
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

// Answers. INTERNAL, saying what is wrong, for bytes that are not such a message, that would take
// much more memory than one of a real server (client/cpp/read_message.h), or that say what cannot
// be: negative sizes, outputs that were not asked for. Dtypes and kinds that this client does not
// know become kUndefined and kUnknown.
absl::StatusOr<ServerInfo> ReadServerInfo(const Fragments& answer);
absl::StatusOr<std::vector<OperatorSchema>> ReadOperators(const Fragments& answer);
absl::StatusOr<std::vector<Device>> ReadDevices(const Fragments& answer);
absl::StatusOr<Plan> ReadPlan(const Fragments& answer, const AskedOutputs& asked = {});
// Copies each output's bytes once; those that the call had written to shared memory are there.
absl::StatusOr<ExecuteResult> ReadExecuteResult(const Fragments& fragments,
                                                const AskedOutputs& asked = {});
// One result for each of the `calls` that were sent; `asked` is of each, or is empty where nothing
// was asked for.
absl::StatusOr<BatchResults> ReadBatchResults(const Fragments& fragments, size_t calls,
                                              std::span<const AskedOutputs> asked = {});
absl::StatusOr<Statistics> ReadStatistics(const Fragments& answer);

}  // namespace opserve::client
