#include "client/cli/files/output_files.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/formats/npy.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::cli {
namespace {

// It is the server that says how large outputs are. What is printed is far smaller.
constexpr int64_t kMaxGatheredBytes = int64_t{4} << 30;

absl::Status TooLarge(const std::string& output, int64_t bytes) {
  return MakeError(
      {.reason = ErrorReason::kResourceLimit,
       .op = {},
       .parameter = output,
       .want = absl::StrCat("a file (-o ", output, "=FILE), or at most ", kMaxGatheredBytes,
                            " bytes of outputs that memory has room for"),
       .got = absl::StrCat(bytes, " bytes")});
}

}  // namespace

absl::StatusOr<OutputFiles::Output*> OutputFiles::Find(const std::string& name,
                                                       const TensorDesc& desc) {
  const auto known = outputs_.find(name);
  if (known != outputs_.end()) return &known->second;
  Output output;
  if (const auto file = files_.find(name); file != files_.end()) {
    OPSERVE_ASSIGN_OR_RETURN(output.file, FileWriter::Open(file->second));
    const std::string head = NpyPreamble(desc.dtype, desc.shape);
    OPSERVE_RETURN_IF_ERROR(output.file->Append(std::as_bytes(std::span(head))));
  } else {
    const int64_t bytes = desc.size_bytes();
    if (bytes <= kMaxGatheredBytes - gathered_bytes_)
      output.bytes = client::TryAllocateTensorBytes(static_cast<size_t>(bytes));
    if (output.bytes == nullptr) return TooLarge(name, bytes);
    gathered_bytes_ += bytes;
  }
  return &outputs_.emplace(name, std::move(output)).first->second;
}

absl::Status OutputFiles::Take(const client::PlannedOutput& output, int64_t offset_bytes,
                               std::span<const std::byte> bytes) {
  OPSERVE_ASSIGN_OR_RETURN(Output * found, Find(output.name, output.desc));
  taken_bytes_ += static_cast<int64_t>(bytes.size());
  if (found->file != nullptr) return found->file->Append(bytes);
  std::memcpy(found->bytes.get() + offset_bytes, bytes.data(), bytes.size());
  return absl::OkStatus();
}

absl::StatusOr<client::ExecuteResult> OutputFiles::Finish(const client::ExecuteResult& result) {
  client::ExecuteResult finished;
  for (const client::NamedTensor& output : result.outputs) {
    OPSERVE_ASSIGN_OR_RETURN(Output * found, Find(output.name, output.tensor.desc()));
    if (found->file != nullptr) OPSERVE_RETURN_IF_ERROR(found->file->Finish());
    finished.outputs.push_back(
        {output.name, client::Tensor(output.tensor.desc(), std::move(found->bytes))});
  }
  return finished;
}

}  // namespace opserve::cli
