#include "client/acl/abi/provider_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/acl/objects/status_codes.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

constexpr char kLibraryName[] = OPSERVE_ACL_REMOTE_LIBRARY;  // with its major version

// The library that this code is in, through all links.
std::filesystem::path OwnFolder() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&OpenRemoteProvider), &info) == 0) return {};
  std::error_code error;
  return std::filesystem::canonical(info.dli_fname, error).parent_path();
}

absl::StatusOr<void*> Load(const std::string& library) {
  std::string first = library;
  if (first.empty()) first = OwnFolder() / kLibraryName;
  void* loaded = ::dlopen(first.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded != nullptr) return loaded;
  const std::string error = ::dlerror();
  if (library.empty()) loaded = ::dlopen(kLibraryName, RTLD_NOW | RTLD_LOCAL);
  if (loaded != nullptr) return loaded;
  return Failure(
      ACL_ERROR_API_NOT_SUPPORT,
      absl::StrCat("OPSERVE_TARGET is set, but the library of remote devices cannot be loaded: ",
                   error));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> OpenRemoteProvider(const std::string& target,
                                                             const std::string& library) {
  OPSERVE_ASSIGN_OR_RETURN(void* loaded, Load(library));
  auto* open = reinterpret_cast<OpenProviderFunction*>(::dlsym(loaded, kOpenProviderName));
  if (open == nullptr) {
    return Failure(ACL_ERROR_API_NOT_SUPPORT,
                   absl::StrCat("the library of remote devices has no ", kOpenProviderName));
  }
  std::unique_ptr<Provider> provider;
  absl::Status status;
  if (open(kProviderVersion, target.c_str(), &provider, &status)) return provider;
  if (!status.ok()) return status;
  return Failure(
      ACL_ERROR_API_NOT_SUPPORT,
      absl::StrCat("the library of remote devices is not of version ", kProviderVersion));
}

}  // namespace opserve::acl
