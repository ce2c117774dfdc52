// Tensors, scalars and arrays: what operators are called with; and executors, what they become.
//
// Making one validates nothing, needs no aclInit, and copies what it is given but for the tensor's
// data; phase one of an operator checks. Objects may be destroyed once phase one returned. All
// functions may be called from any thread. Unless said otherwise, a null object is 161001 and one
// that was destroyed or never made 161002.
#ifndef OPSERVE_ACL_ACL_META_H_
#define OPSERVE_ACL_ACL_META_H_

// C, and CANN's names.
// NOLINTBEGIN(modernize-*,readability-identifier-naming)

#include "aclnn/aclnn_base.h"

#ifdef __cplusplus
extern "C" {
#endif

// A view of device memory. Lengths, strides and the offset are in elements.
//   view_dims, view_dims_num        the shape; rank 0 to 8
//   stride                          one a dimension, >= 0; null means contiguous
//   offset                          of the first element, from `tensor_data` on
//   storage_dims, storage_dims_num  how many elements there are from `tensor_data` on, as their
//                                   product; null: all of the allocation
//   tensor_data                     where the storage starts, an address of aclrtMalloc or inside;
//                                   may be null for a tensor without elements
// Null where the host has no memory.
aclTensor* aclCreateTensor(const int64_t* view_dims, uint64_t view_dims_num, aclDataType data_type,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storage_dims, uint64_t storage_dims_num,
                           void* tensor_data);

// One number, of the host; `value` points to it.
aclScalar* aclCreateScalar(void* value, aclDataType data_type);

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);

// Null is fine: 0.
aclnnStatus aclDestroyTensor(const aclTensor* tensor);
aclnnStatus aclDestroyScalar(const aclScalar* scalar);
aclnnStatus aclDestroyIntArray(const aclIntArray* array);
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);

// The shape, in memory that is the caller's then: delete[] it (in C: free). Rank 0 gives a null
// pointer.
aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** view_dims, uint64_t* view_dims_num);

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* data_type);

// Where the storage starts. Executors that were made before keep the address they have.
aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);
aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);

// From now on phase two does not consume the executor: it may run any number of times, on one
// stream at a time, until aclDestroyAclOpExecutor.
aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

// Another storage for one tensor of a repeatable executor, for the executions to come; checked
// against shapes, strides and the other tensors by phase two. `index` counts the tensors of the
// operator's phase one from 0, inputs and outputs as they stand there, null ones too; `tensor` is
// any tensor that lives. 161002: not repeatable, no such tensor, or no memory of the device.
aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, size_t index, aclTensor* tensor, void* addr);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*,readability-identifier-naming)

#endif  // OPSERVE_ACL_ACL_META_H_
