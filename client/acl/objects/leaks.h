// What a program made and did not destroy.
#pragma once

#include <cstdint>
#include <optional>

#include "acl/opserve_acl.h"

namespace opserve::acl {

class Runtime;

// How many live; nullopt for no such kind. `runtime` is null where there is none.
std::optional<int64_t> CountLive(opserveAclKind kind, const Runtime* runtime);

// One line on stderr for each kind of which there are some, or one that there are none.
void ReportLeaks(const Runtime& runtime);

}  // namespace opserve::acl
