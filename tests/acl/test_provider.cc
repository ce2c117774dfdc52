// A library of remote devices whose server is this process: what crosses the boundary is tested
// without a network.
#include <string>
#include <utility>

#include "client/acl/local/local_provider.h"
#include "core/base/op_error.h"

namespace opserve::acl {
namespace {

bool Open(const std::string& target, std::unique_ptr<Provider>* provider, absl::Status* status) {
  if (target != "here") {
    *status = MakeError({.reason = ErrorReason::kDraining,
                         .op = {},
                         .parameter = "target",
                         .want = "\"here\"",
                         .got = "\"" + target + "\""});
    return false;
  }
  auto opened = OpenLocalProvider({.memory_limit_bytes = 1 << 20, .guard_memory = true});
  if (!opened.ok()) {
    *status = opened.status();
    return false;
  }
  *provider = *std::move(opened);
  return true;
}

}  // namespace
}  // namespace opserve::acl

extern "C" opserve::acl::OpenProviderFunction opserve_acl_open_provider;

extern "C" bool opserve_acl_open_provider(uint32_t version, const char* target,
                                          std::unique_ptr<opserve::acl::Provider>* provider,
                                          absl::Status* status) {
  return version == opserve::acl::kProviderVersion && opserve::acl::Open(target, provider, status);
}
