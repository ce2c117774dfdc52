#include "server/transport/services/health_service.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "server/transport/messages/control_message.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/messages/status.h"

namespace opserve::server {
namespace {

namespace health = grpc::health::v1;
using ServingStatus = health::HealthCheckResponse::ServingStatus;

using HealthMethods = health::Health::WithRawCallbackMethod_Check<
    health::Health::WithRawCallbackMethod_Watch<health::Health::Service>>;

grpc::ByteBuffer Encode(ServingStatus status) {
  health::HealthCheckResponse response;
  response.set_status(status);
  return WriteMessage(response);
}

class WatchCall;

// What is served, and who watches it.
class Board {
 public:
  explicit Board(std::span<const std::string_view> services)
      : names_(services.begin(), services.end()) {
    names_.emplace_back();
  }

  ServingStatus StatusOf(const std::string& service) const {
    if (std::find(names_.begin(), names_.end(), service) == names_.end())
      return health::HealthCheckResponse::SERVICE_UNKNOWN;
    const MutexLock lock(mutex_);
    return status_;
  }

  void SetServing(bool serving);
  void Add(WatchCall& watch);
  void Remove(WatchCall& watch);

 private:
  std::vector<std::string> names_;
  mutable Mutex mutex_;
  ServingStatus status_ ABSL_GUARDED_BY(mutex_) = health::HealthCheckResponse::NOT_SERVING;
  absl::flat_hash_set<WatchCall*> watches_ ABSL_GUARDED_BY(mutex_);  // of names that there are
};

// One call of Watch. Owned by gRPC: lives until OnDone.
class WatchCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  WatchCall(Board& board, const grpc::ByteBuffer& request, int64_t max_inflated_bytes)
      : board_(board) {
    health::HealthCheckRequest asked;
    const absl::Status status = ReadControlMessage(request, max_inflated_bytes, asked);
    if (!status.ok()) {
      End(ToGrpcStatus(status));
      return;
    }
    const ServingStatus first = board_.StatusOf(asked.service());
    if (first == health::HealthCheckResponse::SERVICE_UNKNOWN)
      Tell(first);
    else
      board_.Add(*this);
  }

  // The last of them is what the client learns, if it is slow.
  void Tell(ServingStatus status) {
    const MutexLock lock(mutex_);
    latest_ = status;
    Advance();
  }

 private:
  void OnWriteDone(bool ok) override {
    const MutexLock lock(mutex_);
    is_writing_ = false;
    if (ok) Advance();
  }

  void OnCancel() override { End(grpc::Status::CANCELLED); }

  void OnDone() override {
    board_.Remove(*this);
    delete this;
  }

  void End(const grpc::Status& status) {
    const MutexLock lock(mutex_);
    if (!std::exchange(has_ended_, true)) Finish(status);
  }

  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (has_ended_ || is_writing_ || latest_ == told_) return;
    is_writing_ = true;
    told_ = latest_;
    bytes_ = Encode(told_);
    StartWrite(&bytes_);
  }

  Board& board_;
  Mutex mutex_;
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  ServingStatus latest_ ABSL_GUARDED_BY(mutex_) = health::HealthCheckResponse::UNKNOWN;
  ServingStatus told_ ABSL_GUARDED_BY(mutex_) = health::HealthCheckResponse::UNKNOWN;
  grpc::ByteBuffer bytes_ ABSL_GUARDED_BY(mutex_);
};

void Board::SetServing(bool serving) {
  const MutexLock lock(mutex_);
  status_ =
      serving ? health::HealthCheckResponse::SERVING : health::HealthCheckResponse::NOT_SERVING;
  for (WatchCall* watch : watches_) watch->Tell(status_);
}

void Board::Add(WatchCall& watch) {
  const MutexLock lock(mutex_);
  watches_.insert(&watch);
  watch.Tell(status_);
}

void Board::Remove(WatchCall& watch) {
  const MutexLock lock(mutex_);
  watches_.erase(&watch);
}

class OwnHealthService final : public HealthService, public HealthMethods {
 public:
  OwnHealthService(std::span<const std::string_view> services, int64_t max_inflated_bytes)
      : board_(services), max_inflated_bytes_(max_inflated_bytes) {}

  grpc::Service& service() override { return *this; }
  void SetServing(bool serving) override { board_.SetServing(serving); }

 private:
  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(AnswerCheck(*request, *response));
    return reactor;
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Watch(grpc::CallbackServerContext* /*context*/,
                                                    const grpc::ByteBuffer* request) override {
    return new WatchCall(board_, *request, max_inflated_bytes_);
  }

  grpc::Status AnswerCheck(const grpc::ByteBuffer& request, grpc::ByteBuffer& response) const {
    health::HealthCheckRequest asked;
    const absl::Status status = ReadControlMessage(request, max_inflated_bytes_, asked);
    if (!status.ok()) return ToGrpcStatus(status);
    const ServingStatus serving = board_.StatusOf(asked.service());
    if (serving == health::HealthCheckResponse::SERVICE_UNKNOWN)
      return {grpc::StatusCode::NOT_FOUND, absl::StrCat("there is no service ", asked.service())};
    response = Encode(serving);
    return grpc::Status::OK;
  }

  Board board_;
  const int64_t max_inflated_bytes_;
};

}  // namespace

std::unique_ptr<HealthService> MakeHealthService(std::span<const std::string_view> services,
                                                 int64_t max_inflated_bytes) {
  return std::make_unique<OwnHealthService>(services, max_inflated_bytes);
}

}  // namespace opserve::server
