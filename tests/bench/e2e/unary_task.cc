#include "tests/bench/e2e/unary_task.h"

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/unknown_field_set.h"
#include "inference/open_inference.pb.h"
#include "tests/bench/e2e/echo_protocol.h"

namespace opserve::bench {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr const char* kExecute = "/opserve.v1.OperatorService/Execute";
constexpr const char* kExecuteBatch = "/opserve.v1.OperatorService/ExecuteBatch";
constexpr const char* kInfer = "/inference.GRPCInferenceService/ModelInfer";
constexpr int kCalls = 1;  // ExecuteBatchRequest.calls
constexpr int kRaw = v1::ExecuteRequest::kRawFieldNumber;
constexpr size_t kCopiedBytes = 16 << 10;

// About what an output takes besides its bytes: dtype, shape, name, tags and lengths.
constexpr int64_t kOutputFraming = 32;

void AppendRaw(const Workload& workload, int raw, StoredMessage& message) {
  for (const std::string& input : workload.inputs) {
    std::string start;
    AppendFieldStart(raw, input.size(), start);
    message.Append(start);
    message.Append(input);
  }
}

// Every entry of an answer's field `raw` is the workload's output, and there are `calls` of them.
absl::Status CheckRawEntries(const Workload& workload, int64_t calls, int raw,
                             const std::string& answer) {
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromString(answer)) return absl::InternalError("an answer that is no message");
  int64_t entries = 0;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    if (field.number() != raw) continue;
    ++entries;
    if (field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      return absl::InternalError("an answer whose raw is not bytes");
    OPSERVE_RETURN_IF_ERROR(CheckFloats(workload.output, field.length_delimited()));
  }
  if (entries == calls) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("wrong answer: want ", calls, " outputs, got ", entries));
}

absl::Status CheckEcho(int64_t answer_bytes, const std::string& answer) {
  EchoHeader header;
  if (ReadEchoHeader(answer, header) && static_cast<int64_t>(answer.size()) == answer_bytes)
    return absl::OkStatus();
  return absl::InternalError(absl::StrCat("wrong answer: want an echo of ", answer_bytes,
                                          " bytes, got ", answer.size(), " bytes"));
}

void Finish(const Workload& workload, int64_t calls, Peer peer, UnaryTask& task) {
  task.calls = calls;
  task.input_bytes = calls * workload.input_bytes();
  task.output_bytes = calls * workload.output_bytes();
  if (peer == Peer::kOpserve) {
    task.check = [&workload, calls](const std::string& answer) {
      return CheckRawEntries(workload, calls, kRaw, answer);
    };
    return;
  }
  const int64_t answer_bytes = calls * (workload.output_bytes() + kOutputFraming);
  task.message.MakeEcho(answer_bytes);
  task.check = [answer_bytes](const std::string& answer) {
    return CheckEcho(answer_bytes, answer);
  };
}

}  // namespace

absl::StatusOr<Peer> ParsePeer(std::string_view text) {
  if (text == "opserve") return Peer::kOpserve;
  if (text == "echo") return Peer::kEcho;
  return InvalidParameter("--peer", "opserve or echo", text);
}

void AppendFieldStart(int number, size_t bytes, std::string& message) {
  uint8_t start[16];
  uint8_t* end = CodedOutputStream::WriteTagToArray(static_cast<uint32_t>(number) << 3 | 2, start);
  end = CodedOutputStream::WriteVarint64ToArray(bytes, end);
  message.append(reinterpret_cast<const char*>(start), static_cast<size_t>(end - start));
}

void AppendField(int number, std::string_view bytes, std::string& message) {
  AppendFieldStart(number, bytes.size(), message);
  message.append(bytes);
}

std::string CallWithRawFrom(const Workload& workload, size_t first) {
  v1::Call call = workload.call;
  for (v1::Tensor& input : *call.mutable_inputs())
    input.set_raw_index(static_cast<uint32_t>(first) + input.raw_index());
  return call.SerializeAsString();
}

void StoredMessage::Append(std::string_view bytes) {
  if (bytes.size() > kCopiedBytes) {
    tail_.push_back(bytes);
    copying_ = false;
  } else if (tail_.empty()) {
    head_.append(bytes);
  } else {
    if (!copying_) {
      copies_.emplace_back();
      tail_.emplace_back();
      copying_ = true;
    }
    copies_.back().append(bytes);
    tail_.back() = copies_.back();
  }
}

void StoredMessage::MakeEcho(int64_t answer_bytes) {
  WriteEchoHeader({.answer_bytes = static_cast<uint64_t>(answer_bytes), .answers = 1}, head_);
}

void FillExecuteTask(const Workload& workload, Peer peer, UnaryTask& task) {
  task.method = kExecute;
  std::string header;
  AppendField(v1::ExecuteRequest::kCallFieldNumber, workload.call.SerializeAsString(), header);
  task.message.Append(header);
  AppendRaw(workload, kRaw, task.message);
  Finish(workload, 1, peer, task);
}

void FillInferTask(const Workload& workload, UnaryTask& task) {
  task.method = kInfer;
  inference::ModelInferRequest request;
  request.set_model_name(workload.call.op());
  for (const v1::Attribute& attribute : workload.call.attributes()) {
    inference::InferParameter& parameter = (*request.mutable_parameters())[attribute.name()];
    if (attribute.has_int_value()) {
      parameter.set_int64_param(attribute.int_value());
    } else {
      parameter.set_double_param(attribute.float_value());
    }
  }
  for (const v1::Tensor& input : workload.call.inputs()) {
    inference::ModelInferRequest::InferInputTensor& tensor = *request.add_inputs();
    tensor.set_name(input.name());
    tensor.set_datatype("FP32");
    *tensor.mutable_shape() = input.shape();
  }
  task.message.Append(request.SerializeAsString());
  AppendRaw(workload, inference::ModelInferRequest::kRawInputContentsFieldNumber, task.message);
  Finish(workload, 1, Peer::kOpserve, task);
  task.check = [&workload](const std::string& answer) {
    return CheckRawEntries(workload, 1,
                           inference::ModelInferResponse::kRawOutputContentsFieldNumber, answer);
  };
}

void FillBatchTask(const Workload& workload, int64_t calls, Peer peer, UnaryTask& task) {
  // The echo server has one unary method.
  task.method = peer == Peer::kEcho ? kExecute : kExecuteBatch;
  for (int64_t i = 0; i < calls; ++i) {
    std::string header;
    const size_t first = static_cast<size_t>(i) * workload.inputs.size();
    AppendField(kCalls, CallWithRawFrom(workload, first), header);
    task.message.Append(header);
  }
  for (int64_t i = 0; i < calls; ++i) AppendRaw(workload, kRaw, task.message);
  Finish(workload, calls, peer, task);
}

}  // namespace opserve::bench
