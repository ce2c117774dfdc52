#include "server/calls/infer_regions.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

// Of one request's inputs. An object may be of any size that a number holds, without any memory.
constexpr uint64_t kMostInputBytes = uint64_t{1} << 48;

// What copying takes, about.
constexpr int64_t kBytesPerNanosecond = 4;

// Of the answer's entry.
size_t EntryBytes(const PlannedCall& planned, size_t entry) {
  const OutputSlot& output = planned.plan()->call.outputs[planned.infer_form().entries()[entry]];
  return output.wanted ? static_cast<size_t>(output.desc.size_bytes()) : 0;
}

}  // namespace

absl::StatusOr<LocalUser> RequireLocalUser(std::optional<uid_t> user, ClientId token) {
  if (user.has_value()) return LocalUser{.user = *user, .token = token};
  return MakeError({.reason = ErrorReason::kPermissionDenied,
                    .op = {},
                    .parameter = "shared memory",
                    .want = "a client on this machine, by a loopback address or a unix socket that "
                            "no other user has connected to",
                    .got = "one whose user the server cannot find out"});
}

absl::StatusOr<std::vector<InferRegions::Place>> InferRegions::FindAll(
    const NamedRegionTable& table, const LocalUser& who, std::vector<SharedTensor> tensors) {
  std::vector<Place> places;
  for (SharedTensor& tensor : tensors) {
    std::shared_ptr<const NamedRegion> region = table.Find(who, tensor.region);
    if (region == nullptr) {
      return MakeError({.reason = ErrorReason::kObjectNotFound,
                        .op = {},
                        .parameter = tensor.name,
                        .want = "a region of shared memory that the client registered",
                        .got = Quoted(tensor.region)});
    }
    OPSERVE_RETURN_IF_ERROR(region->CheckInside(tensor.offset, tensor.byte_size, tensor.name));
    places.push_back(
        {.tensor = std::move(tensor), .region = std::move(region), .mapping = nullptr});
  }
  return places;
}

absl::Status InferRegions::Find(const NamedRegionTable* table, AskLocalUser ask,
                                std::string& call) {
  if (table == nullptr || !MentionsSharedMemory(call)) return absl::OkStatus();
  OPSERVE_ASSIGN_OR_RETURN(SharedTensors parts, SeparateShared(call));
  if (parts.shared_inputs.empty() && parts.shared_outputs.empty()) return absl::OkStatus();
  OPSERVE_ASSIGN_OR_RETURN(const LocalUser who, ask());
  OPSERVE_ASSIGN_OR_RETURN(from_, FindAll(*table, who, std::move(parts.shared_inputs)));
  OPSERVE_ASSIGN_OR_RETURN(to_, FindAll(*table, who, std::move(parts.shared_outputs)));
  request_inputs_ = parts.inputs;
  for (const Place& place : from_) {
    const uint64_t left = kMostInputBytes - input_bytes_;
    if (place.tensor.byte_size > left) {
      return OutOfRange(place.tensor.name,
                        absl::StrCat("a shared_memory_byte_size of at most ", left,
                                     " beside those of the other inputs"),
                        absl::StrCat(place.tensor.byte_size));
    }
    input_bytes_ += static_cast<size_t>(place.tensor.byte_size);
  }
  call = std::move(parts.call);
  return absl::OkStatus();
}

absl::StatusOr<std::span<const std::byte>> InferRegions::ReadInput(MemoryPool& pool, Place& place) {
  const SharedTensor& tensor = place.tensor;
  const auto size = static_cast<size_t>(tensor.byte_size);
  if (size > kReadHereRegionBytes) place.mapping = place.region->Map(tensor.offset, size);
  if (place.mapping != nullptr) return place.mapping->bytes();
  OPSERVE_ASSIGN_OR_RETURN(PooledBuffer buffer, pool.Acquire(size));
  const std::span<std::byte> bytes(buffer.data(), buffer.size());
  OPSERVE_RETURN_IF_ERROR(place.region->Read(tensor.offset, bytes, tensor.name));
  inputs_.push_back(std::move(buffer));
  return bytes;
}

absl::Status InferRegions::ReadInputs(MemoryPool& pool, std::vector<Fragments>& raw) {
  if (from_.empty()) return absl::OkStatus();
  if (raw.size() + from_.size() != request_inputs_) {
    return InvalidParameter(
        "raw_input_contents",
        absl::StrCat(request_inputs_ - from_.size(),
                     " entries, one for each input that is not in shared memory"),
        absl::StrCat(raw.size()));
  }
  std::vector<Fragments> all;
  all.reserve(request_inputs_);
  auto next = raw.begin();
  for (Place& place : from_) {
    while (all.size() < place.tensor.index) all.push_back(std::move(*next++));
    OPSERVE_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, ReadInput(pool, place));
    all.emplace_back(bytes);
  }
  std::move(next, raw.end(), std::back_inserter(all));
  raw = std::move(all);
  return absl::OkStatus();
}

absl::Status InferRegions::CheckOutputs(const PlannedCall& planned) const {
  for (const Place& place : to_) {
    const size_t bytes = EntryBytes(planned, place.tensor.index);
    if (place.tensor.byte_size >= bytes) continue;
    return WithOperator(
        OutOfRange(place.tensor.name, absl::StrCat("a shared_memory_byte_size of at least ", bytes),
                   absl::StrCat(place.tensor.byte_size)),
        planned.plan()->call.op->name);
  }
  return absl::OkStatus();
}

bool InferRegions::IsShared(size_t entry) const {
  return std::any_of(to_.begin(), to_.end(),
                     [entry](const Place& place) { return place.tensor.index == entry; });
}

size_t InferRegions::OutputBytes(const PlannedCall& planned) const {
  size_t bytes = 0;
  for (const Place& place : to_) bytes += EntryBytes(planned, place.tensor.index);
  return bytes;
}

absl::Duration InferRegions::WriteTime(const PlannedCall& planned) const {
  return absl::Nanoseconds(static_cast<int64_t>(OutputBytes(planned)) / kBytesPerNanosecond);
}

void InferRegions::Clear() {
  for (Place& place : from_) {
    if (place.mapping == nullptr) continue;
    cut_.Update(place.region->CheckUncut(*place.mapping, place.tensor.name));
    place.mapping = nullptr;
  }
  inputs_.clear();
}

absl::Status InferRegions::WriteOutputs(const PlannedCall& planned, Outputs& outputs) {
  Clear();
  if (!cut_.ok()) return WithOperator(cut_, planned.plan()->call.op->name);
  for (const Place& place : to_) {
    PooledBuffer& bytes = outputs[planned.infer_form().entries()[place.tensor.index]].bytes;
    absl::Status status =
        place.region->Write(place.tensor.offset, {bytes.data(), bytes.size()}, place.tensor.name);
    if (!status.ok()) return WithOperator(std::move(status), planned.plan()->call.op->name);
    bytes.Release();
  }
  return absl::OkStatus();
}

}  // namespace opserve::server
