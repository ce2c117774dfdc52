#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/wire/answered_outputs.h"
#include "client/cpp/wire/call_messages.h"
#include "client/cpp/wire/messages.h"
#include "client/cpp/wire/read_message.h"
#include "client/cpp/wire/wire_reader.h"
#include "core/base/status_macros.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::client {
namespace {

constexpr std::string_view kExecuteAnswer = "ExecuteResponse";

struct ExecuteAnswer {
  std::vector<v1::Tensor> outputs;
  RawEntries raw;
  std::optional<Execution> execution;
};

absl::Status ReadDescription(WireReader& reader, size_t length, ExecuteAnswer& answer) {
  if (answer.outputs.size() == kMaxOutputs)
    return BadAnswer(kExecuteAnswer, "outputs", absl::StrCat("at most ", kMaxOutputs), "more");
  if (length > kMaxDescriptionBytes) {
    return BadAnswer(kExecuteAnswer, "outputs",
                     absl::StrCat("at most ", kMaxDescriptionBytes, " bytes each"),
                     absl::StrCat(length));
  }
  std::string bytes(length, '\0');
  if (!reader.Read(reinterpret_cast<std::byte*>(bytes.data()), length))
    return MalformedAnswer(kExecuteAnswer);
  return ReadMessage(bytes, answer.outputs.emplace_back());
}

absl::Status ReadRaw(WireReader& reader, size_t length, ExecuteAnswer& answer) {
  if (answer.raw.size() == kMaxOutputs)
    return BadAnswer(kExecuteAnswer, "raw", absl::StrCat("at most ", kMaxOutputs, " entries"),
                     "more");
  const std::shared_ptr<std::byte> bytes = AllocateTensorBytes(length);
  if (!reader.Read(bytes.get(), length)) return MalformedAnswer(kExecuteAnswer);
  answer.raw.Add({bytes, length});
  return absl::OkStatus();
}

absl::Status ReadExecutionField(WireReader& reader, size_t length, ExecuteAnswer& answer) {
  if (length > kMaxDescriptionBytes) {
    return BadAnswer(kExecuteAnswer, "execution",
                     absl::StrCat("at most ", kMaxDescriptionBytes, " bytes"),
                     absl::StrCat(length));
  }
  std::string bytes(length, '\0');
  if (!reader.Read(reinterpret_cast<std::byte*>(bytes.data()), length))
    return MalformedAnswer(kExecuteAnswer);
  v1::Execution message;
  OPSERVE_RETURN_IF_ERROR(ReadMessage(bytes, message));
  OPSERVE_ASSIGN_OR_RETURN(answer.execution, ReadExecution(kExecuteAnswer, message));
  return absl::OkStatus();
}

// The next field.
absl::Status ReadField(WireReader& reader, ExecuteAnswer& answer) {
  WireReader::Field field;
  if (!reader.ReadField(field)) return MalformedAnswer(kExecuteAnswer);
  if (field.type == WireReader::Type::kBytes) {
    if (field.number == v1::ExecuteResponse::kOutputsFieldNumber)
      return ReadDescription(reader, field.length, answer);
    if (field.number == v1::ExecuteResponse::kExecutionFieldNumber)
      return ReadExecutionField(reader, field.length, answer);
    if (field.number == v1::ExecuteResponse::kRawFieldNumber)
      return ReadRaw(reader, field.length, answer);
  }
  return reader.SkipField(field) ? absl::OkStatus() : MalformedAnswer(kExecuteAnswer);
}

}  // namespace

std::string DescriptionOf(const Call& call) {
  v1::GetWorkspaceSizeRequest message;
  FillCall(call, *message.mutable_call());
  return message.SerializeAsString();
}

Request MakeGetWorkspaceSizeRequest(const Call& call) {
  Request request;
  request.AppendCopy(DescriptionOf(call));
  return request;
}

Request MakeExecuteRequest(const Call& call) {
  v1::ExecuteRequest message;
  FillCall(call, *message.mutable_call());
  message.set_output_encoding(v1::TENSOR_ENCODING_RAW);
  const std::vector<RawEntry> raw = FillRawIndices(call, *message.mutable_call());
  FillSharedOutputs(call, *message.mutable_call());
  Request request;
  request.AppendCopy(message.SerializeAsString());
  for (const RawEntry& entry : raw) AppendRaw(v1::ExecuteRequest::kRawFieldNumber, entry, request);
  return request;
}

absl::StatusOr<ExecuteResult> ReadExecuteResult(const Fragments& fragments,
                                                const AskedOutputs& asked) {
  WireReader reader(fragments);
  ExecuteAnswer answer;
  while (reader.remaining() > 0) OPSERVE_RETURN_IF_ERROR(ReadField(reader, answer));
  OPSERVE_ASSIGN_OR_RETURN(ExecuteResult result,
                           ReadOutputs(kExecuteAnswer, answer.outputs, answer.raw, asked));
  OPSERVE_RETURN_IF_ERROR(answer.raw.CheckAllTaken(kExecuteAnswer));
  result.execution = std::move(answer.execution);
  return result;
}

}  // namespace opserve::client
