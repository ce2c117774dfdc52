// Requests that wait for an answer which another thread may bring.
#pragma once

#include <poll.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "core/base/mutex.h"
#include "server/http/port/http_messages.h"

struct MHD_Connection;

namespace opserve::server {

class WaitingCalls;

class WaitingCall final : public HttpCall, public std::enable_shared_from_this<WaitingCall> {
 public:
  // `calls` must outlive it while it waits.
  WaitingCall(WaitingCalls& calls, MHD_Connection* connection, int socket)
      : calls_(calls), connection_(connection), socket_(socket) {}

  void Answer(HttpResponse response) override;
  bool IsCancelled() const override { return is_cancelled_; }

  // ---- the port's thread's ----

  void Cancel() { is_cancelled_ = true; }
  // The answer, if there is one. Otherwise it waits among the calls until TakeAnswered has it.
  std::optional<HttpResponse> TakeAnswerOrWait();

  MHD_Connection* connection() const { return connection_; }
  int socket() const { return socket_; }
  // Of the answer, until it is sent; 0 before there is one.
  size_t answer_bytes();

 private:
  WaitingCalls& calls_;
  MHD_Connection* const connection_;
  const int socket_;
  std::atomic<bool> is_cancelled_ = false;
  Mutex mutex_;
  bool waits_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<HttpResponse> answer_ ABSL_GUARDED_BY(mutex_);
};

// Those of a port.
class WaitingCalls {
 public:
  // `wake` is an eventfd, which is written to when a call is answered.
  explicit WaitingCalls(int wake) : wake_(wake) {}

  // Any thread.
  void NoteAnswered(std::shared_ptr<WaitingCall> call);

  // ---- the port's thread's ----

  bool empty() const { return waiting_.empty(); }
  void Add(WaitingCall& call) { waiting_.insert(&call); }
  // Those that were answered; they wait no more.
  std::vector<std::shared_ptr<WaitingCall>> TakeAnswered();
  void CancelAll();

  // Adds what tells that a client has left, and finds out whose did once it was polled.
  void AddTo(std::vector<pollfd>& polled) const;
  void CancelThoseThatLeft(std::span<const pollfd> polled);

 private:
  const int wake_;
  absl::flat_hash_set<WaitingCall*> waiting_;
  Mutex mutex_;
  std::vector<std::shared_ptr<WaitingCall>> answered_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
