#include "client/cpp/transport/connection.h"

#include <grpcpp/alarm.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/transport/answer_memory.h"
#include "client/cpp/transport/call_context.h"
#include "client/cpp/transport/channels.h"
#include "client/cpp/transport/credentials.h"
#include "client/cpp/transport/grpc_values.h"
#include "client/cpp/transport/message_stream.h"
#include "client/cpp/transport/retried_call.h"
#include "client/cpp/transport/waited_call.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

// Whether there are views, and all have owners.
bool OwnsAllViews(const Request& request) {
  bool views = false;
  for (const Request::Piece& piece : request.pieces()) {
    if (!piece.view.empty() && piece.owner == nullptr) return false;
    views = views || !piece.view.empty();
  }
  return views;
}

absl::Status StatusOfCall(const grpc::Status& from, const std::string& target,
                          const RpcOptions& options, int64_t max_answer_bytes) {
  absl::Status status = StatusOf(from, target, max_answer_bytes, options.encryption);
  return IsTooLate(status) ? TooLate(target, options.timeout) : status;
}

// The answer of a call that is OK.
absl::Status DumpAnswer(const grpc::ByteBuffer& answer, const std::string& target,
                        int64_t max_answer_bytes, std::vector<grpc::Slice>& slices) {
  if (static_cast<int64_t>(answer.Length()) > max_answer_bytes)
    return TooLargeAnswer(target, max_answer_bytes);
  if (answer.Dump(&slices).ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(target, ": no answer came"));
}

// A request below way: alive until the status came and the transport has let go of every borrowed
// piece.
class GrpcCall final : public RunningCall, public std::enable_shared_from_this<GrpcCall> {
 public:
  // `room`: what the answer may take of the transport's memory.
  // `count`: to be counted in while it is under way; null: not.
  GrpcCall(std::string target, RpcOptions options, AnswerRoom room, CallCount count,
           Connection::Ended ended)
      : room_(std::move(room)),
        count_(std::move(count)),
        target_(std::move(target)),
        options_(std::move(options)),
        ended_(std::move(ended)) {}

  void Cancel() override { context_.Cancel(); }

  void Start(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
             const Request& request) {
    context_.Set(options_);
    if (count_ != nullptr) count_->fetch_add(1, std::memory_order_relaxed);
    if (options_.timeout < absl::InfiniteDuration() && OwnsAllViews(request))
      EndAfter(options_.timeout + kGrace);
    std::vector<grpc::Slice> slices;
    for (const Request::Piece& piece : request.pieces()) slices.push_back(MakeSlice(piece));
    request_ = grpc::ByteBuffer(slices.data(), slices.size());
    slices.clear();
    const std::shared_ptr<grpc::ClientContext> context = context_.Get();
    grpc::GenericStub(channel).UnaryCall(
        context.get(), method, {}, &request_, &answer_,
        [self = shared_from_this()](grpc::Status status) { self->OnStatus(std::move(status)); });
  }

 private:
  grpc::Slice MakeSlice(const Request::Piece& piece) {
    if (piece.view.empty() || piece.owner != nullptr) return OwnedSlice(piece);
    // gRPC never writes to a slice it sends.
    void* bytes = const_cast<std::byte*>(piece.view.data());
    pending_.fetch_add(1, std::memory_order_relaxed);
    return {bytes, piece.view.size(), &GrpcCall::OnRelease,
            new std::shared_ptr<GrpcCall>(shared_from_this())};
  }

  static void OnRelease(void* holder) {
    const std::unique_ptr<std::shared_ptr<GrpcCall>> self(
        static_cast<std::shared_ptr<GrpcCall>*>(holder));
    if ((*self)->Release()) (*self)->EndLater();
  }

  void OnStatus(grpc::Status status) {
    alarm_.Cancel();
    status_ = std::move(status);
    request_.Clear();
    context_.Drop();
    if (Release()) End();
  }

