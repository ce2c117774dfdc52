// Tensors, scalars and arrays, as programs made them: nothing of it was checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "acl/acl_base.h"
#include "client/acl/objects/handle_table.h"
#include "core/base/mutex.h"
#include "core/tensor/shape.h"

namespace opserve::acl {

// Dimensions beyond this are not read: their number makes no sense, nor may the pointer to them.
inline constexpr uint64_t kMaxReadDims = 64;

// A list of the program's. Empty `dims` and `sound` = rank 0.
struct DimsArgument {
  Dims dims;
  uint64_t count = 0;
  bool given = false;  // not a null pointer
  // All of `count` were read.
  bool sound() const { return dims.size() == count; }
};

struct TensorObject {
  DimsArgument view;
  aclDataType data_type = ACL_DT_UNDEFINED;
  std::optional<Dims> strides;  // none: contiguous
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  DimsArgument storage;

  void* address() const {
    MutexLock lock(mutex);
    return data;
  }

  mutable Mutex mutex;
  void* data ABSL_GUARDED_BY(mutex) = nullptr;
};

struct ScalarObject {
  aclDataType data_type = ACL_DT_UNDEFINED;
  bool given = false;
  std::array<std::byte, 8> value = {};
};

template <typename T>
struct ArrayObject {
  std::vector<T> values;
  bool given = true;  // false: a null pointer to more than 0 of them
};

// They live on their own, before aclInit and after aclFinalize. Never destroyed.
struct ObjectTables {
  HandleTable<TensorObject> tensors{HandleKind::kTensor};
  HandleTable<ScalarObject> scalars{HandleKind::kScalar};
  HandleTable<ArrayObject<int64_t>> int_arrays{HandleKind::kIntArray};
  HandleTable<ArrayObject<float>> float_arrays{HandleKind::kFloatArray};
  HandleTable<ArrayObject<bool>> bool_arrays{HandleKind::kBoolArray};
};
ObjectTables& Objects() noexcept;

}  // namespace opserve::acl
