#include "client/cpp/session_channel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/read_message.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

constexpr char kMethod[] = "/opserve.v1.SessionService/Session";

// How long after the session's deadline a wait goes on for the transport to say so.
constexpr absl::Duration kGrace = absl::Milliseconds(200);

// Commands whose meaning is remembered, at least.
constexpr size_t kMinRemembered = 1024;

// What a message has beside its header and an entry's bytes, at most.
constexpr size_t kFramingBytes = 16;

// Small commands that wait go in one message of about this size.
constexpr size_t kGroupBytes = size_t{64} << 10;

// Quiet commands wait for others to go with: this many at most, and about as long.
constexpr size_t kMaxWaiting = 8;
constexpr absl::Duration kMaxWait = absl::Milliseconds(1);

constexpr uint32_t kCommandsTag = v1::SessionRequest::kCommandsFieldNumber << 3 | 2;

constexpr char kIdTag = v1::SessionRequest::kIdFieldNumber << 3;

SessionInfo ReadInfo(const v1::SessionInfo& message) {
  SessionInfo info;
  info.memory_limit_bytes = message.memory_limit_bytes();
  info.max_handles = message.max_handles();
  info.max_queued_commands = message.max_queued_commands();
  info.window_bytes = message.window_bytes();
  info.max_skew_bytes = message.max_skew_bytes();
  info.recommended_chunk_bytes = message.recommended_chunk_bytes();
  info.max_message_bytes = message.max_message_bytes();
  return info;
}

absl::Status CheckInfo(const SessionInfo& info) {
  if (info.recommended_chunk_bytes > 0 && info.max_message_bytes > 0 && info.max_skew_bytes > 0)
    return absl::OkStatus();
  return BadAnswer("SessionInfo", "limits that are not positive");
}

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
      deadline_(absl::Now() + timeout),
      on_draining_(std::move(on_draining)) {}

void SessionChannel::Start(Connection& connection) {
  stream_ = connection.NewStream(kMethod, timeout_, shared_from_this());
  stream_->Start();
}

uint64_t SessionChannel::NewObject() {
  const MutexLock lock(mutex_);
  objects_.insert(++last_object_);
  return last_object_;
}

void SessionChannel::Forget(uint64_t object) {
  const MutexLock lock(mutex_);
  objects_.erase(object);
  std::vector<Failure> failures;
  failures.swap(failures_);
  for (const Failure& failure : failures)
    KeepFailure(failure.status, failure.stream, failure.context);
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
      KeepFailure(refused, command.stream, command.context);
  }
  if (flush_later) FlushSoon();
  if (id != 0) Pump();
  if (id == 0 && handler != nullptr) EndCommand(*handler, refused);
  return id;
}

absl::Status SessionChannel::CheckSize(const Command& command, size_t header_bytes) const {
  size_t bytes = header_bytes;
  for (const RawEntry& entry : command.raw) bytes += entry.bytes.size();
  const auto most = static_cast<size_t>(info_.max_message_bytes);
  if (bytes + kFramingBytes * (command.raw.size() + 1) <= most) return absl::OkStatus();
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = command.meaning,
                    .want = absl::StrCat("a message of at most ", most,
                                         " bytes (max_message_bytes of ", target_, ")"),
                    .got = absl::StrCat(bytes, " bytes")});
}

uint64_t SessionChannel::Queue(Command& command, const std::string& body, const Handler& handler) {
  const uint64_t id = ++last_command_;
  std::string head(1, kIdTag);
  AppendVarint(id, head);
  Request& request = queue_.emplace_back();
  request.AppendCopy(head);
  request.AppendCopy(body);
  for (const RawEntry& entry : command.raw)
    AppendRaw(v1::SessionRequest::kRawFieldNumber, entry, request);
  if (handler != nullptr) pending_.emplace(id, handler);
  Remember(command);
  return id;
}

void SessionChannel::Remember(Command& command) {
  sent_.push_back({std::move(command.meaning), command.stream, command.context});
  const size_t most = std::max(kMinRemembered, static_cast<size_t>(info_.max_queued_commands));
  while (sent_.size() > most) sent_.pop_front();
}

const SessionChannel::Sent* SessionChannel::Recall(uint64_t command) const {
  const uint64_t age = last_command_ - command;
  return command == 0 || age >= sent_.size() ? nullptr : &sent_[sent_.size() - 1 - age];
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
  SessionMessage read;
  absl::Status status = ReadSessionMessage(message, read);
  if (!status.ok()) return Fault(std::move(status));
  for (SessionAnswer& answer : read.answers) Deliver(answer);
}

