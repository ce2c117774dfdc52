#include "server/rest/rest_request.h"

#include <array>
#include <span>
#include <utility>
#include <variant>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "inference/open_inference.pb.h"
#include "server/codec/message_scanner.h"
#include "server/codec/tensor_codec.h"
#include "server/open_inference/datatype.h"
#include "server/open_inference/infer_request.h"
#include "server/rest/json_reader.h"
#include "server/rest/tensor_data.h"

namespace opserve::server {
namespace {

using inference::InferParameter;
using inference::ModelInferRequest;
using InputTensor = ModelInferRequest::InferInputTensor;
using Parameters = google::protobuf::Map<std::string, InferParameter>;

constexpr size_t kMaxIdBytes = size_t{64} << 10;
constexpr std::string_view kBinarySize = "binary_data_size";
constexpr std::string_view kBinaryOutput = "binary_data_output";
constexpr std::string_view kBinaryData = "binary_data";
constexpr char kRegion[] = "shared_memory_region";

// One name for equal messages: maps in order.
std::string Serialize(const ModelInferRequest& request) {
  std::string out;
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    request.SerializeWithCachedSizes(&coded);
  }
  return out;
}

absl::Status Twice(std::string_view what) { return InvalidParameter(what, "it once", "it twice"); }

class RequestReader {
 public:
  RequestReader(std::string_view body, size_t json_bytes, const RestLimits& limits,
                ChargeBytes charge)
      : body_(body),
        binary_at_(json_bytes),
        json_(body.substr(0, json_bytes)),
        left_bytes_(limits.max_tensor_bytes),
        charge_(charge) {}

  absl::StatusOr<RestRequest> Read(std::string_view model, std::string_view version) {
    message_.set_model_name(std::string(model));
    message_.set_model_version(std::string(version));
    std::string name;
    if (!json_.BeginObject()) return json_.status();
    while (json_.NextMember(name)) OPSERVE_RETURN_IF_ERROR(ReadMember(name));
    if (!json_.End()) return json_.status();
    if (!has_inputs_) return MissingParameter("inputs", "a list of tensors");
    if (binary_at_ != body_.size()) {
      return InvalidParameter("body", "as many bytes as its JSON and its tensors have",
                              absl::StrCat(body_.size() - binary_at_, " more"));
    }
    for (const std::optional<bool> binary : asked_binary_)
      request_.binary_outputs.push_back(binary.value_or(request_.binary_by_default));
    if (message_.ByteSizeLong() > kMaxHeaderBytes) {
      return InvalidParameter(
          "body", absl::StrCat("at most ", kMaxHeaderBytes, " bytes besides tensors"), "more");
    }
    request_.header = Serialize(message_);
    return std::move(request_);
  }

 private:
  absl::Status ReadMember(const std::string& name) {
    constexpr std::array<std::string_view, 6> kMembers = {"id",      "parameters", "inputs",
                                                          "outputs", "model_name", "model_version"};
    for (size_t i = 0; i < kMembers.size(); ++i) {
      if (name != kMembers[i]) continue;
      if (std::exchange(seen_[i], true)) return Twice(name);
      if (i == 0) return ReadId();
      if (i == 1) return ReadParameters(*message_.mutable_parameters(), Of::kRequest);
      if (i == 2) return ReadInputs();
      if (i == 3) return ReadOutputs();
      return CheckPath(name,
                       i == 4 ? *message_.mutable_model_name() : *message_.mutable_model_version());
    }
    return UnknownParameter(
        "body", absl::StrCat("id, parameters, inputs and outputs", DidYouMean(name, kMembers)),
        Quoted(name));
  }

  absl::Status ReadId() {
    if (!json_.ReadString(request_.id)) return json_.status();
    if (request_.id.size() <= kMaxIdBytes) return absl::OkStatus();
    return OutOfRange("id", absl::StrCat("at most ", kMaxIdBytes, " bytes"),
                      absl::StrCat(request_.id.size()));
  }

  // KServe's clients say again what the path says, which may leave the version out.
  absl::Status CheckPath(const std::string& name, std::string& in_path) {
    std::string text;
    if (!json_.ReadString(text)) return json_.status();
    if (in_path.empty()) in_path = text;
    if (text.empty() || text == in_path) return absl::OkStatus();
    return InvalidParameter(name, absl::StrCat(Quoted(in_path), ", as in the path"), Quoted(text));
  }

  enum class Of : uint8_t { kRequest, kInput, kOutput };

