#include "client/loadtest/calls/prepared_load.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/loadtest/calls/session_lane.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::loadtest {
namespace {

constexpr int64_t kAlignment = 4096;

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The bytes of a region, part by part.
class Parts {
 public:
  explicit Parts(const client::SharedMemory& memory) : memory_(memory) {}

  client::SharedTensorView Take(DType dtype, std::span<const int64_t> shape, int64_t size) {
    const int64_t offset = std::exchange(next_, next_ + Aligned(size));
    return memory_.View(dtype, shape, offset);
  }
  client::TensorView TakeCopy(const client::TensorView& view) {
    const auto size = static_cast<int64_t>(view.storage.size());
    std::copy(view.storage.begin(), view.storage.end(), memory_.bytes().begin() + next_);
    return Take(view.dtype, view.shape, size);
  }

 private:
  const client::SharedMemory& memory_;
  int64_t next_ = 0;
};

bool IsDense(const client::TensorView& view) {
  return view.strides.empty() && view.storage_offset == 0;
}

// `status` with the name of the entry, and of the target where there are several.
absl::Status Of(const Work& work, const std::string& target, const absl::Status& status) {
  if (status.ok() || GetErrorDetail(status).has_value()) return status;
  return {status.code(), absl::StrCat(work.name, ": ", target, ": ", status.message())};
}

}  // namespace

absl::StatusOr<std::unique_ptr<PreparedLoad>> PreparedLoad::Prepare(std::vector<Work> works,
                                                                    const LoadOptions& options) {
  std::unique_ptr<PreparedLoad> load(new PreparedLoad(std::move(works), options));
  OPSERVE_RETURN_IF_ERROR(load->TryAll());
  load->MakeTasks();
  for (const std::string& target : options.targets) {
    for (int i = 0; i < options.idle_connections; ++i) {
      OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> idle,
                               loadtest::Connect(target, options.patience, options.connect));
      load->idle_.push_back(std::move(idle));
    }
  }
  return load;
}

absl::Status PreparedLoad::TryAll() {
  for (const std::string& target : options_.targets) {
    OPSERVE_ASSIGN_OR_RETURN(const client::Client client,
                             client::Client::Connect(target, options_.connect));
    for (size_t i = 0; i < works_.size(); ++i) {
      Work& work = works_[i];
      absl::StatusOr<client::ExecuteResult> result =
          client.Execute(work.call, {.timeout = options_.patience});
      ++calls_made_;
      if (!result.ok()) return Of(work, target, result.status());
      if (i == expected_.size()) {
        expected_.emplace_back(*result);
      } else {
        OPSERVE_RETURN_IF_ERROR(Of(work, target, expected_[i].Check(*result)));
      }
      if (options_.mode == Mode::kShared)
        OPSERVE_RETURN_IF_ERROR(Of(work, target, MoveToSharedMemory(client, work)));
    }
  }
  return absl::OkStatus();
}

absl::Status PreparedLoad::MoveToSharedMemory(const client::Client& client, Work& work) {
  OPSERVE_ASSIGN_OR_RETURN(const client::Plan plan,
                           client.GetWorkspaceSize(work.call, {.timeout = options_.patience}));
  int64_t bytes = 0;
  for (const auto& [name, view] : work.call.inputs()) {
    if (!IsDense(view))
      return InvalidParameter(name, "a dense tensor with --mode shared", "a view");
    bytes += Aligned(static_cast<int64_t>(view.storage.size()));
  }
  for (const client::PlannedOutput& output : plan.outputs)
    bytes += Aligned(output.desc.size_bytes());
  OPSERVE_ASSIGN_OR_RETURN(
      client::SharedMemory memory,
      client.CreateSharedMemory(std::max(bytes, kAlignment), {.timeout = options_.patience}));
  Parts parts(memory);
  client::Call call(work.call.op());
  call.OnDevice(work.call.device());
  for (const auto& [name, view] : work.call.inputs()) call.Input(name, parts.TakeCopy(view));
  for (const auto& [name, value] : work.call.attributes()) call.Attribute(name, value);
  for (const client::PlannedOutput& output : plan.outputs)
    call.Output(output.name,
                parts.Take(output.desc.dtype, output.desc.shape, output.desc.size_bytes()));
  memory_.push_back(std::move(memory));
  work.call = std::move(call);
  return absl::OkStatus();
}

void PreparedLoad::MakeTasks() {
  if (options_.mode == Mode::kSession) return;
  for (size_t i = 0; i < works_.size(); ++i) {
    tasks_.push_back(options_.mode == Mode::kBatch
                         ? MakeBatchTask(works_[i], options_.batch, expected_[i], sampling_)
                         : MakeExecuteTask(works_[i], expected_[i], sampling_));
  }
}

absl::StatusOr<Lanes> PreparedLoad::Connect(absl::Duration lifetime) {
  Lanes lanes;
  // Neighbours are of different targets, so that few messages under way are on all of them.
  for (int i = 0; i < options_.connections; ++i) {
    for (const std::string& target : options_.targets) {
      OPSERVE_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                               loadtest::Connect(target, options_.patience, options_.connect));
      lanes.push_back(
          options_.mode == Mode::kSession
              ? MakeSessionLane(std::move(connection), works_, expected_, sampling_, lifetime)
              : MakeUnaryLane(std::move(connection), tasks_));
    }
  }
  return lanes;
}

Mix PreparedLoad::MakeMix(absl::Duration shortest_timeout) const {
  std::vector<MixEntry> entries;
  for (const Work& work : works_) {
    entries.push_back({.weight = work.weight,
                       .timeout = std::max(work.timeout, shortest_timeout),
                       .calls = options_.mode == Mode::kBatch ? options_.batch : 1});
  }
  return {std::move(entries), options_.seed};
}

}  // namespace opserve::loadtest
