#include "server/transport/services/session_service.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "core/base/shared_limit.h"
#include "core/base/status_macros.h"
#include "core/base/thread.h"
#include "opserve/v1/session.grpc.pb.h"
#include "server/codec/status_details.h"
#include "server/transport/messages/status.h"
#include "server/transport/services/session_call.h"
#include "server/transport/unary/call_metadata.h"

namespace opserve::server {
namespace {

constexpr std::chrono::milliseconds kTick{50};

using Calls = std::vector<std::shared_ptr<SessionCall>>;

// The sessions there are, and a thread that looks at them now and then.
class SessionKeeper {
 public:
  explicit SessionKeeper(const Clock& clock)
      : clock_(clock),
        thread_(StartThread("the thread that looks at sessions", [this] { Run(); })) {}

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
      for (const std::shared_ptr<SessionCall>& call : living) call->StopIfLeft();
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

// How many sessions there are, and whose they are. Thread-safe.
class SessionPlaces {
 public:
  SessionPlaces(int64_t most, double client_share) : places_(most, client_share) {}

  absl::Status Take(ClientId client) {
    const MutexLock lock(mutex_);
    const SharedLimit::Verdict verdict = places_.Take(client, 1);
    if (verdict == SharedLimit::Verdict::kGranted) return absl::OkStatus();
    return MakeError(
        {.reason = ErrorReason::kResourceLimit,
         .op = {},
         .parameter = "session",
         .want = verdict == SharedLimit::Verdict::kFull
                     ? absl::StrCat("at most ", places_.limit(), " sessions")
                     : absl::StrCat("at most ", places_.MostOf(client), " sessions of one client"),
         .got = "one more"});
  }
  void Return(ClientId client) {
    const MutexLock lock(mutex_);
    places_.Return(client, 1);
  }
  int64_t taken() const {
    const MutexLock lock(mutex_);
    return places_.used();
  }

 private:
  mutable Mutex mutex_;
  SharedLimit places_ ABSL_GUARDED_BY(mutex_);
};

using SessionMethods =
    v1::SessionService::WithRawCallbackMethod_Session<v1::SessionService::Service>;

class SessionService final : public SessionMethods, public SessionServer {
 public:
  SessionService(Engine& engine, const SessionServiceOptions& options)
      : engine_(engine),
        options_(options),
        places_(options.max_sessions, options.client_share),
        keeper_(*options.clock) {}

  grpc::Service& service() override { return *this; }

  void Drain() override {
    draining_ = true;
    for (const std::shared_ptr<SessionCall>& call : keeper_.Living()) call->Drain();
  }

  int64_t num_sessions() const override { return places_.taken(); }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Session(
      grpc::CallbackServerContext* context) override {
    // Before anything is made: clients may open sessions only to take them back.
    const absl::StatusOr<ClientId> admitted = Admit(*context);
    if (!admitted.ok()) {
      options_.counters->SessionRefused();
      options_.counters->Failed("Session", ReasonOf(admitted.status()), admitted.status());
      TellRefused(admitted.status(), *context);
      return new RefusedCall(admitted.status());
    }
    const ClientId client = *admitted;
    const std::shared_ptr<SessionCall> call =
        SessionCall::Start(engine_, options_,
                           {.client = client,
                            .connection = options_.connections->Find(context->peer()),
                            .on_end = [this, client] { places_.Return(client); }},
                           *context);
    keeper_.Add(call);
    if (draining_) call->Drain();
    return call.get();
  }

 private:
  // The client, for which a place is taken.
  absl::StatusOr<ClientId> Admit(const grpc::CallbackServerContext& context) {
    OPSERVE_ASSIGN_OR_RETURN(const Caller caller, options_.gate->Admit(Role::kSession, context));
    if (draining_) return MakeError({.reason = ErrorReason::kDraining});
    const ClientId client = caller.client();
    OPSERVE_RETURN_IF_ERROR(places_.Take(client));
    return client;
  }

  void TellRefused(const absl::Status& status, const grpc::CallbackServerContext& context) const {
    options_.observer->log().Write(status, [&]() {
      CallRecord record = RecordOf(kSessionMethod, context);
      TakeStatus(status, record);
      return record;
    });
  }

  Engine& engine_;
  const SessionServiceOptions options_;
  std::atomic<bool> draining_ = false;
  SessionPlaces places_;  // before the sessions, which give them back
  SessionKeeper keeper_;
};

}  // namespace

std::unique_ptr<SessionServer> MakeSessionServer(Engine& engine,
                                                 const SessionServiceOptions& options) {
  return std::make_unique<SessionService>(engine, options);
}

}  // namespace opserve::server
