// The library of remote devices: opened when it is wanted, so that nobody else needs what it links.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/acl/provider/provider.h"

namespace opserve::acl {

// Devices of the server at `target`. `library` is a path; when empty, libopserve_acl_remote.so.N,
// N the major version, beside this library, then where the loader looks. 200001 when it is not
// there or is of another version; else what it says of the target. It stays loaded.
absl::StatusOr<std::unique_ptr<Provider>> OpenRemoteProvider(const std::string& target,
                                                             const std::string& library);

}  // namespace opserve::acl
