// How streams move bytes.
#include <algorithm>
#include <cstring>
#include <utility>

#include <opserve/session.h>

#include "absl/strings/str_cat.h"
#include "client/cpp/session/session_command.h"
#include "client/cpp/session/transfer.h"
#include "client/cpp/transport/message_stream.h"
#include "client/cpp/wire/answered_outputs.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

// The elements of `from`, which must lie dense in its storage and be what `to` holds.
absl::StatusOr<std::span<const std::byte>> DenseBytes(const DeviceTensor& to,
                                                      const TensorView& from) {
  if (from.dtype != to.desc.dtype || !SameShape(from.shape, to.desc.shape)) {
    return InvalidParameter("from", absl::StrCat(TypeText(to.desc), ", as `to` is"),
                            TypeText(from.Desc()));
  }
  const TensorDesc desc = from.Desc();
  OPSERVE_RETURN_IF_ERROR(CheckStorage(desc, static_cast<int64_t>(from.storage.size()), "from"));
  if (!desc.IsDense())
    return InvalidParameter("from", "a dense view",
                            absl::StrCat("strides ", ShapeToString(desc.strides)));
  const auto offset = static_cast<size_t>(desc.storage_offset) * DTypeSize(desc.dtype);
  const auto size = static_cast<size_t>(desc.size_bytes());
  return size == 0 ? std::span<const std::byte>() : from.storage.subspan(offset, size);
}

// A stream, and how long a command may take on it.
struct TimedStream {
  const RemoteObject& stream;
  absl::Duration timeout;
};

// Queues the chunks of an upload; `owner` keeps the memory of `from`.
absl::Status SendUpload(const TimedStream& on, const DeviceTensor& to, const TensorView& from,
                        const std::shared_ptr<const void>& owner) {
  const RemoteObject& stream = on.stream;
  OPSERVE_ASSIGN_OR_RETURN(const Rows rows, RowsOf(to, "to"));
  OPSERVE_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, DenseBytes(to, from));
  SessionChannel& channel = stream.channel();
  ForEachPiece(rows, ChunkBytes(channel.info()), [&](const Rows& piece, int64_t offset) {
    Command command = stream.NewCommand("Upload", on.timeout);
    v1::UploadCommand& upload = *command.message.mutable_upload();
    FillRange(to, piece, *upload.mutable_destination());
    upload.set_stream(stream.id());
    command.raw.push_back(
        {bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(piece.size_bytes())),
         owner});
    return channel.Send(std::move(command)) != 0;
  });
  return channel.status();
}

// The answers to one Download. Once abandoned, `sink` is not called any more.
class IncomingDownload {
 public:
  using Ended = absl::AnyInvocable<void(absl::Status)>;

  IncomingDownload(int64_t size_bytes, BytesSink sink, Ended ended)
      : sink_(std::move(sink)), ended_(std::move(ended)), inflow_(size_bytes) {}

  void OnAnswer(SessionAnswer& answer) {
    if (status_.ok()) status_ = answer.status;
    if (status_.ok() && answer.message.has_chunk()) status_ = Receive(answer);
    if (!answer.last) return;
    if (status_.ok()) status_ = inflow_.CheckComplete();
    ended_(status_);
  }

  void Abandon() {
    const MutexLock lock(mutex_);
    abandoned_ = true;
  }

 private:
  absl::Status Receive(SessionAnswer& answer) {
    OPSERVE_RETURN_IF_ERROR(inflow_.Accept(answer));
    return Inflow::HandOn(answer, [this](int64_t offset, std::span<const std::byte> bytes) {
      const MutexLock lock(mutex_);
      return abandoned_ ? absl::OkStatus() : sink_(offset, bytes);
    });
  }

  Mutex mutex_;
  bool abandoned_ ABSL_GUARDED_BY(mutex_) = false;
  BytesSink sink_;
  Ended ended_;
  Inflow inflow_;
  absl::Status status_;
};

CommandHandle SendDownload(const TimedStream& on, const DeviceTensor& from, const Rows& rows,
                           std::shared_ptr<IncomingDownload> incoming) {
  const RemoteObject& stream = on.stream;
  Command command = stream.NewCommand("Download", on.timeout);
  v1::DownloadCommand& download = *command.message.mutable_download();
  FillRange(from, rows, *download.mutable_source());
  download.set_stream(stream.id());
  download.set_chunk_bytes(ChunkBytes(stream.channel().info()));
  const uint64_t id = stream.channel().Send(
      std::move(command),
      [incoming = std::move(incoming)](SessionAnswer& answer) { incoming->OnAnswer(answer); });
  return {stream.shared_channel(), id};
}

