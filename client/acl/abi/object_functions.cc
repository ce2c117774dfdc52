// The C functions of tensors, scalars, arrays and executors.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "aclnn/acl_meta.h"
#include "client/acl/objects/data_types.h"
#include "client/acl/objects/objects.h"
#include "client/acl/objects/thread_state.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

using opserve::InvalidParameter;
using opserve::MissingParameter;
using opserve::MutexLock;
using opserve::acl::ArrayObject;
using opserve::acl::DimsArgument;
using opserve::acl::HandleTable;
using opserve::acl::Objects;
using opserve::acl::OperatorCallCode;
using opserve::acl::Runtime;
using opserve::acl::ScalarObject;
using opserve::acl::TensorObject;

namespace {

DimsArgument ReadDims(const int64_t* dims, uint64_t count) {
  DimsArgument read{.dims = {}, .count = count, .given = dims != nullptr};
  if (dims != nullptr && count <= opserve::acl::kMaxReadDims) read.dims.assign(dims, dims + count);
  return read;
}

std::shared_ptr<TensorObject> ReadTensor(const int64_t* view_dims, uint64_t view_dims_num,
                                         const int64_t* stride) {
  auto tensor = std::make_shared<TensorObject>();
  tensor->view = ReadDims(view_dims, view_dims_num);
  if (stride != nullptr) tensor->strides.emplace(ReadDims(stride, view_dims_num).dims);
  return tensor;
}

// The handle of `make`'s object; null where the host has no memory.
template <typename Handle, typename T, typename Make>
Handle* NewObject(HandleTable<T>& table, Make make) {
  void* handle = nullptr;
  OperatorCallCode([&] {
    handle = table.Add(make());
    return absl::OkStatus();
  });
  return static_cast<Handle*>(handle);
}

template <typename Handle, typename T, typename Value>
Handle* NewArray(HandleTable<ArrayObject<T>>& table, const Value* values, uint64_t size) {
  return NewObject<Handle>(table, [&] {
    auto array = std::make_shared<ArrayObject<T>>();
    array->given = values != nullptr || size == 0;
    if (values != nullptr) array->values.assign(values, values + size);
    return array;
  });
}

template <typename T>
aclnnStatus Destroy(HandleTable<T>& table, const void* handle, const char* kind) {
  return OperatorCallCode([&]() -> absl::Status {
    if (handle == nullptr || table.Remove(handle) != nullptr) return absl::OkStatus();
    return InvalidParameter(kind, "a handle that was not destroyed",
                            "one that was destroyed or never created");
  });
}

template <typename T>
absl::StatusOr<std::shared_ptr<T>> Find(const HandleTable<T>& table, const void* handle,
                                        const char* kind) {
  if (handle == nullptr) return MissingParameter(kind, "a handle that was not destroyed");
  std::shared_ptr<T> object = table.Find(handle);
  if (object != nullptr) return object;
  return InvalidParameter(kind, "a handle that was not destroyed",
                          "one that was destroyed or never created");
}

absl::Status CheckPlace(const void* pointer, const char* parameter) {
  return pointer != nullptr ? absl::OkStatus() : MissingParameter(parameter, "an address");
}

}  // namespace

aclTensor* aclCreateTensor(const int64_t* view_dims, uint64_t view_dims_num, aclDataType data_type,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storage_dims, uint64_t storage_dims_num,
                           void* tensor_data) {
  return NewObject<aclTensor>(Objects().tensors, [&] {
    std::shared_ptr<TensorObject> tensor = ReadTensor(view_dims, view_dims_num, stride);
    tensor->data_type = data_type;
    tensor->offset = offset;
    tensor->format = format;
    tensor->storage = ReadDims(storage_dims, storage_dims_num);
    MutexLock lock(tensor->mutex);
    tensor->data = tensor_data;
    return tensor;
  });
}

aclScalar* aclCreateScalar(void* value, aclDataType data_type) {
  return NewObject<aclScalar>(Objects().scalars, [&] {
    auto scalar = std::make_shared<ScalarObject>();
    scalar->data_type = data_type;
    scalar->given = value != nullptr;
    const size_t bytes = DTypeSize(opserve::acl::DTypeOf(data_type));
    if (value != nullptr) std::memcpy(scalar->value.data(), value, bytes);
    return scalar;
  });
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return NewArray<aclIntArray>(Objects().int_arrays, value, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return NewArray<aclFloatArray>(Objects().float_arrays, value, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return NewArray<aclBoolArray>(Objects().bool_arrays, value, size);
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  return Destroy(Objects().tensors, tensor, "tensor");
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
  return Destroy(Objects().scalars, scalar, "scalar");
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
  return Destroy(Objects().int_arrays, array, "array");
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
  return Destroy(Objects().float_arrays, array, "array");
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
  return Destroy(Objects().bool_arrays, array, "array");
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** view_dims, uint64_t* view_dims_num) {
  return OperatorCallCode([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckPlace(view_dims, "view_dims"));
    OPSERVE_RETURN_IF_ERROR(CheckPlace(view_dims_num, "view_dims_num"));
    OPSERVE_ASSIGN_OR_RETURN(const auto object, Find(Objects().tensors, tensor, "tensor"));
    if (!object->view.sound())
      return InvalidParameter("tensor", "one with a shape that could be read", "another");
    const auto& dims = object->view.dims;
    *view_dims_num = dims.size();
    *view_dims = dims.empty() ? nullptr : new int64_t[dims.size()];
    std::copy(dims.begin(), dims.end(), *view_dims);
    return absl::OkStatus();
  });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* data_type) {
  return OperatorCallCode([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckPlace(data_type, "data_type"));
    OPSERVE_ASSIGN_OR_RETURN(const auto object, Find(Objects().tensors, tensor, "tensor"));
    *data_type = object->data_type;
    return absl::OkStatus();
  });
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  return OperatorCallCode([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const auto object, Find(Objects().tensors, tensor, "tensor"));
    MutexLock lock(object->mutex);
    object->data = addr;
    return absl::OkStatus();
  });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  return OperatorCallCode([&]() -> absl::Status {
    OPSERVE_RETURN_IF_ERROR(CheckPlace(addr, "addr"));
    OPSERVE_ASSIGN_OR_RETURN(const auto object, Find(Objects().tensors, tensor, "tensor"));
    *addr = object->address();
    return absl::OkStatus();
  });
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return OperatorCallCode([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const auto runtime, Runtime::Get());
    OPSERVE_ASSIGN_OR_RETURN(const auto object, Find(runtime->executors, executor, "executor"));
    object->MakeRepeatable();
    return absl::OkStatus();
  });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return OperatorCallCode([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const auto runtime, Runtime::Get());
    OPSERVE_RETURN_IF_ERROR(Find(runtime->executors, executor, "executor").status());
    runtime->executors.Remove(executor);
    return absl::OkStatus();
  });
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, size_t index, aclTensor* tensor, void* addr) {
  return OperatorCallCode([&]() -> absl::Status {
    OPSERVE_ASSIGN_OR_RETURN(const auto runtime, Runtime::Get());
    OPSERVE_ASSIGN_OR_RETURN(const auto object, Find(runtime->executors, executor, "executor"));
    OPSERVE_RETURN_IF_ERROR(Find(Objects().tensors, tensor, "tensor").status());
    OPSERVE_RETURN_IF_ERROR(CheckPlace(addr, "addr"));
    const auto found = runtime->device_memory.Find(addr);
    if (!found.has_value())
      return InvalidParameter("addr", "an address of device memory", absl::StrFormat("%p", addr));
    return object->SetStorage(index, found->view);
  });
}
