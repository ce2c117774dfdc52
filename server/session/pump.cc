#include "server/session/pump.h"

#include <algorithm>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::server {

// One chunk, on a worker.
class Pump::Turn final : public WorkerPool::Task {
 public:
  Turn(std::shared_ptr<Pump> pump, int64_t bytes) : pump_(std::move(pump)), bytes_(bytes) {}

  void Run() override {
    absl::Status status = pump_->SendChunk(bytes_);
    if (!status.ok()) return pump_->End(std::move(status));
    pump_->Proceed();
  }

 private:
  const std::shared_ptr<Pump> pump_;
  const int64_t bytes_;
};

Pump::Pump(Device& device, std::shared_ptr<MemoryPool> staging, std::shared_ptr<Ticket> ticket,
           std::vector<Source> sources, int64_t chunk_bytes,
           absl::AnyInvocable<void(absl::Status)> done)
    : device_(device),
      staging_(std::move(staging)),
      ticket_(std::move(ticket)),
      sources_(std::move(sources)),
      chunk_bytes_(chunk_bytes),
      done_(std::move(done)) {}

void Pump::Start(Device& device, std::shared_ptr<MemoryPool> staging,
                 std::shared_ptr<Ticket> ticket, std::vector<Source> sources, int64_t chunk_bytes,
                 absl::AnyInvocable<void(absl::Status)> done) {
  const std::shared_ptr<Pump> pump(new Pump(device, std::move(staging), std::move(ticket),
                                            std::move(sources), chunk_bytes, std::move(done)));
  pump->Proceed();
}

void Pump::Proceed() {
  while (source_ < sources_.size() && offset_bytes_ == sources_[source_].memory.size_bytes()) {
    ++source_;
    offset_bytes_ = 0;
  }
  if (source_ == sources_.size()) return End(absl::OkStatus());
  const int64_t bytes =
      std::min(chunk_bytes_, sources_[source_].memory.size_bytes() - offset_bytes_);
  ticket_->flow().Reserve(
      bytes, [self = shared_from_this(), bytes](bool granted) { self->OnRoom(granted, bytes); });
}

void Pump::OnRoom(bool granted, int64_t bytes) {
  if (!granted) return End(MakeError({.reason = ErrorReason::kCancelled}));
  device_.workers().Enqueue(std::make_unique<Turn>(shared_from_this(), bytes),
                            WorkerPool::Size::kAny, ticket_->flow().memory()->client());
}

absl::Status Pump::SendChunk(int64_t bytes) {
  absl::StatusOr<PooledBuffer> chunk = FetchChunk(bytes);
  if (!chunk.ok()) {
    ticket_->flow().Unreserve(bytes);
    return chunk.status();
  }
  Answer answer;
  answer.header.mutable_chunk()->set_output(sources_[source_].output);
  answer.header.mutable_chunk()->set_offset_bytes(offset_bytes_);
  answer.raw.push_back(*std::move(chunk));
  ticket_->SendReserved(std::move(answer), bytes);
  offset_bytes_ += bytes;
  return absl::OkStatus();
}

absl::StatusOr<PooledBuffer> Pump::FetchChunk(int64_t bytes) {
  OPSERVE_RETURN_IF_ERROR(ticket_->CheckGoesOn());
  OPSERVE_ASSIGN_OR_RETURN(PooledBuffer chunk, staging_->Acquire(static_cast<size_t>(bytes)));
  OPSERVE_RETURN_IF_ERROR(
      device_.Download(sources_[source_].memory, offset_bytes_, {chunk.data(), chunk.size()}));
  return chunk;
}

void Pump::End(absl::Status status) {
  absl::AnyInvocable<void(absl::Status)> done = std::move(done_);
  done(std::move(status));
}

}  // namespace opserve::server
