#include "client/cpp/memory/local_memory.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "client/cpp/values/shared_region.h"
#include "core/base/clock.h"
#include "core/tensor/tensor_desc.h"

namespace opserve::client {
namespace {

constexpr absl::Duration kPatience = absl::Milliseconds(250);
constexpr absl::Duration kIdle = absl::Seconds(10);
constexpr absl::Duration kFirstPause = absl::Seconds(1);
constexpr absl::Duration kLongestPause = absl::Seconds(64);

bool IsLarge(const TensorView& view) {
  return view.shared.region == nullptr &&
         static_cast<int64_t>(view.storage.size()) >= kLeastSharedBytes;
}

int64_t Aligned(int64_t bytes) {
  constexpr auto kStep = static_cast<int64_t>(kTensorAlignment);
  return (bytes + kStep - 1) / kStep * kStep;
}

// Where the large inputs of a call lie, one behind the other. Views of one storage have one place.
class InputPlaces {
 public:
  explicit InputPlaces(const Call& call) {
    for (const auto& [name, view] : call.inputs()) {
      if (!IsLarge(view) || Find(view) != nullptr) continue;
      places_.push_back({view.storage, size_bytes_});
      size_bytes_ += Aligned(static_cast<int64_t>(view.storage.size()));
    }
  }

  int64_t size_bytes() const { return size_bytes_; }

  void CopyTo(std::span<std::byte> memory) const {
    for (const Place& place : places_)
      std::memcpy(memory.data() + place.offset, place.storage.data(), place.storage.size());
  }

  TensorView InRegion(const TensorView& view, std::shared_ptr<const SharedRegion> region) const {
    if (!IsLarge(view)) return view;
    TensorView placed = view;
    placed.owner = nullptr;
    placed.shared = {.region = std::move(region),
                     .offset_bytes = Find(view)->offset,
                     .size_bytes = static_cast<int64_t>(view.storage.size())};
    return placed;
  }

 private:
  struct Place {
    std::span<const std::byte> storage;
    int64_t offset = 0;
  };

  const Place* Find(const TensorView& view) const {
    const auto same = [&view](const Place& place) {
      return place.storage.data() == view.storage.data() &&
             place.storage.size() == view.storage.size();
    };
    const auto found = std::find_if(places_.begin(), places_.end(), same);
    return found == places_.end() ? nullptr : &*found;
  }

  std::vector<Place> places_;
  int64_t size_bytes_ = 0;
};

SharedTensorView WholeOf(const PlannedOutput& output, std::shared_ptr<const SharedRegion> region) {
  const int64_t bytes = output.desc.size_bytes();
  SharedTensorView view;
  view.dtype = output.desc.dtype;
  view.shape = output.desc.shape;
  view.storage = region->bytes.first(static_cast<size_t>(bytes));
  view.shared = {.region = std::move(region), .offset_bytes = 0, .size_bytes = bytes};
  return view;
}

bool SaysWhere(const Call& call, const std::string& output) {
  return std::any_of(call.outputs().begin(), call.outputs().end(),
                     [&](const auto& named) { return named.first == output; });
}

// `call` without its inputs, its outputs and what dtypes they have.
Call FrameOf(const Call& call) {
  Call frame = call.program() != nullptr ? Call(Program(*call.program())) : Call(call.op());
  frame.OnDevice(call.device());
  if (call.reports_execution()) frame.ReportExecution();
  for (const auto& [name, value] : call.attributes()) frame.Attribute(name, value);
  return frame;
}

}  // namespace

bool IsWorthSharing(const Call& call) {
  return std::any_of(call.inputs().begin(), call.inputs().end(),
                     [](const auto& input) { return IsLarge(input.second); });
}

LocalMemory::LocalMemory(int64_t limit_bytes)
    : budget_(std::make_shared<RegionBudget>(limit_bytes)), pause_(kFirstPause) {}

bool LocalMemory::BeginAsking() {
  const MutexLock lock(mutex_);
  if (pool_ != nullptr || is_asking_ || Clock::Real().Now() < off_until_) return false;
  return is_asking_ = true;
}

void LocalMemory::Learn(const absl::StatusOr<ServerInfo>& info, absl::Time deadline) {
  std::shared_ptr<RegionPool> pool;
  if (info.ok() && info->shared_memory_socket.starts_with('/')) {
    pool = std::make_shared<RegionPool>(info->shared_memory_socket, budget_, kPatience, kIdle);
    if (!pool->Connect(std::min(deadline, Clock::Real().Now() + kPatience)).ok()) pool = nullptr;
  }
  const bool has_some = pool != nullptr;
  {
    const MutexLock lock(mutex_);
    is_asking_ = false;
    pool_ = std::move(pool);
  }
  if (!has_some) TurnOff();
}

void LocalMemory::TurnOff() {
  std::shared_ptr<RegionPool> last;  // goes after the lock
  const MutexLock lock(mutex_);
  last.swap(pool_);
  off_until_ = Clock::Real().Now() + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

void LocalMemory::NoteSuccess() {
  const MutexLock lock(mutex_);
  pause_ = kFirstPause;
}

void LocalMemory::NoteRefusal() { TurnOff(); }

std::shared_ptr<RegionPool> LocalMemory::pool() const {
  const MutexLock lock(mutex_);
  return pool_;
}

std::optional<PlacedCall> LocalMemory::Place(const Call& call, const std::string& description,
                                             absl::Time deadline) {
  const std::shared_ptr<RegionPool> pool = this->pool();
  if (pool == nullptr) return std::nullopt;
  const auto take = [&](int64_t bytes) -> std::shared_ptr<SharedRegion> {
    absl::StatusOr<std::shared_ptr<SharedRegion>> region = pool->Take(bytes, deadline);
    if (region.ok()) return *std::move(region);
    if (!absl::IsResourceExhausted(region.status())) TurnOff();
    return nullptr;
  };
  const InputPlaces places(call);
  const std::shared_ptr<SharedRegion> inputs = take(places.size_bytes());
  if (inputs == nullptr) return std::nullopt;
  places.CopyTo(inputs->bytes);
  PlacedCall placed{.call = FrameOf(call), .regions = {inputs}};
  for (const auto& [name, view] : call.inputs())
    placed.call.Input(name, places.InRegion(view, inputs));
  for (const auto& [name, view] : call.outputs()) placed.call.Output(name, view);
  const std::shared_ptr<const KnownOutputs::Outputs> known = known_outputs_.Find(description);
  for (size_t i = 0; known != nullptr && i < known->size(); ++i) {
    const PlannedOutput& output = (*known)[i];
    const int64_t bytes = output.desc.size_bytes();
    if (bytes < kLeastSharedBytes || SaysWhere(call, output.name)) continue;
    std::shared_ptr<SharedRegion> region = take(bytes);
    if (region == nullptr) break;
    placed.call.Output(output.name, WholeOf(output, region));
    placed.regions.push_back(std::move(region));
  }
  for (const auto& [name, dtype] : call.output_dtypes())
    if (!SaysWhere(placed.call, name)) placed.call.OutputDType(name, dtype);
  return placed;
}

}  // namespace opserve::client
