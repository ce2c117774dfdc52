#include "client/acl/objects/objects.h"

#include <cstddef>
#include <new>

#include "client/acl/objects/data_types.h"

namespace opserve::acl {

ObjectTables& Objects() noexcept {
  alignas(ObjectTables) static std::byte place[sizeof(ObjectTables)];
  static auto& tables = *new (place) ObjectTables();
  return tables;
}

// Programs may pass any number, so there is no switch over enumerators here.
DType DTypeOf(aclDataType data_type) {
  struct Row {
    int value;
    DType dtype;
  };
  static constexpr Row kRows[] = {
      {ACL_FLOAT, DType::kFloat32}, {ACL_FLOAT16, DType::kFloat16}, {ACL_INT8, DType::kInt8},
      {ACL_INT32, DType::kInt32},   {ACL_UINT8, DType::kUint8},     {ACL_INT16, DType::kInt16},
      {ACL_UINT16, DType::kUint16}, {ACL_UINT32, DType::kUint32},   {ACL_INT64, DType::kInt64},
      {ACL_UINT64, DType::kUint64}, {ACL_DOUBLE, DType::kFloat64},  {ACL_BOOL, DType::kBool},
      {ACL_BF16, DType::kBFloat16}};
  for (const Row& row : kRows) {
    if (row.value == static_cast<int>(data_type)) return row.dtype;
  }
  return DType::kUndefined;
}

bool IsKnownFormat(aclFormat format) {
  for (const int known : {ACL_FORMAT_UNDEFINED, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_ND,
                          ACL_FORMAT_NCDHW, ACL_FORMAT_NCL}) {
    if (known == static_cast<int>(format)) return true;
  }
  return false;
}

}  // namespace opserve::acl
