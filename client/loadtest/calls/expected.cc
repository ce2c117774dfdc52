#include "client/loadtest/calls/expected.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/strings.h"

namespace opserve::loadtest {
namespace {

absl::Status Wrong(std::string_view want, std::string_view got) {
  return absl::DataLossError(absl::StrCat("wrong answer: want ", ToAbsl(want),
                                          " as in the first answer to these inputs, got ",
                                          ToAbsl(got)));
}

}  // namespace

Expected::Expected(const client::ExecuteResult& first) {
  for (const client::NamedTensor& output : first.outputs) {
    const std::span<const std::byte> bytes = output.tensor.bytes();
    outputs_.emplace_back(output.name, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
}

absl::Status Expected::Check(const client::ExecuteResult& result) const {
  if (result.outputs.size() != outputs_.size())
    return Wrong(absl::StrCat(outputs_.size(), " outputs"), absl::StrCat(result.outputs.size()));
  absl::Status status;
  for (size_t i = 0; i < outputs_.size(); ++i)
    status.Update(CheckOutput(i, result.outputs[i].name, result.outputs[i].tensor.bytes()));
  return status;
}

absl::Status Expected::CheckOutput(size_t index, std::string_view name,
                                   std::span<const std::byte> bytes) const {
  if (index >= outputs_.size()) return Wrong(absl::StrCat(outputs_.size(), " outputs"), "more");
  const auto& [want_name, want] = outputs_[index];
  if (want_name != name) return Wrong(absl::StrCat("the output ", want_name), Quoted(name));
  if (want.size() != bytes.size())
    return Wrong(absl::StrCat(want.size(), " bytes of ", want_name), absl::StrCat(bytes.size()));
  const auto differs = std::mismatch(want.begin(), want.end(), bytes.begin()).first;
  if (differs == want.end()) return absl::OkStatus();
  return Wrong(absl::StrCat("the bits of ", want_name),
               absl::StrCat("others from byte ", differs - want.begin(), " on"));
}

}  // namespace opserve::loadtest
