#include "client/cpp/transport/answer_memory.h"

#include <algorithm>
#include <bit>

namespace opserve::client {
namespace {

// What holding a message takes beside its bytes, where these come in frames of the usual size.
constexpr int64_t kOverheadDivisor = 8;

}  // namespace

AnswerMemory::AnswerMemory(int64_t answer_bytes) : answer_bytes_(answer_bytes), quota_("opserve") {
  Add(0);
}

AnswerRoom AnswerMemory::Reserve() {
  Add(1);
  const auto give_back = [self = shared_from_this()](const void* /*same*/) { self->Add(-1); };
  return {answer_bytes_, std::shared_ptr<const void>(static_cast<const void*>(this), give_back)};
}

// Resizing may run work of gRPC's, which may end calls and so come here again: no lock is held.
void AnswerMemory::Add(int64_t rooms) {
  rooms_.fetch_add(rooms);
  const auto wanted = [this] {
    return std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, rooms_.load())));
  };
  while (granted_.load() != wanted() && !resizing_.exchange(true)) {
    const uint64_t granted = wanted();
    const auto bytes = static_cast<uint64_t>(answer_bytes_ + answer_bytes_ / kOverheadDivisor);
    quota_.Resize(static_cast<uint64_t>(kConstantBytes) + granted * bytes);
    granted_.store(granted);
    resizing_.store(false);
  }
}

}  // namespace opserve::client