void SessionChannel::Deliver(SessionAnswer& answer) {
  const uint64_t id = answer.message.id();
  if (id == 0) return OnNotice(answer);
  Handler handler;
  bool sent = false;
  {
    const MutexLock lock(mutex_);
    sent = id <= last_command_;
    if (const auto found = pending_.find(id); found != pending_.end()) {
      handler = found->second;
      if (answer.last) pending_.erase(found);
    }
  }
  if (!sent)
    return Fault(BadAnswer("SessionResponse", absl::StrCat("command ", id, " was not sent")));
  if (handler != nullptr) return (*handler)(answer);
  if (answer.status.ok()) return;
  const absl::Status failure = Explain(answer.status, id);
  const MutexLock lock(mutex_);
  if (const Sent* command = Recall(id)) KeepFailure(failure, command->stream, command->context);
}

void SessionChannel::OnNotice(const SessionAnswer& answer) {
  absl::AnyInvocable<void()> on_draining;
  if (answer.message.has_info()) {
    const SessionInfo info = ReadInfo(answer.message.info());
    absl::Status sound = CheckInfo(info);
    if (!sound.ok()) return Fault(std::move(sound));
    const MutexLock lock(mutex_);
    if (has_info_) return;
    info_ = info;
    has_info_ = true;
    changed_.NotifyAll();
  } else if (answer.message.has_draining()) {
    const MutexLock lock(mutex_);
    if (!std::exchange(draining_, true)) on_draining = std::move(on_draining_);
  }
  if (on_draining) on_draining();
}

void SessionChannel::KeepFailure(const absl::Status& status, uint64_t stream, uint64_t context) {
  if (!objects_.contains(context)) return;
  if (!objects_.contains(stream)) stream = 0;
  const auto same = [&](const Failure& failure) {
    return failure.stream == stream && failure.context == context;
  };
  if (std::none_of(failures_.begin(), failures_.end(), same))
    failures_.push_back({status, stream, context});
}

void SessionChannel::Keep(const absl::Status& status, uint64_t stream, uint64_t context) {
  const MutexLock lock(mutex_);
  KeepFailure(status, stream, context);
}

absl::Status SessionChannel::TakeFailure(uint64_t stream, uint64_t context) {
  const MutexLock lock(mutex_);
  absl::Status first;
  const auto taken = [&](const Failure& failure) {
    const bool mine = failure.context == context &&
                      (stream == 0 || failure.stream == 0 || failure.stream == stream);
    if (mine && first.ok()) first = failure.status;
    return mine;
  };
  failures_.erase(std::remove_if(failures_.begin(), failures_.end(), taken), failures_.end());
  return first;
}

absl::Status SessionChannel::Explain(const absl::Status& status, uint64_t command) const {
  if (status.ok() || command == 0) return status;
  std::string meaning;
  {
    const MutexLock lock(mutex_);
    if (const Sent* sent = Recall(command)) meaning = absl::StrCat(sent->meaning, ", ");
  }
  absl::Status explained(status.code(), absl::StrCat(status.message(), " (", meaning, "command ",
                                                     command, " of the session)"));
  status.ForEachPayload([&explained](absl::string_view url, const absl::Cord& payload) {
    explained.SetPayload(url, payload);
  });
  return explained;
}

void SessionChannel::Fault(absl::Status status) {
  {
    const MutexLock lock(mutex_);
    if (!fault_.has_value()) fault_ = std::move(status);
  }
  stream_->Cancel();
}

void SessionChannel::OnEnded(absl::Status status) {
  absl::flat_hash_map<uint64_t, Handler> pending;
  std::deque<Request> dropped;
  absl::Status end;
  {
    const MutexLock lock(mutex_);
    end_ = fault_.has_value() ? *fault_ : std::move(status);
    end = end_->ok() ? Closed() : *end_;
    pending.swap(pending_);
    dropped.swap(queue_);
    changed_.NotifyAll();
  }
  dropped.clear();
  for (const auto& [id, handler] : pending) EndCommand(*handler, end);
}

absl::Status SessionChannel::Closed() const {
  if (end_.has_value() && !end_->ok()) return *end_;
  if (!end_.has_value() && !closing_) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(target_, ": the session is closed"));
}

absl::Status SessionChannel::WaitForInfo(absl::Time deadline) {
  const MutexLock lock(mutex_);
  while (!has_info_ && !end_.has_value()) {
    if (deadline == absl::InfiniteFuture()) {
      changed_.Wait(mutex_);
      continue;
    }
    const absl::Duration left = deadline - absl::Now();
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
    const absl::Duration left = deadline - absl::Now();
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
  return std::min(absl::Now() + timeout, deadline_ + kGrace);
}

absl::Status SessionChannel::TooLate(const std::string& what) const {
  return absl::DeadlineExceededError(absl::StrCat(target_, ": no end of ", what, " in time"));
}

}  // namespace opserve::client
