#include "server/services/session_service.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "opserve/v1/session.grpc.pb.h"
#include "server/services/session_call.h"
#include "server/wire/status.h"
#include "server/wire/status_details.h"

namespace opserve::server {
namespace {

constexpr std::chrono::milliseconds kTick{50};

using Calls = std::vector<std::shared_ptr<SessionCall>>;

// The sessions there are, and a thread that looks at them now and then.
class SessionKeeper {
 public:
  explicit SessionKeeper(const Clock& clock) : clock_(clock), thread_([this] { Run(); }) {}

  ~SessionKeeper() {
    {
      MutexLock lock(mutex_);
      over_ = true;
    }
    changed_.NotifyAll();
    thread_.join();
  }

  void Add(const std::shared_ptr<SessionCall>& call) {
    {
      MutexLock lock(mutex_);
      calls_.emplace_back(call);
    }
    changed_.NotifyAll();
  }

  Calls Living() const {
    MutexLock lock(mutex_);
    return LivingLocked();
  }

 private:
  Calls LivingLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Calls living;
    for (const std::weak_ptr<SessionCall>& weak : calls_) {
      if (std::shared_ptr<SessionCall> call = weak.lock()) living.push_back(std::move(call));
    }
    return living;
  }

  void Run() {
    for (;;) {
      Calls living;
      {
        MutexLock lock(mutex_);
        std::erase_if(calls_, [](const auto& weak) { return weak.expired(); });
        while (!over_ && calls_.empty()) changed_.Wait(mutex_);
        if (!over_) changed_.WaitFor(mutex_, kTick);
        if (over_) return;
        living = LivingLocked();
      }
      for (const std::shared_ptr<SessionCall>& call : living) call->Tick(clock_.Now());
    }
  }

  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<std::weak_ptr<SessionCall>> calls_ ABSL_GUARDED_BY(mutex_);
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// A session that is refused.
class RefusedCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit RefusedCall(const absl::Status& status) { Finish(ToGrpcStatus(status)); }

 private:
  void OnDone() override { delete this; }
};

using Methods = v1::SessionService::WithRawCallbackMethod_Session<v1::SessionService::Service>;

class SessionService final : public Methods, public SessionServer {
 public:
  SessionService(Engine& engine, const SessionServiceOptions& options)
      : engine_(engine), options_(options), keeper_(*options.clock) {}

  grpc::Service& service() override { return *this; }

  void Drain() override {
    draining_ = true;
    for (const std::shared_ptr<SessionCall>& call : keeper_.Living()) call->Drain();
  }

  int64_t num_sessions() const override { return static_cast<int64_t>(keeper_.Living().size()); }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Session(
      grpc::CallbackServerContext* context) override {
    const absl::Status status = Admit();
    if (!status.ok()) {
      options_.counters->SessionRefused();
      options_.counters->Failed(ReasonOf(status));
      return new RefusedCall(status);
    }
    const std::shared_ptr<SessionCall> call = SessionCall::Start(engine_, options_, *context);
    keeper_.Add(call);
    if (draining_) call->Drain();
    return call.get();
  }

 private:
  absl::Status Admit() const {
    if (draining_) return MakeError({.reason = ErrorReason::kDraining});
    if (num_sessions() < options_.max_sessions) return absl::OkStatus();
    return MakeError({.reason = ErrorReason::kResourceLimit,
                      .op = {},
                      .parameter = "session",
                      .want = absl::StrCat("at most ", options_.max_sessions, " sessions"),
                      .got = "one more"});
  }

  Engine& engine_;
  const SessionServiceOptions options_;
  std::atomic<bool> draining_ = false;
  SessionKeeper keeper_;
};

}  // namespace

std::unique_ptr<SessionServer> MakeSessionServer(Engine& engine,
                                                 const SessionServiceOptions& options) {
  return std::make_unique<SessionService>(engine, options);
}

}  // namespace opserve::server
