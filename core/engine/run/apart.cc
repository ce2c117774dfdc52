#include "core/engine/run/apart.h"

#include <optional>
#include <string>

#include "core/base/op_error.h"
#include "core/op/in_place.h"
#include "core/tensor/overlap.h"

namespace opserve {

absl::Status CallPlaces::CheckApart(std::string_view name, const TensorDesc& desc,
                                    const StoragePlace& place) const {
  const auto shares = [&](const TensorDesc& other, const StoragePlace& at) {
    return at.space != nullptr && at.space == place.space &&
           MayOverlap({desc, place.start_bytes}, {other, at.start_bytes});
  };
  const auto overlaps = [name](std::string_view other) {
    return InvalidParameter(name, std::string("memory apart from that of ").append(other),
                            "memory that overlaps it");
  };
  const int output = call.op->FindOutput(name);
  const int in_place_of = output < 0 ? -1 : InputInPlaceOf(*call.op, output);
  const auto is_same = [&](const TensorDesc& other, const StoragePlace& at) {
    return at.start_bytes == place.start_bytes && other.storage_offset == desc.storage_offset &&
           SameShape(other.strides, desc.strides);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::optional<TensorDesc>& input = call.inputs[i];
    if (input.has_value() && static_cast<int>(i) == in_place_of && is_same(*input, inputs[i]))
      continue;
    if (input.has_value() && shares(*input, inputs[i])) return overlaps(call.op->inputs[i].name);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (shares(call.outputs[i].desc, outputs[i])) return overlaps(call.op->outputs[i].name);
  }
  return absl::OkStatus();
}

}  // namespace opserve