  bool Release() { return pending_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  // The transport lets go of slices while it holds its own locks: leave its thread first.
  void EndLater() {
    SetAlarm(absl::ZeroDuration(), [](GrpcCall& call) { call.End(); });
  }

  // gRPC ends no call, whatever its deadline, while the connection is in the middle of writing it
  // to a peer that takes no bytes.
  void EndAfter(absl::Duration wait) {
    SetAlarm(wait, [](GrpcCall& call) {
      const grpc::Status late(grpc::StatusCode::DEADLINE_EXCEEDED, "");
      call.EndOnce(StatusOfCall(late, call.target_, call.options_, call.room_.bytes), Fragments());
    });
  }

  void SetAlarm(absl::Duration wait, void (*ring)(GrpcCall&)) {
    auto* self = new std::shared_ptr<GrpcCall>(shared_from_this());
    alarm_.Set(TimeFromNow(wait), [self, ring](bool rang) {
      if (rang) ring(**self);
      delete self;
    });
  }

  void End() {
    std::vector<grpc::Slice> slices;
    absl::Status status = StatusOfCall(status_, target_, options_, room_.bytes);
    if (status.ok()) status = DumpAnswer(answer_, target_, room_.bytes, slices);
    EndOnce(std::move(status), FragmentsOf(slices));
  }

  void EndOnce(absl::Status status, const Fragments& answer) {
    if (over_.exchange(true, std::memory_order_acq_rel)) return;
    if (count_ != nullptr) count_->fetch_sub(1, std::memory_order_relaxed);
    Connection::Ended ended = std::move(ended_);
    ended(std::move(status), answer);
  }

  const AnswerRoom room_;  // goes behind the answer
  const CallCount count_;
  const std::string target_;
  const RpcOptions options_;
  Connection::Ended ended_;
  CallContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;
  grpc::Status status_;
  grpc::Alarm alarm_;  // rings for EndAfter, where all views have owners, or for EndLater, where
                       // one has none
  std::atomic<int64_t> pending_{1};  // the status, and each borrowed piece
  std::atomic<bool> over_{false};
};

// gRPC 1.51 joins its callback threads when the last channel that used them goes, and corrupts
// memory when it goes on one of these threads, as it may when a call outlives its client. So one
// channel, which leads nowhere, stays for ever. Before the first call that ends on a callback
// thread: these threads take the events of all connections, and a thread that waits for its own
// call is quicker without them.
void KeepCallbackThreads() {
  [[maybe_unused]] static const auto& kept = *[] {
    auto* channel = new std::shared_ptr<grpc::Channel>(grpc::CreateChannel("", nullptr));
    const auto call = std::make_shared<GrpcCall>("", RpcOptions(), AnswerRoom(), nullptr,
                                                 [](const absl::Status&, const Fragments&) {});
    call->Start(*channel, "/", Request());
    return channel;
  }();
}

// gRPC 1.51 loses a connection that comes about when its channel has gone: a channel stays until
// it is known whether there will be one.
void LetGo(std::shared_ptr<grpc::Channel> channel) {
  constexpr absl::Duration kLookAgain = absl::Milliseconds(100);
  if (channel->GetState(/*try_to_connect=*/false) != GRPC_CHANNEL_CONNECTING) return;
  RunSoon([channel = std::move(channel)]() mutable { LetGo(std::move(channel)); }, kLookAgain);
}

// How many tries a call of `tries` may have, one of which ended so. A server that takes no more
// connections lets one stand before it says so, and calls go there: `may_be_refused`.
int TriesAfter(const absl::Status& status, int tries, bool may_be_refused) {
  const bool is_refused =
      may_be_refused && absl::IsUnavailable(status) && !GetErrorDetail(status).has_value();
  return is_refused ? std::max(tries, 2) : tries;
}

// What a server may do to us is bounded here and by AnswerMemory: the size of an answer and of its
// metadata, and no compressed ones, which gRPC would inflate to any size.
void BoundAnswers(const AnswerMemory& memory, grpc::ChannelArguments& arguments) {
  constexpr int kMaxMetadataBytes = 8 << 10;  // gRPC's own choice
  arguments.SetMaxReceiveMessageSize(-1);  // we look ourselves: servers say the same of a request
  arguments.SetResourceQuota(memory.quota());
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  arguments.SetInt(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  arguments.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1 << GRPC_COMPRESS_NONE);
}

// Whose connections a channel uses: those of all channels that are like it, or its own.
enum class Subchannels : uint8_t { kShared, kOwn };

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& target, const ConnectOptions& options,
                                           const AnswerMemory& memory, Subchannels subchannels) {
  grpc::ChannelArguments arguments;
  if (subchannels == Subchannels::kOwn) {
    constexpr int kIdleMs = 60'000;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, kIdleMs);
  }
  BoundAnswers(memory, arguments);
  arguments.SetMaxSendMessageSize(-1);
  // gRPC 1.51's retries abort the process at an answer without a status. Of no other use here: they
  // are for streams that a server refuses, and for policies, which we have none of.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  if (options.round_robin) arguments.SetLoadBalancingPolicyName("round_robin");
  // A proxy from the environment is not meant for a server on this machine.
  if (IsLoopback(target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const std::shared_ptr<grpc::ChannelCredentials> credentials = MakeCredentials(options, arguments);
  return grpc::CreateCustomChannel(target, credentials, arguments);
}

}  // namespace

bool IsTooLate(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) && !GetErrorDetail(status).has_value();
}

absl::Status TooLate(const std::string& target, absl::Duration timeout) {
  return absl::DeadlineExceededError(
      absl::StrCat(target, ": no answer within ", TimeText(timeout)));
}

struct Connection::Transport {
  Transport(const std::string& target, const ConnectOptions& options)
      : memory(std::make_shared<AnswerMemory>(options.max_answer_bytes)),
        channels(MakeChannel(target, options, *memory, Subchannels::kShared),
                 options.round_robin ? 1 : options.connections, [target, options, memory = memory] {
                   return MakeChannel(target, options, *memory, Subchannels::kOwn);
                 }) {}
  ~Transport() {
    for (std::shared_ptr<grpc::Channel>& channel : channels.TakeAll()) LetGo(std::move(channel));
  }

