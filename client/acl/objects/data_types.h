// The C interface's enumerators and core's.
#pragma once

#include "acl/acl_base.h"
#include "core/tensor/dtype.h"

namespace opserve::acl {

// kUndefined for what is none.
DType DTypeOf(aclDataType data_type);

// Whether operators may take a tensor of this format.
bool IsKnownFormat(aclFormat format);

}  // namespace opserve::acl