// Those of `from`, which fill `memory`.
absl::StatusOr<Rows> RowsInto(const DeviceTensor& from, std::span<std::byte> memory) {
  OPSERVE_ASSIGN_OR_RETURN(const Rows rows, RowsOf(from, "from"));
  if (static_cast<int64_t>(memory.size()) == rows.size_bytes()) return rows;
  return InvalidParameter("memory", absl::StrCat(rows.size_bytes(), " bytes, as `from` has"),
                          absl::StrCat(memory.size()));
}

BytesSink FillInOrder(std::span<std::byte> memory) {
  return [memory](int64_t offset, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), memory.begin() + offset);
    return absl::OkStatus();
  };
}

}  // namespace

absl::Status Stream::Upload(const DeviceTensor& to, const TensorView& from) {
  const TimedStream on{*object_, timeout_};
  if (from.owner != nullptr) return SendUpload(on, to, from, from.owner);
  const Waiter<bool> released;
  const absl::Status sent = SendUpload(on, to, from, Lend([released] { released.Set(true); }));
  released.Wait(absl::InfiniteFuture());
  return sent.ok() ? object_->channel().status() : sent;
}

absl::Status Stream::UploadAsync(const DeviceTensor& to, const TensorView& from,
                                 absl::AnyInvocable<void()> released) {
  return SendUpload({*object_, timeout_}, to, from,
                    Lend([owner = from.owner, released = std::move(released)]() mutable {
                      if (released) RunSoon(std::move(released));
                    }));
}

absl::StatusOr<Tensor> Stream::Download(const DeviceTensor& from, const CallOptions& options) {
  const Waiter<absl::StatusOr<Tensor>> waiter;
  const CommandHandle command = WithTimeout(std::min(timeout_, options.timeout))
                                    .DownloadAsync(from, [waiter](absl::StatusOr<Tensor> tensor) {
                                      waiter.Set(std::move(tensor));
                                    });
  const SessionChannel& channel = object_->channel();
  std::optional<absl::StatusOr<Tensor>> tensor = waiter.Wait(channel.Deadline(options.timeout));
  if (tensor.has_value()) return *std::move(tensor);
  command.Cancel();
  return channel.TooLate("Download");
}

CommandHandle Stream::DownloadAsync(const DeviceTensor& from, Done<Tensor> done) {
  const absl::StatusOr<Rows> rows = RowsOf(from, "from");
  if (!rows.ok()) {
    done(rows.status());
    return {};
  }
  const std::shared_ptr<std::byte> memory =
      AllocateTensorBytes(static_cast<size_t>(rows->size_bytes()));
  Tensor tensor(TensorDesc::Dense(from.desc.dtype, from.desc.shape), memory);
  auto incoming = std::make_shared<IncomingDownload>(
      rows->size_bytes(),
      [memory](int64_t offset, std::span<const std::byte> bytes) {
        std::memcpy(memory.get() + offset, bytes.data(), bytes.size());
        return absl::OkStatus();
      },
      [tensor = std::move(tensor), done = std::move(done)](absl::Status status) mutable {
        done(status.ok() ? absl::StatusOr<Tensor>(std::move(tensor))
                         : absl::StatusOr<Tensor>(std::move(status)));
      });
  return SendDownload({*object_, timeout_}, from, *rows, std::move(incoming));
}

absl::Status Stream::DownloadTo(const DeviceTensor& from, std::span<std::byte> memory,
                                const CallOptions& options) {
  OPSERVE_RETURN_IF_ERROR(RowsInto(from, memory).status());
  return DownloadChunks(from, FillInOrder(memory), options);
}

CommandHandle Stream::DownloadToAsync(const DeviceTensor& from, std::span<std::byte> memory,
                                      absl::AnyInvocable<void(absl::Status)> done) {
  const absl::StatusOr<Rows> rows = RowsInto(from, memory);
  if (!rows.ok()) {
    done(rows.status());
    return {};
  }
  return SendDownload(
      {*object_, timeout_}, from, *rows,
      std::make_shared<IncomingDownload>(rows->size_bytes(), FillInOrder(memory), std::move(done)));
}

absl::Status Stream::DownloadChunks(const DeviceTensor& from, BytesSink sink,
                                    const CallOptions& options) {
  OPSERVE_ASSIGN_OR_RETURN(const Rows rows, RowsOf(from, "from"));
  const Waiter<absl::Status> waiter;
  const auto incoming = std::make_shared<IncomingDownload>(
      rows.size_bytes(), std::move(sink),
      [waiter](absl::Status status) { waiter.Set(std::move(status)); });
  const CommandHandle command =
      SendDownload({*object_, std::min(timeout_, options.timeout)}, from, rows, incoming);
  const SessionChannel& channel = object_->channel();
  std::optional<absl::Status> status = waiter.Wait(channel.Deadline(options.timeout));
  if (status.has_value()) return *std::move(status);
  incoming->Abandon();
  command.Cancel();
  return channel.TooLate("Download");
}

}  // namespace opserve::client
