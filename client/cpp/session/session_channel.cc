#include "client/cpp/session/session_channel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/clock.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::client {
namespace {

constexpr char kMethod[] = "/opserve.v1.SessionService/Session";

// Small commands that wait go in one message of about this size.
constexpr size_t kGroupBytes = size_t{64} << 10;

// Quiet commands wait for others to go with: this many at most, and about as long.
constexpr size_t kMaxWaiting = 8;
constexpr absl::Duration kMaxWait = absl::Milliseconds(1);

// What a pending command is told when the session ends.
void EndCommand(OnAnswer& handler, const absl::Status& status) {
  SessionAnswer answer;
  answer.status = status;
  handler(answer);
}

}  // namespace

SessionChannel::SessionChannel(std::string target, RpcOptions options,
                               absl::AnyInvocable<void()> on_draining)
    : target_(std::move(target)),
      options_(std::move(options)),
      deadline_(Clock::Real().Now() + options_.timeout),
      on_draining_(std::move(on_draining)) {}

void SessionChannel::Start(Connection& connection) {
  stream_ = connection.NewStream(kMethod, options_, shared_from_this());
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

void SessionChannel::CancelCommand(uint64_t id) {
  if (id == 0) return;
  Command command;
  command.meaning = "Cancel";
  command.message.mutable_cancel()->set_command(id);
  Send(std::move(command));
}

uint64_t SessionChannel::SendWith(Command command, const Handler& handler) {
  const bool is_quiet = handler == nullptr;
  command.message.set_quiet(is_quiet);
  const ExpectedAnswer expected = ExpectedOf(command.message);
  OutgoingMessage message(std::move(command.message), command.raw);
  const bool may_wait = (is_quiet || command.may_wait) && message.is_copied() &&
                        message.size_bytes() < kGroupBytes / kMaxWaiting;
  absl::Status refused = CheckSize(message.size_bytes(), command.meaning);
  uint64_t id = 0;
  bool flush_later = false;
  {
    const MutexLock lock(mutex_);
    const absl::Status closed = Closed();
    if (!closed.ok()) refused = closed;
    if (refused.ok()) {
      id = Queue(std::move(message),
                 {std::move(command.meaning), command.stream, command.context, !is_quiet});
      if (!is_quiet) pending_.emplace(id, Pending{handler, expected});
      // Where nothing is due, all that waits is small, and in one message.
      if (!may_wait || queue_.size() > 1 || queue_.back().commands() >= kMaxWaiting) due_ = true;
      flush_later = !due_ && !std::exchange(flush_comes_, true);
    }
    if (closed.ok() && !refused.ok() && is_quiet)
      failures_.Keep(refused, command.stream, command.context);
  }
  if (flush_later) FlushSoon();
  if (id != 0) Pump();
  if (id == 0 && !is_quiet) EndCommand(*handler, refused);
  return id;
}

absl::Status SessionChannel::CheckSize(size_t bytes, const std::string& meaning) const {
  const size_t most = std::min(static_cast<size_t>(info_.max_message_bytes), kTransportMaxBytes);
  if (bytes <= most) return absl::OkStatus();
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = meaning,
                    .want = absl::StrCat("a message of at most ", most,
                                         " bytes (max_message_bytes of ", target_, ")"),
                    .got = absl::StrCat(bytes, " bytes")});
}

uint64_t SessionChannel::Queue(OutgoingMessage message, SentCommand command) {
  const uint64_t id = sent_.Add(std::move(command), info_.max_queued_commands);
  message.SetId(id);
  queued_bytes_ += message.size_bytes();
  // Half: a raw_index may take more bytes behind other commands, but not twice as many in all.
  const size_t most = std::min(kGroupBytes, static_cast<size_t>(info_.max_message_bytes) / 2);
  const bool goes_along = !queue_.empty() && queue_.back().is_copied() && message.is_copied() &&
                          queue_.back().size_bytes() + message.size_bytes() <= most;
  if (goes_along)
    queue_.back().Append(std::move(message));
  else
    queue_.push_back(std::move(message));
  return id;
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
  std::optional<OutgoingMessage> next;
  {
    const MutexLock lock(mutex_);
    if (writing_ || end_.has_value()) return;
    if (queue_.empty() ? !closing_ : !due_ && !closing_) return;
    writing_ = true;
    if (!queue_.empty()) {
      next = std::move(queue_.front());
      queue_.pop_front();
      written_bytes_ = next->size_bytes();
    }
    if (queue_.empty()) due_ = false;
  }
  next.has_value() ? stream_->Write(next->Take()) : stream_->HalfClose();
}

void SessionChannel::OnWritten() {
  {
    const MutexLock lock(mutex_);
    writing_ = false;
    queued_bytes_ -= std::exchange(written_bytes_, 0);
    changed_.NotifyAll();
  }
  Pump();
}

void SessionChannel::WaitForTransport(size_t most_bytes) {
  const MutexLock lock(mutex_);
  while (queued_bytes_ > most_bytes && !end_.has_value() && !fault_.has_value())
    changed_.Wait(mutex_);
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
  absl::StatusOr<std::vector<SessionAnswer>> answers = ReadSessionAnswers(message);
  if (!answers.ok()) return Fault(answers.status());
  for (SessionAnswer& answer : *answers) Deliver(answer);
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
  std::deque<OutgoingMessage> dropped;
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
    if (!WaitUntil(deadline, changed_, mutex_)) return TooLate("the start of the session");
  }
  return has_info_ ? absl::OkStatus() : Closed();
}

std::optional<absl::Status> SessionChannel::WaitForEnd(absl::Time deadline) {
  const MutexLock lock(mutex_);
  while (!end_.has_value()) {
    if (!WaitUntil(deadline, changed_, mutex_)) return std::nullopt;
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
