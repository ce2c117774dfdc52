#include "client/cpp/wire/answered_outputs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/values/shared_region.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/tensor/shape.h"

namespace opserve::client {

std::string TypeText(const TensorDesc& desc) {
  return absl::StrCat(ToAbsl(DTypeName(desc.dtype)), ShapeToString(desc.shape));
}

namespace {

// As one that the call masks out comes.
bool IsMasked(const v1::Tensor& output) {
  return output.shape_size() == 1 && output.shape(0) == 0 &&
         output.data_case() == v1::Tensor::DATA_NOT_SET;
}

bool IsAt(const v1::SharedView& view, const SharedPlace& place) {
  return view.region() == place.region->id && view.offset_bytes() == place.offset_bytes &&
         view.size_bytes() == place.size_bytes;
}

}  // namespace

AskedOutputs AskedOf(const Call& call) {
  AskedOutputs asked;
  for (const auto& [name, dtype] : call.output_dtypes()) asked.push_back({name, dtype, {}, {}});
  for (const auto& [name, view] : call.outputs())
    asked.push_back({name, view.dtype, view.shape, view});
  return asked;
}

AskedOutputs AskedOf(const DeviceCall& call) {
  AskedOutputs asked = AskedOf(call.call());
  for (const auto& [name, tensor] : call.outputs())
    asked.push_back({name, tensor.desc.dtype, tensor.desc.shape, {}});
  return asked;
}

absl::StatusOr<Execution> ReadExecution(std::string_view message, const v1::Execution& execution) {
  if (execution.queued_ns() < 0 || execution.executed_ns() < 0)
    return BadAnswer(message, "execution", "times >= 0", "one below");
  return Execution{.device = execution.device(),
                   .queued = absl::Nanoseconds(execution.queued_ns()),
                   .executed = absl::Nanoseconds(execution.executed_ns())};
}

std::optional<RawBytes> RawEntries::Take(size_t index) {
  if (index >= entries_.size() || entries_[index].bytes == nullptr) return std::nullopt;
  ++taken_;
  return std::exchange(entries_[index], RawBytes());
}

absl::Status RawEntries::CheckAllTaken(std::string_view message) const {
  if (taken_ == entries_.size()) return absl::OkStatus();
  return BadAnswer(message, "raw", absl::StrCat(taken_, " entries, one for each output"),
                   absl::StrCat(entries_.size()));
}

absl::Status AnsweredOutputs::Bad(const v1::Tensor& output, std::string_view want,
                                  std::string_view got) const {
  return BadAnswer(message_, output.name(), want, got);
}

const AskedOutput* AnsweredOutputs::FindAsked(std::string_view name) const {
  for (const AskedOutput& asked : asked_) {
    if (asked.name == name) return &asked;
  }
  return nullptr;
}

absl::Status AnsweredOutputs::CheckName(const std::string& name) const {
  if (names_.size() == kMaxOutputs)
    return BadAnswer(message_, "outputs", absl::StrCat("at most ", kMaxOutputs), "more");
  if (name.empty()) return BadAnswer(message_, "outputs", "names", "one that has none");
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) return absl::OkStatus();
  return BadAnswer(message_, name, "one output of that name", "another");
}

absl::Status AnsweredOutputs::CheckAsked(const v1::Tensor& output, const TensorDesc& desc) const {
  const AskedOutput* asked = FindAsked(output.name());
  if (asked == nullptr || IsMasked(output)) return absl::OkStatus();
  const bool right_dtype = asked->dtype == DType::kUndefined || asked->dtype == desc.dtype;
  const bool right_shape = !asked->shape.has_value() || SameShape(*asked->shape, desc.shape);
  if (right_dtype && right_shape) return absl::OkStatus();
  TensorDesc want = desc;
  if (asked->dtype != DType::kUndefined) want.dtype = asked->dtype;
  if (asked->shape.has_value()) want.shape = *asked->shape;
  return Bad(output, absl::StrCat(TypeText(want), ", as was asked for"), TypeText(desc));
}

