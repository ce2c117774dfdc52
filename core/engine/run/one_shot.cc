#include "core/engine/run/one_shot.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/plan/scheduling.h"
#include "core/engine/run/apart.h"

namespace opserve {
namespace {

absl::Status CheckInputStorages(const Plan& plan, std::span<const Fragments> storages) {
  const OpCall& call = plan.call;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    const std::string_view name = call.op->inputs[i].name;
    const int storage = plan.storages[i];
    if (storage < 0 || static_cast<size_t>(storage) >= storages.size())
      return MissingParameter(name, "its bytes");
    const auto bytes = static_cast<int64_t>(storages[static_cast<size_t>(storage)].size_bytes());
    OPSERVE_RETURN_IF_ERROR(CheckStorage(*call.inputs[i], bytes, name));
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].origin == OutputSlot::Origin::kGiven)
      return InvalidParameter(call.op->outputs[i].name, "an output that the call makes",
                              "one in memory of the caller's");
  }
  return absl::OkStatus();
}

using OutputStorages = std::span<const std::span<std::byte>>;

StoragePlace PlaceOf(std::span<const std::byte> memory) {
  static constexpr char kHost = 0;
  return {&kHost, reinterpret_cast<intptr_t>(memory.data())};
}

CallPlaces PlacesOfInputs(const Plan& plan, std::span<const Fragments> storages) {
  CallPlaces places(plan.call);
  for (size_t i = 0; i < places.inputs.size(); ++i) {
    if (!plan.call.inputs[i].has_value()) continue;
    const auto pieces = storages[static_cast<size_t>(plan.storages[i])].pieces();
    // Only what is one piece can be shared.
    if (pieces.size() == 1) places.inputs[i] = PlaceOf(pieces[0]);
  }
  return places;
}

absl::Status CheckOutputStorage(const TensorDesc& desc, std::span<const std::byte> memory,
                                std::string_view name) {
  OPSERVE_RETURN_IF_ERROR(CheckStorage(desc, static_cast<int64_t>(memory.size()), name));
  const size_t alignment = DTypeSize(desc.dtype);
  const size_t beyond = reinterpret_cast<uintptr_t>(memory.data()) % alignment;
  if (beyond == 0 || memory.empty()) return absl::OkStatus();
  return InvalidParameter(name, absl::StrCat("memory aligned to ", alignment, " bytes"),
                          absl::StrCat("memory ", beyond, " bytes beyond that"));
}

// For a plan whose inputs CheckInputStorages accepted.
absl::Status CheckOutputStorages(const Plan& plan, std::span<const Fragments> storages,
                                 OutputStorages outputs) {
  std::optional<CallPlaces> places;
  for (size_t i = 0; i < plan.call.outputs.size(); ++i) {
    if (!IsInPlace(plan, i)) continue;
    const std::string_view name = plan.call.op->outputs[i].name;
    const auto index = static_cast<size_t>(plan.output_storages[i]);
    if (index >= outputs.size()) return MissingParameter(name, "its memory");
    const TensorDesc& desc = plan.call.outputs[i].desc;
    OPSERVE_RETURN_IF_ERROR(CheckOutputStorage(desc, outputs[index], name));
    if (!places.has_value()) places.emplace(PlacesOfInputs(plan, storages));
    const StoragePlace place = PlaceOf(outputs[index]);
    OPSERVE_RETURN_IF_ERROR(places->CheckApart(name, desc, place));
    places->outputs[i] = place;
  }
  return absl::OkStatus();
}

absl::Status CheckAllStorages(const Plan& plan, std::span<const Fragments> storages,
                              OutputStorages outputs) {
  OPSERVE_RETURN_IF_ERROR(CheckInputStorages(plan, storages));
  return CheckOutputStorages(plan, storages, outputs);
}

}  // namespace

absl::Status CheckStorages(const Plan& plan, std::span<const Fragments> storages,
                           std::span<const std::span<std::byte>> output_storages) {
  return WithOperator(CheckAllStorages(plan, storages, output_storages), plan.call.op->name);
}

int64_t StorageBytes(const OneShot& shot) {
  int64_t bytes = 0;
  for (const Fragments& storage : shot.storages)
    bytes += static_cast<int64_t>(storage.size_bytes());
  return bytes;
}

absl::Duration EstimatedTime(const OneShot& shot) {
  int64_t staged = 0;
  if (shot.plan->device->uses_host_memory()) {
    for (const Fragments& storage : shot.storages) staged += StagedBytes(storage);
  } else {
    staged = StorageBytes(shot);
  }
  return shot.plan->cost.time + CopyTime(staged) + shot.done_time;
}

bool RunsInline(const OneShot& shot) {
  return RunsInline(*shot.plan) && EstimatedTime(shot) <= kInlineTime;
}

}  // namespace opserve
