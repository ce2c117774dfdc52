#include "server/transport/unary/call_sample.h"

#include <chrono>

namespace opserve::server {
namespace {

constexpr int64_t kSmallCallsOfSample = 16;
// What a call's headers and frames are on the wire, about.
constexpr int64_t kFramingBytes = 64;

}  // namespace

CallSample::CallSample(const ConnectionTable& connections,
                       const grpc::CallbackServerContext& context, size_t request_bytes,
                       bool looks_at_all)
    : connections_(connections), context_(context) {
  if (request_bytes < kSmallRequestBytes && !looks_at_all) {
    static thread_local int64_t calls = 0;
    if (calls++ % kSmallCallsOfSample != 0) return;
    stands_for_ = kSmallCallsOfSample;
  }
  connection_ = connections.Find(context.peer());
  if (connection_ == nullptr) return;
  connection_->NoteMessages(stands_for_ * (static_cast<int64_t>(request_bytes) + kFramingBytes));
}

void CallSample::End() const {
  if (connection_ == nullptr || !context_.IsCancelled()) return;
  // A deadline that passed is no fault of its client's.
  if (context_.deadline() > std::chrono::system_clock::now())
    connections_.NoteResets(*connection_, stands_for_);
}

}  // namespace opserve::server