  absl::Status ReadParameters(Parameters& out, Of of) {
    std::string name;
    if (!json_.BeginObject()) return json_.status();
    while (json_.NextMember(name)) {
      if (++parameters_ > kMaxInferParameters) {
        return InvalidParameter("parameters", absl::StrCat("at most ", kMaxInferParameters),
                                "more");
      }
      if (of == Of::kInput && name == kBinarySize) {
        OPSERVE_RETURN_IF_ERROR(ReadBinarySize());
      } else if (of == Of::kRequest && name == kBinaryOutput) {
        OPSERVE_RETURN_IF_ERROR(ReadSwitch(name, request_.binary_by_default));
      } else if (of == Of::kOutput && name == kBinaryData) {
        OPSERVE_RETURN_IF_ERROR(ReadSwitch(name, asked_binary_.back().emplace()));
      } else {
        if (out.contains(name)) return Twice(name);
        OPSERVE_RETURN_IF_ERROR(ReadParameter(name, out[name]));
      }
    }
    return json_.status();
  }

  absl::Status ReadSwitch(const std::string& name, bool& out) {
    if (json_.ReadBool(out)) return absl::OkStatus();
    return InvalidParameter(name, "true or false", "something else");
  }

  // Lists are texts, as other clients of the protocol send them.
  absl::Status ReadParameter(const std::string& name, InferParameter& out) {
    switch (json_.Peek()) {
      case JsonReader::Kind::kString:
        (void)json_.ReadString(*out.mutable_string_param());
        break;
      case JsonReader::Kind::kBool: {
        bool truth = false;
        (void)json_.ReadBool(truth);
        out.set_bool_param(truth);
        break;
      }
      case JsonReader::Kind::kArray: {
        std::string_view text;
        size_t start = 0;
        if (!json_.SkipUnread(text, start)) break;
        if (text.size() > list_bytes_)
          return InvalidParameter(name, "a shorter list", absl::StrCat(text.size(), " bytes"));
        list_bytes_ -= text.size();
        out.set_string_param(std::string(text));
        // It is JSON here, whatever the attribute takes.
        JsonReader list(text, start);
        OPSERVE_RETURN_IF_ERROR(CheckList(list, name));
        break;
      }
      case JsonReader::Kind::kNumber: {
        Number number;
        if (json_.ReadNumber(number)) SetNumber(number, out);
        break;
      }
      default:
        return InvalidParameter(name, "a number, a text, true, false or a list of these",
                                "something else");
    }
    return json_.status();
  }

  static absl::Status CheckList(JsonReader& list, const std::string& name) {
    (void)list.BeginArray();
    while (list.NextItem()) {
      bool truth = false;
      Number number;
      const bool is_bool = list.Peek() == JsonReader::Kind::kBool;
      if (is_bool ? !list.ReadBool(truth) : !list.ReadNumber(number)) break;
    }
    if (list.End()) return absl::OkStatus();
    return InvalidParameter(name, "a list of numbers, or of true and false", "another list");
  }

  static void SetNumber(const Number& number, InferParameter& out) {
    if (const auto* value = std::get_if<int64_t>(&number)) out.set_int64_param(*value);
    if (const auto* value = std::get_if<uint64_t>(&number)) out.set_uint64_param(*value);
    if (const auto* value = std::get_if<double>(&number)) out.set_double_param(*value);
  }

  absl::Status ReadBinarySize() {
    Number number;
    if (!json_.ReadNumber(number)) return json_.status();
    const auto* size = std::get_if<int64_t>(&number);
    if (size == nullptr || *size < 0)
      return OutOfRange(kBinarySize, "a number of bytes", "something else");
    binary_size_ = static_cast<size_t>(*size);
    return absl::OkStatus();
  }

  absl::Status ReadInputs() {
    has_inputs_ = true;
    if (!json_.BeginArray()) return json_.status();
    while (json_.NextItem()) {
      if (message_.inputs_size() == static_cast<int>(kMaxInferTensors))
        return InvalidParameter("inputs", absl::StrCat("at most ", kMaxInferTensors), "more");
      OPSERVE_RETURN_IF_ERROR(ReadInput(*message_.add_inputs()));
    }
    return json_.status();
  }

  absl::Status ReadInput(InputTensor& input) {
    std::string member;
    std::string_view data;
    size_t data_start = 0;
    binary_size_.reset();
    if (!json_.BeginObject()) return json_.status();
    while (json_.NextMember(member)) {
      if (member == "name") {
        (void)json_.ReadString(*input.mutable_name());
      } else if (member == "datatype") {
        (void)json_.ReadString(*input.mutable_datatype());
      } else if (member == "shape") {
        OPSERVE_RETURN_IF_ERROR(ReadShape(input));
      } else if (member == "parameters") {
        OPSERVE_RETURN_IF_ERROR(ReadParameters(*input.mutable_parameters(), Of::kInput));
      } else if (member == "data") {
        if (!data.empty()) return Twice("data");
        (void)json_.SkipUnread(data, data_start);
      } else {
        return UnknownParameter("inputs", "name, shape, datatype, parameters and data",
                                Quoted(member));
      }
    }
    if (json_.failed()) return json_.status();
    return TakeData(input, data, data_start);
  }

