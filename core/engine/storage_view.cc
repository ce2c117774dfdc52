#include "core/engine/storage_view.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/alignment.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/engine/run/apart.h"

namespace opserve {
namespace {

absl::Status CheckOffset(const StorageView& view, int64_t alignment, std::string_view name) {
  const int64_t size = view.buffer->size_bytes();
  if (view.offset_bytes < 0 || view.offset_bytes > size) {
    return OutOfRange(name, absl::StrCat("an offset_bytes from 0 to the buffer's ", size),
                      absl::StrCat(view.offset_bytes));
  }
  if (view.offset_bytes % alignment == 0) return absl::OkStatus();
  return InvalidParameter(name, absl::StrCat("an offset_bytes that is a multiple of ", alignment),
                          absl::StrCat(view.offset_bytes));
}

absl::Status CheckOwner(const StorageView& view, const Context& context, std::string_view name) {
  if (context.Owns(*view.buffer)) return absl::OkStatus();
  return InvalidParameter(name, "a buffer of the executor's context", "another context's");
}

// The view holds all that `desc`, which CheckDesc accepted, reaches.
absl::Status CheckView(const StorageView& view, const TensorDesc& desc, const Context& context,
                       std::string_view name) {
  if (view.buffer == nullptr) return MissingParameter(name, "a buffer");
  OPSERVE_RETURN_IF_ERROR(CheckOwner(view, context, name));
  OPSERVE_RETURN_IF_ERROR(CheckOffset(view, static_cast<int64_t>(DTypeSize(desc.dtype)), name));
  const int64_t left = view.buffer->size_bytes() - view.offset_bytes;
  if (desc.reach_bytes() <= left) return absl::OkStatus();
  return OutOfRange(
      name,
      absl::StrCat("at least ", desc.reach_bytes(), " bytes from offset_bytes ", view.offset_bytes,
                   " on, for ", std::string(DTypeName(desc.dtype)), ShapeToString(desc.shape),
                   " with strides ", ShapeToString(desc.strides), " and storage_offset ",
                   desc.storage_offset),
      absl::StrCat(left));
}

StoragePlace PlaceOf(const StorageView& view) { return {view.buffer.get(), view.offset_bytes}; }

CallPlaces PlacesOfInputs(const OpCall& call, const CallViews& views) {
  CallPlaces places(call);
  for (size_t i = 0; i < places.inputs.size(); ++i) places.inputs[i] = PlaceOf(views.inputs[i]);
  return places;
}

}  // namespace

absl::Status CheckViews(const Plan& plan, const Context& context, const CallViews& views) {
  const OpCall& call = plan.call;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].has_value()) continue;
    OPSERVE_RETURN_IF_ERROR(
        CheckView(views.inputs[i], *call.inputs[i], context, call.op->inputs[i].name));
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (!IsInPlace(plan, i)) continue;
    OPSERVE_RETURN_IF_ERROR(
        CheckView(views.outputs[i], call.outputs[i].desc, context, call.op->outputs[i].name));
  }
  CallPlaces places = PlacesOfInputs(call, views);
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (!IsInPlace(plan, i)) continue;
    const StoragePlace place = PlaceOf(views.outputs[i]);
    OPSERVE_RETURN_IF_ERROR(
        places.CheckApart(call.op->outputs[i].name, call.outputs[i].desc, place));
    places.outputs[i] = place;
  }
  return absl::OkStatus();
}

absl::Status CheckWorkspace(const Plan& plan, const Context& context, const CallViews& views,
                            const StorageView& workspace) {
  const auto bytes = static_cast<int64_t>(plan.workspace_bytes);
  if (workspace.buffer == nullptr) {
    if (bytes == 0) return absl::OkStatus();
    return MissingParameter("workspace", absl::StrCat("a buffer of >= ", bytes, " bytes"));
  }
  OPSERVE_RETURN_IF_ERROR(CheckOwner(workspace, context, "workspace"));
  OPSERVE_RETURN_IF_ERROR(CheckOffset(workspace, kDeviceAlignment, "workspace"));
  const int64_t left = workspace.buffer->size_bytes() - workspace.offset_bytes;
  if (left < bytes) {
    return OutOfRange("workspace", absl::StrCat(">= ", bytes, " bytes"), absl::StrCat(left));
  }
  CallPlaces places = PlacesOfInputs(plan.call, views);
  for (size_t i = 0; i < places.outputs.size(); ++i) {
    if (IsInPlace(plan, i)) places.outputs[i] = PlaceOf(views.outputs[i]);
  }
  const TensorDesc desc = TensorDesc::Dense(DType::kUint8, Dims{bytes});
  return places.CheckApart("workspace", desc, PlaceOf(workspace));
}

}  // namespace opserve
