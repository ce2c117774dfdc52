#include <opserve/call.h>

#include "absl/strings/str_cat.h"
#include "core/base/strings.h"

namespace opserve::client {

absl::Status ExecuteResult::CheckFound(std::string_view name, const Tensor* tensor, DType dtype) {
  if (tensor != nullptr && tensor->dtype() == dtype) return absl::OkStatus();
  const std::string_view got = tensor == nullptr ? "no such output" : DTypeName(tensor->dtype());
  return absl::InternalError(absl::StrCat("the server's answer: ", ToAbsl(name), ": want ",
                                          ToAbsl(DTypeName(dtype)), ", got ", ToAbsl(got)));
}

}  // namespace opserve::client
