// opserve.v1.Attribute to and from core: any value, whatever an operator wants.
#pragma once

#include "core/op/attribute.h"
#include "opserve/v1/types.pb.h"

namespace opserve::server {

// monostate where there is no value: binding refuses it.
AttributeValue DecodeAttribute(const v1::Attribute& attribute);

// Leaves the name; nothing of a monostate.
void EncodeAttribute(const AttributeValue& value, v1::Attribute& out);

}  // namespace opserve::server
