// The one place where outputs that a server answered with are checked: against what was asked for,
// and against the bytes that came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <opserve/call.h>
#include <opserve/schema.h>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/wire/asked_outputs.h"
#include "core/tensor/tensor_desc.h"
#include "opserve/v1/types.pb.h"

namespace opserve::client {

// Of one call, and of the description of one of them: no operator has nearly as many, and few
// programs.
inline constexpr size_t kMaxOutputs = 1024;
inline constexpr size_t kMaxDescriptionBytes = 4096;

// "float32[2, 3]", for errors.
std::string TypeText(const TensorDesc& desc);

struct RawBytes {
  std::shared_ptr<const std::byte> bytes;  // never null in an answer
  size_t size = 0;
};

// The bulk entries of one answer: each is one output's.
class RawEntries {
 public:
  void Add(RawBytes entry) { entries_.push_back(std::move(entry)); }
  size_t size() const { return entries_.size(); }

  // nullopt for one that is not there, or was taken already.
  std::optional<RawBytes> Take(size_t index);
  // INTERNAL when some were not taken.
  absl::Status CheckAllTaken(std::string_view message) const;

 private:
  std::vector<RawBytes> entries_;
  size_t taken_ = 0;
};

// The outputs of one call, in the order in which they come. All errors are INTERNAL and name
// `message`, what the outputs come in. Not thread-safe.
class AnsweredOutputs {
 public:
  // Both must outlive it.
  AnsweredOutputs(std::string_view message, const AskedOutputs& asked)
      : message_(message), asked_(asked) {}

  // The next one: named, not twice, dense, of a rank and size that there are, and as it was asked
  // for.
  absl::StatusOr<TensorDesc> Describe(const v1::Tensor& output);
  // The same with its bytes: one of `raw` that is exactly as large, or the shared memory that was
  // asked for.
  absl::StatusOr<Tensor> Read(const v1::Tensor& output, RawEntries& raw);
  // That there was an output, and all that were asked for.
  absl::Status CheckComplete() const;

 private:
  const AskedOutput* FindAsked(std::string_view name) const;
  absl::Status CheckName(const std::string& name) const;
  absl::Status CheckAsked(const v1::Tensor& output, const TensorDesc& desc) const;
  absl::StatusOr<Tensor> InShared(const v1::Tensor& output, TensorDesc desc) const;
  absl::StatusOr<Tensor> InRaw(const v1::Tensor& output, TensorDesc desc, RawEntries& raw) const;
  absl::Status Bad(const v1::Tensor& output, std::string_view want, std::string_view got) const;

  const std::string_view message_;
  const AskedOutputs& asked_;
  absl::InlinedVector<std::string, 4> names_;
  int64_t total_bytes_ = 0;
};

// Of an answer that has one. INTERNAL, naming `message`, for times that there cannot be.
absl::StatusOr<Execution> ReadExecution(std::string_view message, const v1::Execution& execution);

// All outputs of a plan, without bytes.
template <typename Tensors>
absl::StatusOr<std::vector<PlannedOutput>> ReadPlannedOutputs(std::string_view message,
                                                              const Tensors& outputs,
                                                              const AskedOutputs& asked) {
  AnsweredOutputs answered(message, asked);
  std::vector<PlannedOutput> planned;
  for (const v1::Tensor& output : outputs) {
    absl::StatusOr<TensorDesc> desc = answered.Describe(output);
    if (!desc.ok()) return desc.status();
    planned.push_back({output.name(), *std::move(desc)});
  }
  const absl::Status complete = answered.CheckComplete();
  if (!complete.ok()) return complete;
  return planned;
}

// All outputs of a call whose bytes are in `raw`.
template <typename Tensors>
absl::StatusOr<ExecuteResult> ReadOutputs(std::string_view message, const Tensors& outputs,
                                          RawEntries& raw, const AskedOutputs& asked) {
  AnsweredOutputs answered(message, asked);
  ExecuteResult result;
  for (const v1::Tensor& output : outputs) {
    absl::StatusOr<Tensor> tensor = answered.Read(output, raw);
    if (!tensor.ok()) return tensor.status();
    result.outputs.push_back({output.name(), *std::move(tensor)});
  }
  const absl::Status complete = answered.CheckComplete();
  if (!complete.ok()) return complete;
  return result;
}

}  // namespace opserve::client
