#include "core/backends/ascend/call_objects.h"

#include <array>
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/in_place.h"

namespace opserve::ascend {
namespace {

// In DType's order; -1 for none.
constexpr std::array<int32_t, kNumDTypes> kAclDTypes = {-1, 0, 1, 27, 11, 2,  6,
                                                        3,  9, 4, 7,  8,  10, 12};

}  // namespace

CallObjects::~CallObjects() {
  const AclFunctions& acl = npu_.acl();
  for (const AclTensor* tensor : inputs_) {
    if (tensor != nullptr) acl.destroy_tensor(tensor);
  }
  for (const AclTensor* tensor : outputs_) {
    if (tensor != nullptr) acl.destroy_tensor(tensor);
  }
  for (const AttributeObject& object : attributes_) {
    if (object.ints != nullptr) acl.destroy_ints(object.ints);
    if (object.bools != nullptr) acl.destroy_bools(object.bools);
    if (object.scalar != nullptr) acl.destroy_scalar(object.scalar);
  }
}

absl::Status CallObjects::Make(const KernelArgs& args, std::byte* nothing) {
  call_ = &args.call;
  inputs_.resize(args.inputs.size(), nullptr);
  outputs_.resize(args.outputs.size(), nullptr);
  attributes_.resize(call_->attributes.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!call_->inputs[i].has_value()) continue;
    OPSERVE_RETURN_IF_ERROR(MakeInput(args, i, nothing));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const OutputSlot& slot = call_->outputs[i];
    if (!slot.wanted) continue;
    std::byte* data = slot.desc.num_elements() == 0 ? nothing : args.outputs[i];
    OPSERVE_RETURN_IF_ERROR(MakeTensor(slot.desc, data, outputs_[i]));
  }
  for (size_t i = 0; i < attributes_.size(); ++i) {
    OPSERVE_RETURN_IF_ERROR(
        MakeAttribute(call_->attributes[i], call_->op->attributes[i].kind, attributes_[i]));
  }
  return absl::OkStatus();
}

absl::Status CallObjects::MakeInput(const KernelArgs& args, size_t i, std::byte* nothing) {
  const TensorDesc& desc = *call_->inputs[i];
  const int output = OutputInPlaceOf(*call_->op, static_cast<int>(i));
  if (desc.num_elements() == 0) return MakeTensor(desc, nothing, inputs_[i]);
  if (output < 0 || !call_->output(output).wanted)
    return MakeTensor(desc, const_cast<std::byte*>(args.inputs[i]), inputs_[i]);
  const auto place = static_cast<size_t>(output);
  OPSERVE_RETURN_IF_ERROR(CopyToOutput(args, i, place));
  return MakeTensor(call_->output(output).desc, args.outputs[place], inputs_[i]);
}

absl::Status CallObjects::CopyToOutput(const KernelArgs& args, size_t i, size_t output) {
  const TensorDesc& from = *call_->inputs[i];
  const TensorDesc& to = call_->outputs[output].desc;
  if (args.inputs[i] == args.outputs[output] && from.storage_offset == to.storage_offset)
    return absl::OkStatus();
  const auto element = static_cast<int64_t>(DTypeSize(from.dtype));
  const bool dense = from.IsDense() && to.IsDense();
  const int64_t runs = dense ? 1 : from.num_elements();
  const int64_t bytes = dense ? from.size_bytes() : element;
  for (int64_t k = 0; k < runs; ++k) {
    const std::byte* source =
        args.inputs[i] + (from.storage_offset + k * from.strides[0]) * element;
    std::byte* target = args.outputs[output] + (to.storage_offset + k * to.strides[0]) * element;
    const auto size = static_cast<size_t>(bytes);
    OPSERVE_RETURN_IF_ERROR(npu_.Check(
        npu_.acl().memcpy(target, size, source, size, kAclDeviceToDevice), "aclrtMemcpy"));
  }
  return absl::OkStatus();
}

const char* CallObjects::choice(int i) const {
  const int64_t value = integer(i);
  for (const AttributeChoice& choice : call_->op->attributes[static_cast<size_t>(i)].choices) {
    // A literal of the schema: it ends in a null character.
    if (choice.value == value) return choice.name.data();
  }
  return "";
}

absl::Status CallObjects::MakeTensor(const TensorDesc& desc, std::byte* data, AclTensor*& tensor) {
  // Of a view the storage is as much as it reaches, in a row.
  Dims storage = desc.shape;
  if (!desc.IsPlain())
    storage = Dims{desc.reach_bytes() / static_cast<int64_t>(DTypeSize(desc.dtype))};
  tensor = npu_.acl().create_tensor(
      desc.shape.data(), desc.shape.size(), kAclDTypes[static_cast<size_t>(desc.dtype)],
      desc.strides.data(), desc.storage_offset, kAclFormatNd, storage.data(), storage.size(), data);
  return CheckMade(tensor, "aclCreateTensor");
}

absl::Status CallObjects::MakeAttribute(const AttributeValue& value, AttributeKind kind,
                                        AttributeObject& object) {
  switch (kind) {
    case AttributeKind::kIntList: {
      const auto& values = std::get<std::vector<int64_t>>(value);
      const int64_t none = 0;
      object.ints = npu_.acl().create_ints(values.empty() ? &none : values.data(), values.size());
      return CheckMade(object.ints, "aclCreateIntArray");
    }
    case AttributeKind::kBoolList: {
      const auto& values = std::get<std::vector<bool>>(value);
      const auto array = std::make_unique<bool[]>(values.size() + 1);
      for (size_t i = 0; i < values.size(); ++i) array[i] = values[i];
      object.bools = npu_.acl().create_bools(array.get(), values.size());
      return CheckMade(object.bools, "aclCreateBoolArray");
    }
    case AttributeKind::kScalar: {
      auto single = static_cast<float>(std::get<double>(value));
      object.scalar = npu_.acl().create_scalar(&single, kAclFloat);
      return CheckMade(object.scalar, "aclCreateScalar");
    }
    case AttributeKind::kInt:
    case AttributeKind::kFloat:
    case AttributeKind::kBool:
      break;
  }
  return absl::OkStatus();
}

absl::Status CallObjects::CheckMade(const void* object, const char* function) {
  if (object != nullptr) return absl::OkStatus();
  const char* message = npu_.acl().recent_message();
  return MakeError({.reason = ErrorReason::kDeviceError,
                    .op = {},
                    .parameter = "device",
                    .want = absl::StrCat(function, " to make one"),
                    .got = absl::StrCat("null: ", message == nullptr ? "" : message)});
}

}  // namespace opserve::ascend
