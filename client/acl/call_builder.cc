#include "client/acl/call_builder.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/acl/data_types.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/tensor/element.h"

namespace opserve::acl {
namespace {

constexpr char kOneThatLives[] = "one that lives";
constexpr char kAnother[] = "one that was destroyed, or never made";

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

}  // namespace

void CallBuilder::NoteMissing(std::string_view parameter, std::string_view want) {
  if (missing_.ok()) missing_ = MissingParameter(parameter, want);
}

void CallBuilder::NoteInvalid(absl::Status status) {
  if (invalid_.ok()) invalid_ = std::move(status);
}

void CallBuilder::Add(const aclTensor* input) {
  const TensorParam& param = op_.inputs[inputs_++];
  tensor_names_.push_back(param.name);
  if (input != nullptr) return AddTensor({.name = param.name}, param, false, input);
  if (param.presence == Presence::kRequired) NoteMissing(param.name, "a tensor");
}

void CallBuilder::Add(aclTensor* output) {
  const TensorParam& param = op_.outputs[call_.outputs.size()];
  tensor_names_.push_back(param.name);
  if (output != nullptr) return AddTensor({.name = param.name}, param, true, output);
  if (param.presence == Presence::kRequired) NoteMissing(param.name, "a tensor");
  call_.outputs.push_back({.name = param.name, .missing = true});
}

void CallBuilder::AddTensor(TensorArgument argument, const TensorParam& param, bool is_output,
                            const void* handle) {
  std::vector<TensorArgument>& list = is_output ? call_.outputs : call_.inputs;
  Tensor tensor{.argument = list.size(), .is_output = is_output};
  const std::shared_ptr<TensorObject> object = Objects().tensors.Find(handle);
  if (object == nullptr) {
    NoteInvalid(InvalidParameter(param.name, kOneThatLives, kAnother));
  } else {
    NoteInvalid(Describe(*object, param.name, argument, tensor));
  }
  list.push_back(std::move(argument));
  tensors_.push_back(tensor);
}

absl::Status CallBuilder::Describe(const TensorObject& object, std::string_view name,
                                   TensorArgument& argument, Tensor& tensor) const {
  tensor.address = object.address();
  OPSERVE_RETURN_IF_ERROR(CheckDims(object.view, name, "view_dims"));
  OPSERVE_RETURN_IF_ERROR(CheckDims(object.storage, name, "storage_dims"));
  OPSERVE_RETURN_IF_ERROR(CheckKinds(object, name));
  argument.desc = TensorDesc::Dense(DTypeOf(object.data_type), object.view.dims);
  if (object.strides.has_value()) argument.desc.strides = *object.strides;
  argument.desc.storage_offset = object.offset;
  OPSERVE_RETURN_IF_ERROR(CheckDesc(argument.desc, name));
  if (!object.storage.given) return absl::OkStatus();
  const auto negative = [](int64_t extent) { return extent < 0; };
  if (std::any_of(object.storage.dims.begin(), object.storage.dims.end(), negative)) {
    return InvalidParameter(name, "storage_dims >= 0", ShapeToString(object.storage.dims));
  }
  const std::optional<int64_t> elements = NumElements(object.storage.dims);
  const auto size = static_cast<int64_t>(DTypeSize(argument.desc.dtype));
  const int64_t reach = argument.desc.reach_bytes() / size;
  if (elements.has_value() && reach > *elements) {
    return InvalidParameter(
        name, absl::StrCat("a storage of at least ", reach, " elements, which its view reaches"),
        absl::StrCat(*elements, " elements, storage_dims ", ShapeToString(object.storage.dims)));
  }
  return absl::OkStatus();
}

void CallBuilder::AddAttribute(AttributeValue value) {
  call_.attributes.push_back({NextAttribute().name, std::move(value)});
}

void CallBuilder::Add(const aclScalar* scalar) {
  const std::string_view name = NextAttribute().name;
  AttributeValue value;
  if (scalar == nullptr) {
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
  const std::string_view name = NextAttribute().name;
  AttributeValue value;
  if (array == nullptr) {
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
  for (Tensor& tensor : tensors_) {
    const std::optional<DeviceAddress> found = runtime.device_memory.Find(tensor.address);
    tensor.unresolved = tensor.address != nullptr && !found.has_value();
    if (found.has_value()) ArgumentOf(tensor).storage = found->view;
  }
  return call_;
}

absl::Status CallBuilder::Explain(const absl::Status& failure) const {
  const std::optional<ErrorDetail> detail = GetErrorDetail(failure);
  if (!detail.has_value() || detail->reason != ErrorReason::kParamNullptr) return failure;
  for (const Tensor& tensor : tensors_) {
    const auto& list = tensor.is_output ? call_.outputs : call_.inputs;
    if (!tensor.unresolved || list[tensor.argument].name != detail->parameter) continue;
    return WithOperator(InvalidParameter(detail->parameter, "an address of device memory",
                                         absl::StrFormat("%p", tensor.address)),
                        op_.name);
  }
  return failure;
}

}  // namespace opserve::acl