  std::shared_ptr<RunningCall> Start(const Channel& channel, const std::string& target,
                                     const std::string& method, const Request& request,
                                     RpcOptions options, Ended ended) const {
    auto call = std::make_shared<GrpcCall>(target, std::move(options), memory->Reserve(),
                                           channel.calls, std::move(ended));
    call->Start(channel.grpc, method, request);
    return call;
  }

  const std::shared_ptr<AnswerMemory> memory;
  Channels channels;
};

absl::Status Connection::Check(std::string_view target, const ConnectOptions& options) {
  return CheckCredentials(target, options);
}

Connection::Connection(std::string_view target, const ConnectOptions& options)
    : target_(target),
      token_(options.token),
      encryption_(options.tls.has_value() ? Encryption::kTls : Encryption::kNone),
      tries_(options.tries),
      has_several_(options.connections > 1 && !options.round_robin),
      is_local_(!options.round_robin && (target_.starts_with("unix:") || IsLoopback(target_))),
      transport_(std::make_shared<Transport>(target_, options)) {}

Connection::~Connection() = default;

void Connection::Complete(RpcOptions& options) const {
  options.token = token_;
  options.encryption = encryption_;
}

std::shared_ptr<RunningCall> Connection::Start(const std::string& method, const Request& request,
                                               RpcOptions options, Ended ended) {
  KeepCallbackThreads();
  Complete(options);
  const int tries = options.tries > 0 ? options.tries : tries_;
  const bool has_several = has_several_ && options.tries == 0;
  if (tries == 1 && !has_several) {
    return transport_->Start(transport_->channels.Pick(), target_, method, request,
                             std::move(options), std::move(ended));
  }
  const absl::Duration timeout = options.timeout;
  auto start = [transport = transport_, target = target_, method, request, tries, has_several,
                options = std::move(options)](absl::Duration left, TryEnded then) {
    RpcOptions with = options;
    with.timeout = left;
    const Channel channel = transport->channels.Pick();
    const bool may_be_refused = has_several && !channel.is_first;
    return transport->Start(channel, target, method, request, std::move(with),
                            [then = std::move(then), tries, may_be_refused](
                                absl::Status status, const Fragments& answer) mutable {
                              const int in_all = TriesAfter(status, tries, may_be_refused);
                              then(std::move(status), answer, in_all);
                            });
  };
  return StartRetriedCall(timeout, std::move(start), std::move(ended));
}

absl::Status Connection::Call(const std::string& method, const Request& request, RpcOptions options,
                              absl::FunctionRef<void(const Fragments& answer)> read) const {
  Complete(options);
  const int tries = options.tries > 0 ? options.tries : tries_;
  const bool has_several = has_several_ && options.tries == 0;
  const absl::Time deadline = Clock::Real().Now() + options.timeout;
  for (int number = 1;; ++number) {
    const Channel channel = transport_->channels.Pick();
    absl::Status status = CallOnce(channel, method, request, options, read);
    const int in_all = TriesAfter(status, tries, has_several && !channel.is_first);
    const std::optional<absl::Duration> wait = WaitForNextTry(number, in_all, deadline, status);
    if (!wait.has_value()) return status;
    absl::SleepFor(*wait);
    options.timeout = deadline - Clock::Real().Now();
  }
}

absl::Status Connection::CallOnce(const Channel& channel, const std::string& method,
                                  const Request& request, const RpcOptions& options,
                                  absl::FunctionRef<void(const Fragments& answer)> read) const {
  if (channel.calls != nullptr) channel.calls->fetch_add(1, std::memory_order_relaxed);
  const absl::Cleanup ended = [&channel] {
    if (channel.calls != nullptr) channel.calls->fetch_sub(1, std::memory_order_relaxed);
  };
  const auto call = std::make_shared<WaitedCall>(transport_->memory->Reserve());
  std::optional<grpc::Status> status = call->Make(channel.grpc, method, request, options);
  if (!status.has_value()) {
    KeepCallbackThreads();
    call->KeepUntilEnded();
    status.emplace(grpc::StatusCode::DEADLINE_EXCEEDED, "");
  }
  OPSERVE_RETURN_IF_ERROR(StatusOfCall(*status, target_, options, call->max_answer_bytes()));
  std::vector<grpc::Slice> slices;
  OPSERVE_RETURN_IF_ERROR(DumpAnswer(call->answer(), target_, call->max_answer_bytes(), slices));
  read(FragmentsOf(slices));
  return absl::OkStatus();
}

std::shared_ptr<MessageStream> Connection::NewStream(
    const std::string& method, RpcOptions options,
    std::shared_ptr<MessageStream::Listener> listener) {
  KeepCallbackThreads();
  Complete(options);
  return NewMessageStream(transport_->channels.first(), transport_->memory->Reserve(), target_,
                          method, std::move(options), std::move(listener));
}

}  // namespace opserve::client
