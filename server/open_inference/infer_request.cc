#include "server/open_inference/infer_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "server/codec/field_reader.h"
#include "server/codec/message_scanner.h"
#include "server/codec/tensor_codec.h"
#include "server/open_inference/datatype.h"
#include "server/open_inference/model_codec.h"
#include "server/open_inference/parameter_value.h"
#include "server/open_inference/shared_tensors.h"

namespace opserve::server {
namespace {

using inference::InferTensorContents;
using inference::ModelInferRequest;
using InputTensor = ModelInferRequest::InferInputTensor;
using Parameters = google::protobuf::Map<std::string, inference::InferParameter>;

constexpr uint32_t kIdTag = BytesTag(ModelInferRequest::kIdFieldNumber);
constexpr uint32_t kInputsTag = BytesTag(ModelInferRequest::kInputsFieldNumber);
constexpr uint32_t kOutputsTag = BytesTag(ModelInferRequest::kOutputsFieldNumber);

constexpr uint32_t kParametersTag = BytesTag(ModelInferRequest::kParametersFieldNumber);
constexpr uint32_t kOfInputTag = BytesTag(InputTensor::kParametersFieldNumber);
constexpr uint32_t kOfOutputTag =
    BytesTag(ModelInferRequest::InferRequestedOutputTensor::kParametersFieldNumber);

constexpr std::string_view kDevice = "opserve_device";
constexpr std::string_view kOutputMask = "output_mask";

// Hints of the protocol's that change no result.
bool IsHint(std::string_view name) {
  constexpr std::array<std::string_view, 4> kHints = {"binary_data_output", "content_type",
                                                      "headers", "priority"};
  return name.starts_with("triton_") ||
         std::find(kHints.begin(), kHints.end(), name) != kHints.end();
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

absl::Status CheckId(const std::string& id) {
  if (IsAscii(id)) return absl::OkStatus();
  std::string field;
  AppendStart(kIdTag, id.size(), field);
  ModelInferRequest request;
  return ParseHeader(field.append(id), request);
}

absl::Status CheckMost(std::string_view what, size_t count, size_t most) {
  if (count <= most) return absl::OkStatus();
  return InvalidParameter(what, absl::StrCat("at most ", most), "more");
}

// The fields of that tag in a message, up to where it is malformed.
size_t CountFields(std::string_view message, uint32_t tag) {
  FieldReader fields(message);
  Field field;
  size_t count = 0;
  while (fields.Next(field)) count += field.tag == tag ? 1 : 0;
  return count;
}

// What parsing would make objects of.
struct ObjectCounts {
  size_t inputs = 0;
  size_t outputs = 0;
  size_t parameters = 0;

  absl::Status Add(uint32_t tag, std::string_view payload) {
    switch (tag) {
      case kParametersTag:
        ++parameters;
        break;
      case kInputsTag:
        ++inputs;
        parameters += CountFields(payload, kOfInputTag);
        break;
      case kOutputsTag:
        ++outputs;
        parameters += CountFields(payload, kOfOutputTag);
        break;
      default:
        return absl::OkStatus();
    }
    OPSERVE_RETURN_IF_ERROR(CheckMost("inputs", inputs, kMaxInferTensors));
    OPSERVE_RETURN_IF_ERROR(CheckMost("outputs", outputs, kMaxInferTensors));
    return CheckMost("parameters", parameters, kMaxInferParameters);
  }
};

class RequestDecoder {
 public:
  RequestDecoder(const ModelInferRequest& request, const Operator& op, size_t raw_entries)
      : request_(request), op_(op), raw_entries_(raw_entries) {}

  absl::StatusOr<DecodedInfer> Decode() {
    call().set_op(std::string(op_.name));
    for (const auto& [name, value] : request_.parameters())
      OPSERVE_RETURN_IF_ERROR(TakeParameter(name, value));
    for (const InputTensor& input : request_.inputs())
      OPSERVE_RETURN_IF_ERROR(CheckTensorParameters(input.name(), input.parameters()));
    OPSERVE_RETURN_IF_ERROR(CheckRawEntries());
    for (const InputTensor& input : request_.inputs()) OPSERVE_RETURN_IF_ERROR(TakeInput(input));
    for (const auto& output : request_.outputs()) {
      OPSERVE_RETURN_IF_ERROR(CheckTensorParameters(output.name(), output.parameters()));
      call().add_outputs()->set_name(output.name());
    }
    MaskOutputs();
    return std::move(decoded_);
  }

 private:
  v1::Call& call() { return decoded_.call; }

  absl::Status TakeParameter(const std::string& name, const inference::InferParameter& value) {
    if (const int attribute = op_.FindAttribute(name); attribute >= 0) {
      OPSERVE_ASSIGN_OR_RETURN(
          *call().add_attributes(),
          DecodeParameter(value, op_.attributes[static_cast<size_t>(attribute)]));
      return absl::OkStatus();
    }
    if (IsHint(name)) return absl::OkStatus();
    if (name.starts_with("sequence_")) return CheckNoSequence(name, value);
    if (name == "timeout") return TakeTimeout(name, value);
    if (name == kDevice) return TakeDevice(value);
    call().add_attributes()->set_name(name);  // binding knows what is near to it
    return absl::OkStatus();
  }

  static absl::Status CheckNoSequence(const std::string& name,
                                      const inference::InferParameter& value) {
    const bool is_none = value.int64_param() == 0 && value.uint64_param() == 0 &&
                         !value.bool_param() &&
                         (value.string_param().empty() || value.string_param() == "0");
    if (is_none) return absl::OkStatus();
    return InvalidParameter(name, "no sequence: calls do not depend on others", "one");
  }

  absl::Status TakeTimeout(const std::string& name, const inference::InferParameter& value) {
    OPSERVE_ASSIGN_OR_RETURN(const int64_t microseconds, IntegerOf(name, value));
    if (microseconds < 0)
      return OutOfRange(name, "microseconds >= 0 (0: none)", absl::StrCat(microseconds));
    if (microseconds > 0) decoded_.timeout = absl::Microseconds(microseconds);
    return absl::OkStatus();
  }

  absl::Status TakeDevice(const inference::InferParameter& value) {
    if (value.parameter_choice_case() != inference::InferParameter::kStringParam)
      return InvalidParameter(kDevice, "the name of a device", "no string");
    call().set_device(value.string_param());
    return absl::OkStatus();
  }

  absl::Status CheckRawEntries() const {
    const auto typed = std::find_if(request_.inputs().begin(), request_.inputs().end(),
                                    [](const InputTensor& input) { return input.has_contents(); });
    if (raw_entries_ == 0) return absl::OkStatus();
    if (typed != request_.inputs().end()) {
      return InvalidParameter(typed->name(), "no contents, as there are raw_input_contents",
                              "contents");
    }
    if (raw_entries_ == static_cast<size_t>(request_.inputs_size())) return absl::OkStatus();
    return InvalidParameter("raw_input_contents",
                            absl::StrCat(request_.inputs_size(), " entries, one for each input"),
                            absl::StrCat(raw_entries_));
  }

  absl::Status TakeInput(const InputTensor& input) {
    const std::string& name = input.name();
    OPSERVE_ASSIGN_OR_RETURN(const DType dtype, ParseDatatype(input.datatype(), name));
    v1::Tensor& tensor = *call().add_inputs();
    tensor.set_name(name);
    tensor.set_dtype(EncodeDType(dtype));
    *tensor.mutable_shape() = input.shape();
    if (raw_entries_ > 0) {
      tensor.set_raw_index(next_raw_++);
      return absl::OkStatus();
    }
    if (!input.has_contents())
      return MissingParameter(name, "data (an entry of raw_input_contents, or contents)");
    return TakeContents(input, dtype, *tensor.mutable_values());
  }

  static absl::Status TakeContents(const InputTensor& input, DType dtype, v1::TensorValues& out) {
    const InferTensorContents& from = input.contents();
    if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
      return InvalidParameter(input.name(),
                              absl::StrCat(input.datatype(), " in raw_input_contents"), "contents");
    }
    int taken = 0;
    const auto take = [&taken](const auto& list, auto& values) {
      values.Add(list.begin(), list.end());
      taken = list.size();
    };
    const DTypeKind kind = DTypeKindOf(dtype);
    const bool is_wide = DTypeSize(dtype) == 8;
    if (kind == DTypeKind::kBool) take(from.bool_contents(), *out.mutable_bools());
    if (kind == DTypeKind::kSignedInt && !is_wide) take(from.int_contents(), *out.mutable_ints());
    if (kind == DTypeKind::kSignedInt && is_wide) take(from.int64_contents(), *out.mutable_ints());
    // Typed values take unsigned ones up to 32 bits among the ints.
    if (kind == DTypeKind::kUnsignedInt && !is_wide)
      take(from.uint_contents(), *out.mutable_ints());
    if (kind == DTypeKind::kUnsignedInt && is_wide)
      take(from.uint64_contents(), *out.mutable_uints());
    if (kind == DTypeKind::kFloat && !is_wide) take(from.fp32_contents(), *out.mutable_floats());
    if (kind == DTypeKind::kFloat && is_wide) take(from.fp64_contents(), *out.mutable_floats());
    if (taken == CountOf(from)) return absl::OkStatus();
    return InvalidParameter(input.name(),
                            absl::StrCat("contents in the list of ", input.datatype()),
                            "contents in another list");
  }

  static int CountOf(const InferTensorContents& contents) {
    return contents.bool_contents_size() + contents.int_contents_size() +
           contents.int64_contents_size() + contents.uint_contents_size() +
           contents.uint64_contents_size() + contents.fp32_contents_size() +
           contents.fp64_contents_size() + contents.bytes_contents_size();
  }

  // Of an input or a requested output.
  static absl::Status CheckTensorParameters(const std::string& tensor,
                                            const Parameters& parameters) {
    for (const auto& [name, value] : parameters) {
      if (SaysWhere(name)) {
        return MakeError({.reason = ErrorReason::kNoSharedMemory,
                          .op = {},
                          .parameter = tensor,
                          .want = "data in the message: this server allows no shared memory",
                          .got = name});
      }
      if (name == "classification") {
        return InvalidParameter(tensor, "the tensor itself: there is no classification", name);
      }
      // KServe's client says the size of what it put into raw_input_contents.
      if (!IsHint(name) && name != "binary_data" && name != "binary_data_size") {
        return UnknownParameter(tensor, "no parameters but the protocol's",
                                absl::StrCat("unknown parameter ", Quoted(name)));
      }
    }
    return absl::OkStatus();
  }

  // What is not asked for need not be computed.
  void MaskOutputs() {
    const int mask = request_.outputs().empty() ? -1 : op_.FindAttribute(kOutputMask);
    if (mask < 0 || IsGiven(kOutputMask)) return;
    const AttributeParam& param = op_.attributes[static_cast<size_t>(mask)];
    if (param.list_length != static_cast<int>(op_.outputs.size())) return;
    v1::Attribute& attribute = *call().add_attributes();
    attribute.set_name(std::string(kOutputMask));
    for (const TensorParam& output : op_.outputs) {
      const auto is_it = [&output](const v1::Tensor& asked) { return asked.name() == output.name; };
      attribute.mutable_bool_list()->add_values(
          std::any_of(call().outputs().begin(), call().outputs().end(), is_it));
    }
  }

  bool IsGiven(std::string_view name) const {
    const auto has_name = [name](const auto& each) { return each.name() == name; };
    const v1::Call& call = decoded_.call;
    return std::any_of(call.attributes().begin(), call.attributes().end(), has_name) ||
           std::any_of(call.inputs().begin(), call.inputs().end(), has_name);
  }

  const ModelInferRequest& request_;
  const Operator& op_;
  const size_t raw_entries_;
  uint32_t next_raw_ = 0;
  DecodedInfer decoded_;
};

}  // namespace

absl::StatusOr<InferHeader> SplitInferHeader(std::string_view header) {
  InferHeader split;
  split.call.reserve(header.size());
  FieldReader fields(header);
  Field field;
  ObjectCounts counts;
  size_t start = 0;
  for (; fields.Next(field); start = field.end) {
    const std::string_view payload = header.substr(field.payload, field.end - field.payload);
    if (field.tag == kIdTag) {
      split.id = payload;
      OPSERVE_RETURN_IF_ERROR(CheckId(split.id));
      continue;
    }
    OPSERVE_RETURN_IF_ERROR(counts.Add(field.tag, payload));
    split.call.append(header.substr(start, field.end - start));
  }
  return split;
}

absl::StatusOr<DecodedInfer> DecodeInferRequest(const ModelInferRequest& request,
                                                size_t raw_entries) {
  OPSERVE_ASSIGN_OR_RETURN(const Operator* op,
                           FindModel(request.model_name(), request.model_version()));
  absl::StatusOr<DecodedInfer> decoded = RequestDecoder(request, *op, raw_entries).Decode();
  if (decoded.ok()) return decoded;
  return WithOperator(decoded.status(), op->name);
}

}  // namespace opserve::server
