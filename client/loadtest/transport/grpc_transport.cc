#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/byte_buffer.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "client/cpp/transport/credentials.h"
#include "client/cpp/transport/grpc_values.h"
#include "client/cpp/wire/status_details.h"
#include "client/loadtest/transport/transport.h"
#include "core/base/status_macros.h"

namespace opserve::loadtest {
namespace {

absl::Status ToAbslStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return client::StatusFromWire(static_cast<int>(status.error_code()), status.error_message(),
                                status.error_details());
}

grpc::ByteBuffer ToByteBuffer(const Message& message) {
  std::vector<grpc::Slice> slices;
  slices.reserve(1 + message.tail.size());
  slices.emplace_back(message.head);
  for (const std::string_view piece : message.tail)
    slices.emplace_back(piece.data(), piece.size(), grpc::Slice::STATIC_SLICE);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

class ByteBufferAnswer final : public Answer {
 public:
  explicit ByteBufferAnswer(const grpc::ByteBuffer& buffer) : buffer_(buffer) {}

  size_t size_bytes() const override { return buffer_.Valid() ? buffer_.Length() : 0; }

  const Fragments& bytes() const override {
    if (pieces_.size_bytes() == 0 && size_bytes() > 0 && buffer_.Dump(&slices_).ok()) {
      for (const grpc::Slice& slice : slices_)
        pieces_.Append({reinterpret_cast<const std::byte*>(slice.begin()), slice.size()});
    }
    return pieces_;
  }

 private:
  const grpc::ByteBuffer& buffer_;
  mutable std::vector<grpc::Slice> slices_;
  mutable Fragments pieces_;
};

struct UnaryState {
  grpc::ClientContext context;
  grpc::ByteBuffer request;
  grpc::ByteBuffer answer;
  CallDone done;
};

class GrpcStream final : public Stream,
                         public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit GrpcStream(StreamHandler& handler) : handler_(handler) {}
  ~GrpcStream() override {
    context_.TryCancel();
    over_.WaitForNotification();
  }

  void Start(grpc::GenericStub& stub, const std::string& method, const std::string& token,
             absl::Duration timeout) {
    client::AddToken(token, context_);
    context_.set_deadline(client::TimeFromNow(timeout));
    stub.PrepareBidiStreamingCall(&context_, method, {}, this);
    AddHold();  // writes are started by Wake, from any thread
    StartCall();
    StartRead(&in_);
  }

  void Wake() override {
    if (wakes_.fetch_add(1) == 0) Advance();
  }

 private:
  // The one who raises wakes_ from 0 writes, until it has lowered it to 0 again. After the last
  // write it stays above 0 for good, so nobody touches a stream that may be over.
  void Advance() {
    for (;;) {
      int wakes = wakes_.load();
      if (ended_) return RemoveHold();
      Message message;
      switch (handler_.NextMessage(message)) {
        case StreamHandler::Next::kMessage:
          return Write(message, grpc::WriteOptions());
        case StreamHandler::Next::kMessageAndMore:
          return Write(message, grpc::WriteOptions().set_buffer_hint());
        case StreamHandler::Next::kEnd:
          StartWritesDone();
          return RemoveHold();
        case StreamHandler::Next::kNothingNow:
          break;
      }
      if (wakes_.compare_exchange_strong(wakes, 0)) return;
    }
  }

  void Write(const Message& message, const grpc::WriteOptions& options) {
    out_ = ToByteBuffer(message);
    StartWrite(&out_, options);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) ended_ = true;
    Advance();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      ended_ = true;
      return Wake();
    }
    handler_.OnAnswer(ByteBufferAnswer(in_));
    in_.Clear();
    StartRead(&in_);
  }

  void OnDone(const grpc::Status& status) override {
    handler_.OnEnd(ToAbslStatus(status));
    over_.Notify();
  }

  StreamHandler& handler_;
  grpc::ClientContext context_;
  grpc::ByteBuffer in_;
  grpc::ByteBuffer out_;
  std::atomic<int> wakes_ = 0;
  std::atomic<bool> ended_ = false;
  absl::Notification over_;
};

// gRPC 1.51 corrupts memory when the last channel goes on one of its callback threads, as it may
// with a call that ends late. So the first one stays for ever.
const std::shared_ptr<grpc::Channel>& First(const std::shared_ptr<grpc::Channel>& channel) {
  static const auto& first = *new std::shared_ptr<grpc::Channel>(channel);
  return first;
}

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(std::shared_ptr<grpc::Channel> channel, std::string token)
      : first_(First(channel)),
        channel_(std::move(channel)),
        stub_(channel_),
        token_(std::move(token)) {}

  bool Wait(absl::Duration timeout) {
    return channel_->WaitForConnected(client::TimeFromNow(timeout));
  }

  void Call(const std::string& method, const Message& message, absl::Duration timeout,
            CallDone done) override {
    auto* state = new UnaryState;
    client::AddToken(token_, state->context);
    state->context.set_deadline(client::TimeFromNow(timeout));
    state->request = ToByteBuffer(message);
    state->done = std::move(done);
    stub_.UnaryCall(&state->context, method, {}, &state->request, &state->answer,
                    [state](const grpc::Status& status) {
                      const std::unique_ptr<UnaryState> owned(state);
                      owned->done(ToAbslStatus(status), ByteBufferAnswer(owned->answer));
                    });
  }

  std::unique_ptr<Stream> Open(const std::string& method, absl::Duration timeout,
                               StreamHandler& handler) override {
    auto stream = std::make_unique<GrpcStream>(handler);
    stream->Start(stub_, method, token_, timeout);
    stream->Wake();
    return stream;
  }

 private:
  const std::shared_ptr<grpc::Channel> first_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  const std::string token_;
};

}  // namespace

size_t Message::size_bytes() const {
  size_t bytes = head.size();
  for (const std::string_view piece : tail) bytes += piece.size();
  return bytes;
}

std::string Answer::Prefix(size_t count) const {
  std::string prefix(std::min(count, size_bytes()), '\0');
  bytes().CopyTo(reinterpret_cast<std::byte*>(prefix.data()), 0, prefix.size());
  return prefix;
}

absl::StatusOr<std::unique_ptr<Connection>> Connect(const std::string& target,
                                                    absl::Duration timeout,
                                                    const client::ConnectOptions& options) {
  OPSERVE_RETURN_IF_ERROR(client::CheckCredentials(target, options));
  const int64_t max_answer_bytes = options.max_answer_bytes;
  grpc::ChannelArguments arguments;
  const bool bounded = max_answer_bytes >= 0 && max_answer_bytes < std::numeric_limits<int>::max();
  arguments.SetMaxReceiveMessageSize(bounded ? static_cast<int>(max_answer_bytes) : -1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  const auto credentials = client::MakeCredentials(options, arguments);
  auto connection = std::make_unique<GrpcConnection>(
      grpc::CreateCustomChannel(target, credentials, arguments), options.token);
  if (connection->Wait(timeout)) return connection;
  return absl::UnavailableError(
      absl::StrCat("no connection to ", target, " in ", absl::FormatDuration(timeout)));
}

}  // namespace opserve::loadtest
