#include "server/open_inference/shared_tensors.h"

#include <optional>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "inference/open_inference.pb.h"
#include "server/codec/field_reader.h"
#include "server/codec/message_scanner.h"
#include "server/open_inference/parameter_value.h"

namespace opserve::server {
namespace {

using inference::ModelInferRequest;
using AnyInput = ModelInferRequest::InferInputTensor;
using AnyOutput = ModelInferRequest::InferRequestedOutputTensor;
using TensorParameters = google::protobuf::Map<std::string, inference::InferParameter>;

constexpr uint32_t kInputTag = BytesTag(ModelInferRequest::kInputsFieldNumber);
constexpr uint32_t kOutputTag = BytesTag(ModelInferRequest::kOutputsFieldNumber);

constexpr std::string_view kMention = "shared_memory_";
constexpr char kRegionName[] = "shared_memory_region";
constexpr char kRegionBytes[] = "shared_memory_byte_size";
constexpr char kRegionOffset[] = "shared_memory_offset";

// 0 where it is not given.
absl::StatusOr<uint64_t> TakeNumber(const char* name, const std::string& tensor,
                                    TensorParameters& parameters) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return uint64_t{0};
  const absl::StatusOr<int64_t> number = IntegerOf(tensor, found->second);
  if (!number.ok()) return number.status();
  if (*number < 0) return OutOfRange(tensor, absl::StrCat(name, " >= 0"), absl::StrCat(*number));
  parameters.erase(found);
  return static_cast<uint64_t>(*number);
}

// Takes the parameters of one tensor that say where it is; nullopt where none does.
absl::StatusOr<std::optional<SharedTensor>> TakePlace(const std::string& tensor,
                                                      TensorParameters& parameters) {
  const auto region = parameters.find(kRegionName);
  const bool has_size = parameters.contains(kRegionBytes);
  if (region == parameters.end() && !has_size && !parameters.contains(kRegionOffset))
    return std::optional<SharedTensor>();
  if (region == parameters.end())
    return MissingParameter(
        tensor, absl::StrCat(kRegionName, " with the other parameters of shared memory"));
  if (!has_size) return MissingParameter(tensor, absl::StrCat(kRegionBytes, " with ", kRegionName));
  if (region->second.parameter_choice_case() != inference::InferParameter::kStringParam)
    return InvalidParameter(tensor, absl::StrCat(kRegionName, " with the name of a region"),
                            "no text");
  SharedTensor place{.index = 0, .name = tensor, .region = region->second.string_param()};
  parameters.erase(region);
  OPSERVE_ASSIGN_OR_RETURN(place.byte_size, TakeNumber(kRegionBytes, tensor, parameters));
  OPSERVE_ASSIGN_OR_RETURN(place.offset, TakeNumber(kRegionOffset, tensor, parameters));
  return std::optional<SharedTensor>(std::move(place));
}

// Equal messages have equal bytes: maps in order.
void AppendTensor(uint32_t tag, const google::protobuf::MessageLite& tensor, std::string& out) {
  AppendStart(tag, tensor.ByteSizeLong(), out);
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  tensor.SerializeWithCachedSizes(&coded);
}

absl::Status CheckContents(const AnyInput& input) {
  if (!input.has_contents()) return absl::OkStatus();
  return InvalidParameter(input.name(), "no contents, as it is in shared memory", "contents");
}
absl::Status CheckContents(const AnyOutput& /*output*/) { return absl::OkStatus(); }

// Appends the tensor, the one of that index, to `out` without its place, which goes into `places`.
template <typename Tensor>
absl::Status TakeTensor(uint32_t tag, std::string_view payload, size_t index,
                        std::vector<SharedTensor>& places, std::string& out) {
  Tensor tensor;
  OPSERVE_RETURN_IF_ERROR(ParseHeader(payload, tensor));
  OPSERVE_ASSIGN_OR_RETURN(std::optional<SharedTensor> place,
                           TakePlace(tensor.name(), *tensor.mutable_parameters()));
  if (place.has_value()) {
    OPSERVE_RETURN_IF_ERROR(CheckContents(tensor));
    place->index = index;
    places.push_back(*std::move(place));
  }
  AppendTensor(tag, tensor, out);
  return absl::OkStatus();
}

}  // namespace

bool SaysWhere(std::string_view parameter) {
  return parameter == kRegionName || parameter == kRegionBytes || parameter == kRegionOffset;
}

bool MentionsSharedMemory(std::string_view call) {
  return call.find(kMention) != std::string_view::npos;
}

absl::StatusOr<SharedTensors> SeparateShared(std::string_view call) {
  SharedTensors parts;
  parts.call.reserve(call.size());
  size_t outputs = 0;
  FieldReader fields(call);
  Field field;
  size_t start = 0;
  for (; fields.Next(field); start = field.end) {
    const std::string_view payload = call.substr(field.payload, field.end - field.payload);
    const size_t index = field.tag == kInputTag    ? parts.inputs++
                         : field.tag == kOutputTag ? outputs++
                                                   : 0;
    if (field.tag == kInputTag && MentionsSharedMemory(payload)) {
      OPSERVE_RETURN_IF_ERROR(
          TakeTensor<AnyInput>(field.tag, payload, index, parts.shared_inputs, parts.call));
    } else if (field.tag == kOutputTag && MentionsSharedMemory(payload)) {
      OPSERVE_RETURN_IF_ERROR(
          TakeTensor<AnyOutput>(field.tag, payload, index, parts.shared_outputs, parts.call));
    } else {
      parts.call.append(call.substr(start, field.end - start));
    }
  }
  return parts;
}

}  // namespace opserve::server
