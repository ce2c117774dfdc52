#include "client/cli/commands/session_run.h"

#include <algorithm>
#include <utility>

#include <opserve/session.h>

#include "absl/strings/str_cat.h"
#include "client/cli/files/output_files.h"
#include "core/base/clock.h"
#include "core/base/status_macros.h"
#include "core/base/waiter.h"

namespace opserve::cli {
namespace {

using client::Session;

// Bytes of an upload between two looks at the progress.
constexpr size_t kPartBytes = size_t{16} << 20;

int64_t InputBytes(const client::Call& call) {
  int64_t bytes = 0;
  for (const auto& [name, view] : call.inputs()) bytes += static_cast<int64_t>(view.storage.size());
  return bytes;
}

// A call on its way through a session.
class SessionRun {
 public:
  SessionRun(const client::Call& call, const Remote& remote, Session& session,
             const std::map<std::string, std::string>& files, Progress progress)
      : call_(call),
        remote_(remote),
        session_(session),
        outputs_(files),
        progress_(std::move(progress)) {}

  absl::StatusOr<client::ExecuteResult> Run(Chunks chunks) {
    if (chunks == Chunks::kMay && InputBytes(call_) > session_.info().max_message_bytes) {
      absl::StatusOr<client::ExecuteResult> result = RunInChunks();
      if (result.ok() || !IsRefusal(result.status())) return result;
    }
    return RunResident();
  }

 private:
  // Whether the server would not take the call in chunks. If it is wrong in any other way, phase
  // one says so.
  bool IsRefusal(const absl::Status& status) const {
    return outputs_.taken_bytes() == 0 &&
           (absl::IsInvalidArgument(status) || absl::IsUnimplemented(status) ||
            absl::IsResourceExhausted(status));
  }

  // `total_bytes` of all outputs; 0 when there is one only.
  client::OutputSink Sink(int64_t total_bytes) {
    return [this, total_bytes](const client::PlannedOutput& output, int64_t offset,
                               std::span<const std::byte> bytes) {
      absl::Status status = outputs_.Take(output, offset, bytes);
      progress_.Reached(outputs_.taken_bytes(),
                        total_bytes == 0 ? output.desc.size_bytes() : total_bytes);
      return status;
    };
  }

  absl::StatusOr<client::ExecuteResult> RunInChunks() {
    progress_.Begin(absl::StrCat("running ", call_.op()));
    client::ChunkedOptions options;
    options.timeout = remote_.options().timeout;
    options.sink = Sink(0);
    absl::StatusOr<client::ExecuteResult> result =
        session_.ExecuteChunked(call_, std::move(options));
    progress_.End();
    return result.ok() ? outputs_.Finish(*result) : result;
  }

  absl::StatusOr<client::ExecuteResult> RunResident() {
    client::Context context = session_.CreateContext(call_.device());
    client::Stream stream = context.CreateStream();
    client::DeviceCall call = call_.program() != nullptr ? client::DeviceCall(*call_.program())
                                                         : client::DeviceCall(call_.op());
    for (const auto& [name, view] : call_.inputs()) {
      OPSERVE_ASSIGN_OR_RETURN(client::DeviceTensor tensor, Upload(context, stream, name, view));
      call.Input(name, std::move(tensor));
    }
    for (const auto& [name, value] : call_.attributes()) call.Attribute(name, value);
    for (const auto& [name, dtype] : call_.output_dtypes()) call.OutputDType(name, dtype);
    return Execute(context, stream, context.CreateExecutor(call));
  }

  // Returns when the transport took it; at the command's end whatever the transport does, as
  // `owner` keeps the memory.
  absl::Status UploadPart(client::Stream& stream, const client::DeviceBuffer& buffer,
                          int64_t offset, std::span<const std::byte> part,
                          std::shared_ptr<const void> owner) {
    const std::vector<int64_t> shape = {static_cast<int64_t>(part.size())};
    const Waiter<bool> released;
    client::TensorView view = client::TensorView::OfBytes(DType::kUint8, shape, part);
    view.owner = std::move(owner);
    OPSERVE_RETURN_IF_ERROR(stream.UploadAsync(buffer.Bytes(offset, shape[0]), view,
                                               [released] { released.Set(true); }));
    const absl::Time deadline = Clock::Real().Now() + remote_.options().timeout;
    if (released.Wait(deadline).has_value()) return session_.status();
    return absl::DeadlineExceededError(
        "the server accepted no more bytes in time; a longer --timeout may help");
  }

  // The view's whole storage, as it lies.
  absl::StatusOr<client::DeviceTensor> Upload(client::Context& context, client::Stream& stream,
                                              const std::string& name,
                                              const client::TensorView& view) {
    const size_t size = view.storage.size();
    const client::DeviceBuffer buffer = context.Allocate(static_cast<int64_t>(size));
    progress_.Begin(absl::StrCat("uploading ", name));
    for (size_t done = 0; done < size;) {
      const std::span<const std::byte> part =
          view.storage.subspan(done, std::min(kPartBytes, size - done));
      OPSERVE_RETURN_IF_ERROR(
          UploadPart(stream, buffer, static_cast<int64_t>(done), part, view.owner));
      done += part.size();
      progress_.Reached(static_cast<int64_t>(done), static_cast<int64_t>(size));
    }
    progress_.End();
    const TensorDesc desc = view.Desc();
    return client::DeviceTensor::Of(buffer, desc.dtype, desc.shape)
        .WithStrides(desc.strides, desc.storage_offset);
  }

  absl::StatusOr<client::ExecuteResult> Execute(client::Context& context, client::Stream& stream,
                                                const client::Executor& executor) {
    OPSERVE_ASSIGN_OR_RETURN(const client::ExecutorPlan plan, executor.plan(remote_.options()));
    client::ReceiveOptions options;
    options.timeout = remote_.options().timeout;
    if (plan.workspace_bytes > 0) options.workspace = context.Allocate(plan.workspace_bytes);
    int64_t bytes = 0;
    for (const client::PlannedOutput& output : plan.outputs) bytes += output.desc.size_bytes();
    options.sink = Sink(bytes);
    progress_.Begin("downloading");
    absl::StatusOr<client::ExecuteResult> result =
        stream.ExecuteAndReceive(executor, std::move(options));
    progress_.End();
    return result.ok() ? outputs_.Finish(*result) : result;
  }

  const client::Call& call_;
  const Remote& remote_;
  Session& session_;
  OutputFiles outputs_;
  Progress progress_;
};

}  // namespace

absl::StatusOr<client::ExecuteResult> RunOnSession(const client::Call& call, Chunks chunks,
                                                   const Remote& remote,
                                                   const std::map<std::string, std::string>& files,
                                                   Progress progress) {
  client::SessionOptions options;
  options.timeout = remote.options().timeout;
  options.traceparent = remote.options().traceparent;
  OPSERVE_ASSIGN_OR_RETURN(Session session, remote.client().OpenSession(std::move(options)));
  SessionRun run(call, remote, session, files, std::move(progress));
  absl::StatusOr<client::ExecuteResult> result = run.Run(chunks);
  if (result.ok()) OPSERVE_RETURN_IF_ERROR(session.Close(remote.options()));
  return result;
}

}  // namespace opserve::cli
