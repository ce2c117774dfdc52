#include "client/acl/objects/call_builder.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/acl/objects/data_types.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/op/in_place.h"
#include "core/tensor/element.h"

namespace opserve::acl {
namespace {

constexpr char kOneThatLives[] = "a handle that was not destroyed";
constexpr char kAnother[] = "one that was destroyed or never created";

absl::Status CheckDims(const DimsArgument& dims, std::string_view name, std::string_view what) {
  if (dims.sound()) return absl::OkStatus();
  const std::string got = dims.given ? absl::StrCat(dims.count, " of them")
                                     : absl::StrCat("null for ", dims.count, " of them");
  return InvalidParameter(name, absl::StrCat("readable ", std::string(what)), got);
}

absl::Status CheckKinds(const TensorObject& object, std::string_view name) {
  if (DTypeOf(object.data_type) == DType::kUndefined) {
    return InvalidParameter(name, "an aclDataType",
                            absl::StrCat(static_cast<int>(object.data_type)));
  }
  if (IsKnownFormat(object.format)) return absl::OkStatus();
  return InvalidParameter(name, "ND or another plain aclFormat",
                          absl::StrCat(static_cast<int>(object.format)));
}

absl::Status CheckStorageDims(const TensorObject& object, const TensorDesc& desc,
                              std::string_view name) {
  if (!object.storage.given) return absl::OkStatus();
  const auto negative = [](int64_t extent) { return extent < 0; };
  if (std::any_of(object.storage.dims.begin(), object.storage.dims.end(), negative)) {
    return InvalidParameter(name, "storage_dims >= 0", ShapeToString(object.storage.dims));
  }
  const std::optional<int64_t> elements = NumElements(object.storage.dims);
  const int64_t reach = desc.reach_bytes() / static_cast<int64_t>(DTypeSize(desc.dtype));
  if (!elements.has_value() || reach <= *elements) return absl::OkStatus();
  return InvalidParameter(
      name, absl::StrCat("a storage of at least ", reach, " elements, which its view reaches"),
      absl::StrCat(*elements, " elements, storage_dims ", ShapeToString(object.storage.dims)));
}

absl::StatusOr<TensorDesc> Describe(const TensorObject& object, std::string_view name) {
  OPSERVE_RETURN_IF_ERROR(CheckDims(object.view, name, "view_dims"));
  OPSERVE_RETURN_IF_ERROR(CheckDims(object.storage, name, "storage_dims"));
  OPSERVE_RETURN_IF_ERROR(CheckKinds(object, name));
  TensorDesc desc = TensorDesc::Dense(DTypeOf(object.data_type), object.view.dims);
  if (object.strides.has_value()) desc.strides = *object.strides;
  desc.storage_offset = object.offset;
  OPSERVE_RETURN_IF_ERROR(CheckDesc(desc, name));
  OPSERVE_RETURN_IF_ERROR(CheckStorageDims(object, desc, name));
  return desc;
}

}  // namespace

void CallBuilder::NoteMissing(std::string_view parameter, std::string_view want) {
  if (missing_.ok()) missing_ = MissingParameter(parameter, want);
}

void CallBuilder::NoteInvalid(absl::Status status) {
  if (invalid_.ok()) invalid_ = std::move(status);
}

int CallBuilder::NextTensor(const TensorParam& param, bool is_given) {
  if (!is_given && param.presence == Presence::kRequired) NoteMissing(param.name, "a tensor");
  tensors_.push_back({.name = param.name});
  addresses_.push_back(nullptr);
  call_.storages.emplace_back();
  return static_cast<int>(tensors_.size()) - 1;
}

TensorDesc CallBuilder::AddTensor(const void* handle) {
  BoundTensor& tensor = tensors_.back();
  const std::shared_ptr<TensorObject> object = Objects().tensors.Find(handle);
  if (object == nullptr) {
    NoteInvalid(InvalidParameter(tensor.name, kOneThatLives, kAnother));
    return {};
  }
  addresses_.back() = object->address();
  absl::StatusOr<TensorDesc> desc = Describe(*object, tensor.name);
  if (!desc.ok()) {
    NoteInvalid(desc.status());
    return {};
  }
  tensor.bytes = desc->reach_bytes();
  return *std::move(desc);
}

void CallBuilder::Add(const aclTensor* input) {
  const TensorParam& param = op_.inputs[inputs_++];
  const int storage = NextTensor(param, input != nullptr);
  if (input != nullptr) call_.named.inputs.push_back({param.name, AddTensor(input), storage});
}

void CallBuilder::Add(aclTensor* output) {
  NamedOutput& named = call_.named.outputs.emplace_back();
  const TensorParam& param = op_.outputs[call_.named.outputs.size() - 1];
  named.name = param.name;
  named.missing = output == nullptr;
  named.storage = NextTensor(param, !named.missing);
  if (!named.missing) named.given = AddTensor(output);
}

void CallBuilder::AddOutputsInPlace() {
  for (size_t i = call_.named.outputs.size(); i < op_.outputs.size(); ++i) {
    NamedOutput& output = call_.named.outputs.emplace_back();
    output.name = op_.outputs[i].name;
    output.missing = true;
    const int place = InputInPlaceOf(op_, static_cast<int>(i));
    for (const NamedInput& input : call_.named.inputs) {
      if (op_.FindInput(input.name) != place) continue;
      output.missing = false;
      output.given = input.desc;
      output.storage = input.storage;
    }
  }
}

void CallBuilder::AddAttribute(AttributeValue value) {
  call_.named.attributes.push_back({NextAttribute().name, std::move(value)});
}

void CallBuilder::Add(const char* choice) {
  if (choice == nullptr) NoteMissing(NextAttribute().name, "a string");
  AddAttribute(choice == nullptr ? AttributeValue() : std::string(choice));
}

void CallBuilder::Add(const aclScalar* scalar) {
  const AttributeParam& param = NextAttribute();
  const std::string_view name = param.name;
  AttributeValue value;
  if (scalar == nullptr && param.c_optional) {
    value = param.default_value.ToValue();
  } else if (scalar == nullptr) {
    NoteMissing(name, "a scalar");
  } else if (const auto object = Objects().scalars.Find(scalar); object == nullptr) {
    NoteInvalid(InvalidParameter(name, kOneThatLives, kAnother));
  } else if (const DType dtype = DTypeOf(object->data_type); dtype == DType::kUndefined) {
    NoteInvalid(InvalidParameter(name, "an aclDataType",
                                 absl::StrCat(static_cast<int>(object->data_type))));
  } else if (!object->given) {
    NoteInvalid(InvalidParameter(name, "a scalar with a value", "one made of null"));
  } else {
    value = LoadAsDouble(dtype, object->value.data());
  }
  AddAttribute(std::move(value));
}

template <typename Array, typename Table>
void CallBuilder::AddArray(const Array* array, const Table& arrays) {
  const AttributeParam& param = NextAttribute();
  const std::string_view name = param.name;
  AttributeValue value;
  if (array == nullptr && param.c_optional) {
    value = param.default_value.ToValue();
  } else if (array == nullptr) {
    NoteMissing(name, "an array");
  } else if (const auto object = arrays.Find(array); object == nullptr) {
    NoteInvalid(InvalidParameter(name, kOneThatLives, kAnother));
  } else if (!object->given) {
    NoteInvalid(InvalidParameter(name, "an array with values", "one made of null"));
  } else {
    value = object->values;
  }
  AddAttribute(std::move(value));
}

void CallBuilder::Add(const aclIntArray* array) { AddArray(array, Objects().int_arrays); }
void CallBuilder::Add(const aclBoolArray* array) { AddArray(array, Objects().bool_arrays); }

absl::Status CallBuilder::Check() const {
  if (!missing_.ok()) return WithOperator(missing_, op_.name);
  return WithOperator(invalid_, op_.name);
}

const OperatorCall& CallBuilder::Resolve(const Runtime& runtime) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const std::optional<DeviceAddress> found = runtime.device_memory.Find(addresses_[i]);
    if (found.has_value()) call_.storages[i] = tensors_[i].storage = found->view;
  }
  return call_;
}

absl::Status CallBuilder::Explain(const absl::Status& failure) const {
  const std::optional<ErrorDetail> detail = GetErrorDetail(failure);
  if (!detail.has_value() || detail->reason != ErrorReason::kMissingParameter) return failure;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const bool is_nobodys = addresses_[i] != nullptr && tensors_[i].storage.memory == nullptr;
    if (!is_nobodys || tensors_[i].name != detail->parameter) continue;
    return WithOperator(InvalidParameter(detail->parameter, "an address of device memory",
                                         absl::StrFormat("%p", addresses_[i])),
                        op_.name);
  }
  return failure;
}

}  // namespace opserve::acl
