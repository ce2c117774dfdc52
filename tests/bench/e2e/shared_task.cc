#include "tests/bench/e2e/shared_task.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include <opserve/client.h>

#include "core/base/status_macros.h"

namespace opserve::bench {
namespace {

constexpr int64_t kAlignment = 4096;

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void Place(v1::Tensor& tensor, const std::string& region, int64_t offset, int64_t size) {
  v1::SharedView& view = *tensor.mutable_shared();
  view.set_region(region);
  view.set_offset_bytes(offset);
  view.set_size_bytes(size);
}

}  // namespace

absl::StatusOr<client::SharedMemory> FillSharedTask(const Workload& workload,
                                                    const std::string& target, UnaryTask& task) {
  int64_t bytes = Aligned(workload.output_bytes());
  for (const std::string& input : workload.inputs)
    bytes += Aligned(static_cast<int64_t>(input.size()));
  OPSERVE_ASSIGN_OR_RETURN(const client::Client server, client::Client::Connect(target));
  OPSERVE_ASSIGN_OR_RETURN(const client::SharedMemory memory, server.CreateSharedMemory(bytes));
  v1::ExecuteRequest request;
  v1::Call& call = *request.mutable_call();
  call = workload.call;
  int64_t offset = 0;
  for (size_t i = 0; i < workload.inputs.size(); ++i) {
    const auto input = std::as_bytes(std::span(workload.inputs[i]));
    std::copy(input.begin(), input.end(), memory.bytes().begin() + offset);
    const auto size = static_cast<int64_t>(input.size());
    Place(*call.mutable_inputs(static_cast<int>(i)), memory.id(), offset, size);
    offset += Aligned(size);
  }
  v1::Tensor& output = *call.add_outputs();
  output.set_name("grad_input");
  Place(output, memory.id(), offset, workload.output_bytes());
  task.method = "/opserve.v1.OperatorService/Execute";
  task.message.Append(request.SerializeAsString());
  task.input_bytes = workload.input_bytes();
  task.output_bytes = workload.output_bytes();
  task.check = [&workload, memory, offset](const std::string& /*answer*/) {
    const std::span<std::byte> got = memory.bytes().subspan(
        static_cast<size_t>(offset), static_cast<size_t>(workload.output_bytes()));
    return CheckFloats(workload.output, {reinterpret_cast<const char*>(got.data()), got.size()});
  };
  return memory;
}

}  // namespace opserve::bench
