// Requests and answers: our values to and from the messages of opserve.v1.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <opserve/call.h>
#include <opserve/schema.h>
#include <opserve/statistics.h>

#include "absl/status/statusor.h"
#include "client/cpp/values/request.h"
#include "client/cpp/wire/asked_outputs.h"
#include "core/base/fragments.h"

namespace opserve::client {

// Requests. Those with inputs refer to the views' storage where it is large; views of the same
// storage share one entry.
Request MakeListOperatorsRequest(std::span<const std::string> names);
Request MakeGetWorkspaceSizeRequest(const Call& call);
Request MakeExecuteRequest(const Call& call);
// Views of the same storage share one entry whichever calls they belong to.
Request MakeExecuteBatchRequest(std::span<const Call> calls);
// What GetWorkspaceSize is asked: all of a call but its data. Calls that are alike have the same.
std::string DescriptionOf(const Call& call);
// Packets of the shared-memory socket.
std::string MakeAllocateRegionRequest(int64_t size_bytes);
std::string MakeReleaseRegionRequest(const std::string& id);

// Answers. INTERNAL, saying what is wrong, for bytes that are not such a message, that would take
// much more memory than one of a real server (client/cpp/wire/read_message.h), or that say what
// cannot be: negative sizes, outputs that were not asked for. Dtypes and kinds that this client
// does not know become kUndefined and kUnknown.
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
// The id of the region of `size_bytes` that was asked for, or the server's error.
absl::StatusOr<std::string> ReadRegionId(std::string_view packet, int64_t size_bytes);

}  // namespace opserve::client
