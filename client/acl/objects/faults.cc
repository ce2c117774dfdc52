#include "client/acl/objects/faults.h"

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "aclnn/aclnn_base.h"
#include "client/acl/objects/status_codes.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::acl {
namespace {

struct FaultName {
  std::string_view name;
  int32_t code;
};

// In enum order.
constexpr FaultName kNames[kFaults] = {
    {"malloc", ACL_ERROR_RT_MEMORY_ALLOCATION},
    {"memcpy", ACL_ERROR_RT_AICORE_EXCEPTION},
    {"phase1", ACLNN_ERR_INNER},
    {"phase2", ACLNN_ERR_RUNTIME_ERROR},
    {"kernel", ACL_ERROR_RT_AICORE_EXCEPTION},
    {"sync_timeout", ACL_ERROR_RT_STREAM_SYNC_TIMEOUT},
    {"device_lost", ACL_ERROR_RT_AICORE_EXCEPTION},
};

absl::Status BadPart(std::string_view part) {
  std::string names;
  for (const FaultName& known : kNames)
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(known.name));
  return InvalidParameter("faults",
                          absl::StrCat("NAME:NTH[=CODE], separated by commas; NAME one of ", names,
                                       "; NTH and CODE > 0"),
                          absl::StrCat("\"", std::string(part), "\""));
}

}  // namespace

Faults& Faults::Get() {
  static auto& faults = *new Faults();
  return faults;
}

absl::Status Faults::Parse(std::string_view part, Rows& rows) {
  const std::vector<std::string> name_rest = absl::StrSplit(ToAbsl(part), absl::MaxSplits(':', 1));
  if (name_rest.size() != 2) return BadPart(part);
  const std::vector<std::string> nth_code = absl::StrSplit(name_rest[1], absl::MaxSplits('=', 1));
  for (size_t i = 0; i < kFaults; ++i) {
    if (kNames[i].name != name_rest[0]) continue;
    Row row;
    if (!absl::SimpleAtoi(nth_code[0], &row.calls_left) || row.calls_left <= 0)
      return BadPart(part);
    if (nth_code.size() == 2) {
      int32_t code = 0;
      if (!absl::SimpleAtoi(nth_code[1], &code) || code <= 0) return BadPart(part);
      row.code = code;
    }
    rows[i] = row;
    return absl::OkStatus();
  }
  return BadPart(part);
}

absl::Status Faults::Set(std::string_view text) {
  Rows rows = {};
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(ToAbsl(text), ',', absl::SkipWhitespace())))
    OPSERVE_RETURN_IF_ERROR(Parse(part, rows));
  MutexLock lock(mutex_);
  rows_ = rows;
  return absl::OkStatus();
}

absl::Status Faults::Check(Fault fault, std::optional<int32_t> usual) {
  const auto index = static_cast<size_t>(fault);
  MutexLock lock(mutex_);
  Row& row = rows_[index];
  if (row.calls_left > 0 && --row.calls_left == 0) row.struck = true;
  if (!row.struck) return absl::OkStatus();
  row.struck = fault == Fault::kDeviceLost;
  return Failure(row.code.value_or(usual.value_or(kNames[index].code)),
                 absl::StrCat("injected fault: ", std::string(kNames[index].name)));
}

}  // namespace opserve::acl
