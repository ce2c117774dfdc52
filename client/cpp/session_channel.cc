#include "client/cpp/session_channel.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/read_message.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

constexpr char kMethod[] = "/opserve.v1.SessionService/Session";

// What a message has beside its header and an entry's bytes, at most.
constexpr size_t kFramingBytes = 16;

// Small commands that wait go in one message of about this size.
constexpr size_t kGroupBytes = size_t{64} << 10;

// Quiet commands wait for others to go with: this many at most, and about as long.
constexpr size_t kMaxWaiting = 8;
constexpr absl::Duration kMaxWait = absl::Milliseconds(1);

constexpr uint32_t kCommandsTag = v1::SessionRequest::kCommandsFieldNumber << 3 | 2;

constexpr char kIdTag = v1::SessionRequest::kIdFieldNumber << 3;

// What a pending command is told when the session ends.
void EndCommand(OnAnswer& handler, const absl::Status& status) {
  SessionAnswer answer;
  answer.status = status;
  handler(answer);
}

}  // namespace

SessionChannel::SessionChannel(std::string target, absl::Duration timeout,
                               absl::AnyInvocable<void()> on_draining)
    : target_(std::move(target)),
      timeout_(timeout),
      deadline_(Clock::Real().Now() + timeout),
      on_draining_(std::move(on_draining)) {}

void SessionChannel::Start(Connection& connection) {
  stream_ = connection.NewStream(kMethod, timeout_, shared_from_this());
  stream_->Start();
}

uint64_t SessionChannel::NewObject() {
  const MutexLock lock(mutex_);
  failures_.Made(++last_object_);
  return last_object_;
}

void SessionChannel::Forget(uint64_t object) {
  const MutexLock lock(mutex_);
  failures_.Gone(object);
}

uint64_t SessionChannel::Send(Command command) { return SendWith(std::move(command), nullptr); }

uint64_t SessionChannel::Send(Command command, OnAnswer on_answer) {
  return SendWith(std::move(command), std::make_shared<OnAnswer>(std::move(on_answer)));
}

uint64_t SessionChannel::SendWith(Command command, const Handler& handler) {
  if (handler == nullptr) command.message.set_quiet(true);
  const std::string body = command.message.SerializeAsString();
  absl::Status refused = CheckSize(command, body.size());
  uint64_t id = 0;
  bool flush_later = false;
  {
    const MutexLock lock(mutex_);
    const absl::Status closed = Closed();
    if (!closed.ok()) refused = closed;
    if (refused.ok()) {
      id = Queue(command, body, handler);
      if (!MayWait(handler == nullptr)) due_ = true;
      flush_later = !due_ && !std::exchange(flush_comes_, true);
    }
    if (closed.ok() && !refused.ok() && handler == nullptr)
      failures_.Keep(refused, command.stream, command.context);
  }
  if (flush_later) FlushSoon();
  if (id != 0) Pump();
  if (id == 0 && handler != nullptr) EndCommand(*handler, refused);
  return id;
}

absl::Status SessionChannel::CheckSize(const Command& command, size_t header_bytes) const {
  size_t bytes = header_bytes;
  for (const RawEntry& entry : command.raw) bytes += entry.bytes.size();
  const size_t most = std::min(static_cast<size_t>(info_.max_message_bytes), kTransportMaxBytes);
  if (bytes + kFramingBytes * (command.raw.size() + 1) <= most) return absl::OkStatus();
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = command.meaning,
                    .want = absl::StrCat("a message of at most ", most,
                                         " bytes (max_message_bytes of ", target_, ")"),
                    .got = absl::StrCat(bytes, " bytes")});
}

uint64_t SessionChannel::Queue(Command& command, const std::string& body, const Handler& handler) {
  const uint64_t id = sent_.Add({.meaning = std::move(command.meaning),
                                 .stream = command.stream,
                                 .context = command.context,
                                 .is_over = handler != nullptr},
                                info_.max_queued_commands);
  std::string head(1, kIdTag);
  AppendVarint(id, head);
  Request& request = queue_.emplace_back();
  request.AppendCopy(head);
  request.AppendCopy(body);
  for (const RawEntry& entry : command.raw)
    AppendRaw(v1::SessionRequest::kRawFieldNumber, entry, request);
  if (handler != nullptr) pending_.emplace(id, Pending{handler, ExpectedOf(command.message)});
  return id;
}