absl::StatusOr<TensorDesc> AnsweredOutputs::Describe(const v1::Tensor& output) {
  OPSERVE_RETURN_IF_ERROR(CheckName(output.name()));
  if (output.strides_size() != 0 || output.storage_offset() != 0)
    return Bad(output, "a dense tensor", "strides or an offset");
  if (output.shape_size() > kMaxRank)
    return Bad(output, absl::StrCat("a rank of at most ", kMaxRank),
               absl::StrCat(output.shape_size()));
  const Dims shape(output.shape().begin(), output.shape().end());
  TensorDesc desc = TensorDesc::Dense(FromWire(output.dtype()), shape);
  const absl::Status sound = CheckDesc(desc, output.name());
  if (!sound.ok()) return BadAnswer(message_, ToStd(sound.message()));
  OPSERVE_RETURN_IF_ERROR(CheckAsked(output, desc));
  if (__builtin_add_overflow(total_bytes_, desc.size_bytes(), &total_bytes_))
    return Bad(output, "outputs of less than 2^63 bytes in all", "more");
  names_.push_back(output.name());
  return desc;
}

absl::StatusOr<Tensor> AnsweredOutputs::InShared(const v1::Tensor& output, TensorDesc desc) const {
  const AskedOutput* asked = FindAsked(output.name());
  if (asked == nullptr || asked->shared.shared.region == nullptr ||
      !IsAt(output.shared(), asked->shared.shared) ||
      static_cast<int64_t>(asked->shared.storage.size()) != desc.size_bytes())
    return Bad(output, "bytes where they were asked for", "others in shared memory");
  return Tensor(std::move(desc), std::shared_ptr<const std::byte>(asked->shared.shared.region,
                                                                  asked->shared.storage.data()));
}

absl::StatusOr<Tensor> AnsweredOutputs::InRaw(const v1::Tensor& output, TensorDesc desc,
                                              RawEntries& raw) const {
  const AskedOutput* asked = FindAsked(output.name());
  if (asked != nullptr && asked->shared.shared.region != nullptr)
    return Bad(output, "bytes in shared memory, as was asked for", "bytes in the answer");
  std::optional<RawBytes> bytes = raw.Take(output.raw_index());
  if (!bytes.has_value())
    return Bad(output, absl::StrCat("a raw_index below ", raw.size(), " that is its own"),
               absl::StrCat(output.raw_index()));
  if (static_cast<int64_t>(bytes->size) != desc.size_bytes())
    return Bad(output, absl::StrCat(desc.size_bytes(), " bytes for ", TypeText(desc)),
               absl::StrCat(bytes->size));
  return Tensor(std::move(desc), std::move(bytes->bytes));
}

absl::StatusOr<Tensor> AnsweredOutputs::Read(const v1::Tensor& output, RawEntries& raw) {
  OPSERVE_ASSIGN_OR_RETURN(TensorDesc desc, Describe(output));
  switch (output.data_case()) {
    case v1::Tensor::kRawIndex:
      return InRaw(output, std::move(desc), raw);
    case v1::Tensor::kShared:
      return InShared(output, std::move(desc));
    case v1::Tensor::DATA_NOT_SET:
      if (desc.num_elements() == 0) return Tensor(std::move(desc), nullptr);
      return Bad(output, "bytes", "none");
    default:
      return Bad(output, "raw bytes", "data of a kind that was not asked for");
  }
}

absl::Status AnsweredOutputs::CheckComplete() const {
  if (names_.empty()) return BadAnswer(message_, "outputs", "one at least", "none");
  for (const AskedOutput& asked : asked_) {
    if (std::find(names_.begin(), names_.end(), asked.name) == names_.end())
      return BadAnswer(message_, asked.name, "an output of that name, as was asked for", "none");
  }
  return absl::OkStatus();
}

}  // namespace opserve::client
