#include "client/acl/abi/environment.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/acl/abi/provider_library.h"
#include "client/acl/local/local_provider.h"
#include "client/acl/objects/faults.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/usable_memory.h"
#include "core/engine/engine.h"

namespace opserve::acl {
namespace {

// "" when it is not set.
std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<bool> Switch(const char* name) {
  const std::string value = Variable(name);
  if (value.empty() || value == "0") return false;
  if (value == "1") return true;
  return InvalidParameter(name, "0 or 1", absl::StrCat("\"", value, "\""));
}

absl::StatusOr<int64_t> MemoryLimit() {
  constexpr char kName[] = "OPSERVE_ACL_MEMORY_LIMIT";
  const std::string value = Variable(kName);
  if (value.empty()) return UsableMemoryBytes();
  int64_t bytes = 0;
  if (absl::SimpleAtoi(value, &bytes) && bytes > 0) return bytes;
  return InvalidParameter(kName, "a number of bytes > 0", absl::StrCat("\"", value, "\""));
}

absl::StatusOr<std::vector<DeviceSpec>> DeviceSpecs() {
  constexpr char kName[] = "OPSERVE_ACL_DEVICES";
  std::string value = Variable(kName);
  if (value.empty()) value = "cpu";
  std::vector<DeviceSpec> specs;
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(value, ';'))) {
    absl::StatusOr<DeviceSpec> spec = ParseDeviceSpec(text);
    if (!spec.ok()) {
      const auto detail = GetErrorDetail(spec.status()).value_or(ErrorDetail());
      return InvalidParameter(
          kName, absl::StrCat("devices as \"cpu,threads=2;cpu,profile=atlas-a2\": ", detail.want),
          detail.got);
    }
    // This library has the names of the one that drives NPUs.
    if (spec->kind != "cpu") return InvalidParameter(kName, "devices of kind cpu", spec->kind);
    specs.push_back(*std::move(spec));
  }
  return specs;
}

absl::Status SetFaults() {
  const std::string text = Variable("OPSERVE_ACL_FAULTS");
  return text.empty() ? absl::OkStatus() : Faults::Get().Set(text);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> OpenProvider() {
  OPSERVE_RETURN_IF_ERROR(SetFaults());
  const std::string target = Variable("OPSERVE_TARGET");
  if (!target.empty()) return OpenRemoteProvider(target, Variable("OPSERVE_ACL_REMOTE_LIBRARY"));
  LocalOptions options;
  OPSERVE_ASSIGN_OR_RETURN(options.devices, DeviceSpecs());
  OPSERVE_ASSIGN_OR_RETURN(options.memory_limit_bytes, MemoryLimit());
  OPSERVE_ASSIGN_OR_RETURN(options.guard_memory, Switch("OPSERVE_ACL_GUARD_MEMORY"));
  return OpenLocalProvider(options);
}

bool ReportsLeaks() { return Variable("OPSERVE_ACL_REPORT_LEAKS") == "1"; }

}  // namespace opserve::acl