Request SessionChannel::NextMessage() {
  const size_t most = std::min(kGroupBytes, static_cast<size_t>(info_.max_message_bytes));
  size_t count = 0;
  size_t bytes = 0;
  for (const Request& waiting : queue_) {
    bytes += waiting.size_bytes() + kFramingBytes;
    if (!waiting.is_copied() || bytes > most) break;
    ++count;
  }
  if (count < 2) {
    Request alone = std::move(queue_.front());
    queue_.pop_front();
    return alone;
  }
  std::string group;
  group.reserve(bytes);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view command = queue_.front().copied();
    AppendVarint(kCommandsTag, group);
    AppendVarint(command.size(), group);
    group.append(command);
    queue_.pop_front();
  }
  Request message;
  message.AppendCopy(group);
  return message;
}

bool SessionChannel::MayWait(bool is_quiet) const {
  return is_quiet && queue_.size() < kMaxWaiting && queue_.back().is_copied() &&
         queue_.back().size_bytes() < kGroupBytes / kMaxWaiting;
}

void SessionChannel::FlushSoon() {
  RunSoon(
      [weak = weak_from_this()] {
        if (const std::shared_ptr<SessionChannel> self = weak.lock()) self->Flush();
      },
      kMaxWait);
}

void SessionChannel::Flush() {
  {
    const MutexLock lock(mutex_);
    flush_comes_ = false;
    if (queue_.empty()) return;
    due_ = true;
  }
  Pump();
}

void SessionChannel::Pump() {
  std::optional<Request> next;
  {
    const MutexLock lock(mutex_);
    if (writing_ || end_.has_value()) return;
    if (queue_.empty() ? !closing_ : !due_ && !closing_) return;
    writing_ = true;
    if (!queue_.empty()) next = NextMessage();
    if (queue_.empty()) due_ = false;
  }
  next.has_value() ? stream_->Write(*next) : stream_->HalfClose();
}

void SessionChannel::OnWritten() {
  {
    const MutexLock lock(mutex_);
    writing_ = false;
  }
  Pump();
}

void SessionChannel::HalfClose() {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(closing_, true)) return;
  }
  Pump();
}

void SessionChannel::Cancel() { stream_->Cancel(); }

void SessionChannel::OnMessage(const Fragments& message) {
  {
    const MutexLock lock(mutex_);
    if (fault_.has_value()) return;
  }
  SessionMessage read;
  const absl::Status status = ReadSessionMessage(message, read);
  if (!status.ok()) return Fault(status);
  for (SessionAnswer& answer : read.answers) Deliver(answer);
}

absl::Status SessionChannel::AcceptFailure(const SessionAnswer& answer) {
  const uint64_t id = answer.message.id();
  if (answer.status.ok() || !sent_.EndsNow(id))
    return BadAnswer(kSessionAnswer, absl::StrCat("command ", id), "no answer but the one",
                     "another");
  if (const SentCommand* const command = sent_.Find(id))
    failures_.Keep(Explained(answer.status, id), command->stream, command->context);
  return absl::OkStatus();
}

absl::Status SessionChannel::Accept(const SessionAnswer& answer, Handler& handler) {
  const uint64_t id = answer.message.id();
  const uint64_t failed = answer.message.failed_command();
  if (id > sent_.last() || failed > sent_.last()) {
    return BadAnswer(kSessionAnswer,
                     absl::StrCat("command ", std::max(id, failed), " was not sent"));
  }
  const auto found = pending_.find(id);
  if (found == pending_.end()) return AcceptFailure(answer);
  OPSERVE_RETURN_IF_ERROR(CheckAnswer(answer, found->second.expected));
  handler = found->second.handler;
  if (answer.last) pending_.erase(found);
  return absl::OkStatus();
}

void SessionChannel::Deliver(SessionAnswer& answer) {
  if (answer.message.id() == 0) return OnNotice(answer);
  Handler handler;
  absl::Status status;
  {
    const MutexLock lock(mutex_);
    if (fault_.has_value()) return;
    status = Accept(answer, handler);
  }
  if (!status.ok()) return Fault(status);
  if (handler == nullptr) return;
  (*handler)(answer);
  if (!answer.objection.ok()) Fault(answer.objection);
}

