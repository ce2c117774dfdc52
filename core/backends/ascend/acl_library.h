// The vendor's libraries, loaded at run time: nothing of theirs is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace opserve::ascend {

// Opaque.
struct AclTensor;
struct AclScalar;
struct AclIntArray;
struct AclBoolArray;
struct AclExecutor;

// Of the runtime; all are there.
struct AclFunctions {
#define OPSERVE_ACL_FUNCTION(member, symbol, result, parameters) result(*member) parameters;
#include "core/backends/ascend/acl_functions.inc"
#undef OPSERVE_ACL_FUNCTION
};

// Values of theirs.
inline constexpr int32_t kAclMallocHugeFirst = 0;
inline constexpr int32_t kAclHostToDevice = 1;
inline constexpr int32_t kAclDeviceToHost = 2;
inline constexpr int32_t kAclDeviceToDevice = 3;
inline constexpr int32_t kAclFormatNd = 2;
inline constexpr int32_t kAclFloat = 0;

// An operator's two phases. The parameters of the first are the operator's own.
struct AclOperator {
  void* plan;
  int32_t (*execute)(void* workspace, uint64_t bytes, AclExecutor* executor, void* stream);
};

// Loaded and initialized; the last to let go of it finalizes it. It is never unloaded. Thread-safe.
class AclLibrary {
 public:
  // `paths` are folders with the vendor's libraries, or single libraries of operators. Operators
  // are looked for in those libraries, then in libopapi_*.so, then in libopapi.so; the runtime in
  // libascendcl.so and libnnopbase.so. Each is looked for in the folders, then where the system's
  // loader looks. Errors (161002, parameter `ascend`) name what was searched, or the symbol that is
  // missing; 361001 when it cannot be initialized. The same paths give the same library, as long as
  // somebody holds it.
  static absl::StatusOr<std::shared_ptr<const AclLibrary>> Open(
      const std::vector<std::string>& paths);
  ~AclLibrary();
  AclLibrary(const AclLibrary&) = delete;
  AclLibrary& operator=(const AclLibrary&) = delete;

  const AclFunctions& functions() const { return functions_; }
  // nullopt unless aclnn<name> and aclnn<name>GetWorkspaceSize are both there.
  std::optional<AclOperator> FindOperator(std::string_view name) const;

 private:
  AclLibrary() = default;
  absl::Status Load(const std::vector<std::string>& paths);
  absl::Status Initialize();

  AclFunctions functions_ = {};
  std::vector<void*> operators_;  // handles, in the order of the search
  bool initialized_ = false;
};

}  // namespace opserve::ascend