  absl::Status ReadShape(InputTensor& input) {
    if (input.shape_size() > 0) return Twice("shape");
    if (!json_.BeginArray()) return json_.status();
    while (json_.NextItem()) {
      Number number;
      if (!json_.ReadNumber(number)) break;
      const auto* extent = std::get_if<int64_t>(&number);
      if (extent == nullptr || input.shape_size() == kMaxDecodedRank) {
        return OutOfRange("shape", absl::StrCat("at most ", kMaxDecodedRank, " whole numbers"),
                          "something else");
      }
      input.add_shape(*extent);
    }
    return json_.status();
  }

  absl::Status TakeData(const InputTensor& input, std::string_view data, size_t data_start) {
    const std::string& name = input.name();
    if (!data.empty() && binary_size_.has_value())
      return InvalidParameter(name, "data or binary_data_size", "both");
    if (binary_size_.has_value()) {
      if (*binary_size_ > body_.size() - binary_at_) {
        return InvalidParameter(name, absl::StrCat(*binary_size_, " bytes of binary data"),
                                absl::StrCat(body_.size() - binary_at_));
      }
      const std::string_view bytes = body_.substr(binary_at_, *binary_size_);
      request_.raw.emplace_back(std::as_bytes(std::span(bytes)));
      binary_at_ += *binary_size_;
      return absl::OkStatus();
    }
    if (input.parameters().contains(kRegion)) {
      if (data.empty()) return absl::OkStatus();
      return InvalidParameter(name, "data or shared memory", "both");
    }
    if (data.empty()) return MissingParameter(name, "data, binary_data_size or shared memory");
    OPSERVE_ASSIGN_OR_RETURN(const DType dtype, ParseDatatype(input.datatype(), name));
    const std::span<const int64_t> shape(input.shape().data(), input.shape().size());
    OPSERVE_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(dtype, shape, name, left_bytes_));
    left_bytes_ -= bytes;
    OPSERVE_RETURN_IF_ERROR(charge_(bytes));
    OPSERVE_ASSIGN_OR_RETURN(std::vector<std::byte> elements,
                             ReadTensorData(data, data_start, dtype, shape, name));
    request_.raw.emplace_back(std::span<const std::byte>(elements));
    request_.values.push_back(std::move(elements));
    return absl::OkStatus();
  }

  absl::Status ReadOutputs() {
    if (!json_.BeginArray()) return json_.status();
    while (json_.NextItem()) {
      if (message_.outputs_size() == static_cast<int>(kMaxInferTensors))
        return InvalidParameter("outputs", absl::StrCat("at most ", kMaxInferTensors), "more");
      auto& output = *message_.add_outputs();
      asked_binary_.emplace_back();
      std::string member;
      if (!json_.BeginObject()) return json_.status();
      while (json_.NextMember(member)) {
        if (member == "name") {
          (void)json_.ReadString(*output.mutable_name());
        } else if (member == "parameters") {
          OPSERVE_RETURN_IF_ERROR(ReadParameters(*output.mutable_parameters(), Of::kOutput));
        } else {
          return UnknownParameter("outputs", "name and parameters", Quoted(member));
        }
      }
    }
    return json_.status();
  }

  const std::string_view body_;
  size_t binary_at_;  // where the binary data of the next input begins
  JsonReader json_;
  int64_t left_bytes_;  // that tensors of JSON may still take
  const ChargeBytes charge_;
  ModelInferRequest message_;
  RestRequest request_;
  std::array<bool, 6> seen_ = {};
  bool has_inputs_ = false;
  size_t parameters_ = 0;
  size_t list_bytes_ = kMaxHeaderBytes;  // that lists may still take
  std::optional<size_t> binary_size_;    // of the input that is being read
  std::vector<std::optional<bool>> asked_binary_;
};

}  // namespace

absl::StatusOr<RestRequest> ReadRestRequest(std::string_view model, std::string_view version,
                                            std::string_view body, std::optional<size_t> json_bytes,
                                            const RestLimits& limits, ChargeBytes charge) {
  const size_t json = json_bytes.value_or(body.size());
  if (json == 0 || json > body.size()) {
    return OutOfRange("Inference-Header-Content-Length",
                      absl::StrCat("the bytes of the JSON, from 1 to the body's ", body.size()),
                      absl::StrCat(json));
  }
  return RequestReader(body, json, limits, charge).Read(model, version);
}

}  // namespace opserve::server
