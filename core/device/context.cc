#include "core/device/context.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve {
namespace {

// Several streams' answers to one question.
class Gathering {
 public:
  Gathering(size_t streams, absl::AnyInvocable<void(Stream::Failure)> done)
      : failures_(streams), left_(streams), done_(std::move(done)) {}

  void Answer(size_t stream, Stream::Failure failure) {
    failures_[stream] = std::move(failure);
    if (left_.fetch_sub(1) == 1) Tell();
  }

 private:
  void Tell() {
    const auto failed = [](const Stream::Failure& failure) { return !failure.status.ok(); };
    const auto first = std::find_if(failures_.begin(), failures_.end(), failed);
    done_(first == failures_.end() ? Stream::Failure() : std::move(*first));
  }

  std::vector<Stream::Failure> failures_;  // each written by one stream, read after the last
  std::atomic<size_t> left_;
  absl::AnyInvocable<void(Stream::Failure)> done_;
};

uint64_t NextId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1);
}

}  // namespace

Context::Context(Device& device, std::shared_ptr<MemoryBudget> budget, const Clock& clock,
                 ClientId client)
    : device_(device), id_(NextId()), budget_(std::move(budget)), clock_(clock), client_(client) {}

Context::~Context() { Abandon(); }

void Context::Abandon() {
  std::map<uint64_t, std::shared_ptr<Stream>> streams;
  {
    MutexLock lock(mutex_);
    streams.swap(streams_);
    numbers_.clear();
  }
  for (const auto& [number, stream] : streams) stream->Abandon();
}

bool Context::Owns(const Stream& stream) const {
  MutexLock lock(mutex_);
  return numbers_.contains(&stream);
}

size_t Context::num_streams() const {
  MutexLock lock(mutex_);
  return streams_.size();
}

std::shared_ptr<Stream> Context::CreateStream(Stream::OnFailure on_failure) {
  std::shared_ptr<Stream> stream = Stream::Create(device_.workers(), clock_, on_failure, client_);
  MutexLock lock(mutex_);
  numbers_[stream.get()] = next_number_;
  streams_[next_number_++] = stream;
  return stream;
}

absl::Status Context::DestroyStream(const std::shared_ptr<Stream>& stream) {
  {
    MutexLock lock(mutex_);
    const auto at = numbers_.find(stream.get());
    if (at == numbers_.end()) {
      return InvalidParameter("stream", "a stream of this context", "another context's");
    }
    streams_.erase(at->second);
    numbers_.erase(at);
  }
  stream->Abandon();
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<DeviceBuffer>> Context::Allocate(int64_t bytes,
                                                                std::string_view parameter,
                                                                Contents contents) {
  if (bytes < 0) return OutOfRange(parameter, ">= 0", absl::StrCat(bytes));
  OPSERVE_ASSIGN_OR_RETURN(MemoryBudget::Share share, budget_->Take(bytes, parameter));
  const Lessee lessee = {.client = client_, .reader = contents == Contents::kOwn ? id_ : 0};
  OPSERVE_ASSIGN_OR_RETURN(PooledBuffer memory,
                           device_.memory().Acquire(static_cast<size_t>(bytes), lessee));
  return std::make_shared<DeviceBuffer>(device_, id_, std::move(share), std::move(memory));
}

void Context::Synchronize(absl::AnyInvocable<void(Stream::Failure)> done) {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    MutexLock lock(mutex_);
    for (const auto& [number, stream] : streams_) streams.push_back(stream);
  }
  if (streams.empty()) return done(Stream::Failure());
  const auto gathering = std::make_shared<Gathering>(streams.size(), std::move(done));
  for (size_t i = 0; i < streams.size(); ++i) {
    streams[i]->Synchronize(
        [gathering, i](Stream::Failure failure) { gathering->Answer(i, std::move(failure)); });
  }
}

}  // namespace opserve