void SessionChannel::OnNotice(const SessionAnswer& answer) {
  absl::AnyInvocable<void()> on_draining;
  if (answer.message.has_info()) {
    absl::StatusOr<SessionInfo> info = ReadSessionInfo(answer.message.info());
    if (!info.ok()) return Fault(info.status());
    const MutexLock lock(mutex_);
    if (has_info_ || fault_.has_value()) return;
    info_ = *std::move(info);
    has_info_ = true;
    changed_.NotifyAll();
  } else if (answer.message.has_draining()) {
    const MutexLock lock(mutex_);
    if (!std::exchange(draining_, true)) on_draining = std::move(on_draining_);
  }
  if (on_draining) on_draining();
}

void SessionChannel::Keep(const absl::Status& status, uint64_t stream, uint64_t context) {
  const MutexLock lock(mutex_);
  failures_.Keep(status, stream, context);
}

absl::Status SessionChannel::TakeFailure(uint64_t stream, uint64_t context) {
  const MutexLock lock(mutex_);
  return failures_.Take(stream, context);
}

absl::Status SessionChannel::Explained(const absl::Status& status, uint64_t command) const {
  if (status.ok() || command == 0) return status;
  const SentCommand* const sent = sent_.Find(command);
  const std::string meaning = sent == nullptr ? "" : absl::StrCat(sent->meaning, ", ");
  absl::Status explained(status.code(), absl::StrCat(status.message(), " (", meaning, "command ",
                                                     command, " of the session)"));
  status.ForEachPayload([&explained](absl::string_view url, const absl::Cord& payload) {
    explained.SetPayload(url, payload);
  });
  return explained;
}

absl::Status SessionChannel::Explain(const absl::Status& status, uint64_t command) const {
  const MutexLock lock(mutex_);
  return Explained(status, command);
}

// Nobody waits for the transport, which may be in the middle of a write that the server does not
// take.
void SessionChannel::Fault(const absl::Status& status) {
  absl::flat_hash_map<uint64_t, Pending> pending;
  {
    const MutexLock lock(mutex_);
    if (fault_.has_value()) return;
    fault_ = status;
    pending.swap(pending_);
    changed_.NotifyAll();
  }
  stream_->Cancel();
  for (const auto& [id, command] : pending) EndCommand(*command.handler, status);
}

void SessionChannel::OnEnded(absl::Status status) {
  absl::flat_hash_map<uint64_t, Pending> pending;
  std::deque<Request> dropped;
  absl::Status end;
  {
    const MutexLock lock(mutex_);
    end_ = fault_.value_or(std::move(status));
    end = end_->ok() ? Closed() : *end_;
    pending.swap(pending_);
    dropped.swap(queue_);
    changed_.NotifyAll();
  }
  dropped.clear();
  for (const auto& [id, command] : pending) EndCommand(*command.handler, end);
}

absl::Status SessionChannel::Closed() const {
  if (fault_.has_value()) return *fault_;
  if (end_.has_value() && !end_->ok()) return *end_;
  if (!end_.has_value() && !closing_) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(target_, ": the session is closed"));
}

absl::Status SessionChannel::WaitForInfo(absl::Time deadline) {
  const MutexLock lock(mutex_);
  while (!has_info_ && !end_.has_value() && !fault_.has_value()) {
    if (deadline == absl::InfiniteFuture()) {
      changed_.Wait(mutex_);
      continue;
    }
    const absl::Duration left = deadline - Clock::Real().Now();
    if (left <= absl::ZeroDuration()) return TooLate("the start of the session");
    changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(left));
  }
  return has_info_ ? absl::OkStatus() : Closed();
}

std::optional<absl::Status> SessionChannel::WaitForEnd(absl::Time deadline) {
  const MutexLock lock(mutex_);
  while (!end_.has_value()) {
    if (deadline == absl::InfiniteFuture()) {
      changed_.Wait(mutex_);
      continue;
    }
    const absl::Duration left = deadline - Clock::Real().Now();
    if (left <= absl::ZeroDuration()) return std::nullopt;
    changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(left));
  }
  return end_;
}

bool SessionChannel::draining() const {
  const MutexLock lock(mutex_);
  return draining_;
}

absl::Status SessionChannel::status() const {
  const MutexLock lock(mutex_);
  return Closed();
}

absl::Time SessionChannel::Deadline(absl::Duration timeout) const {
  return std::min(Clock::Real().Now() + timeout, deadline_ + kGrace);
}

absl::Status SessionChannel::TooLate(const std::string& what) const {
  return absl::DeadlineExceededError(absl::StrCat(target_, ": no end of ", what, " in time"));
}

}  // namespace opserve::client
