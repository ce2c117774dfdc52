#include <string>
#include <utility>

#include "client/cpp/call_messages.h"
#include "client/cpp/messages.h"
#include "client/cpp/read_message.h"
#include "client/cpp/wire_reader.h"
#include "core/base/status_macros.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::client {
namespace {

struct Answer {
  std::vector<v1::Tensor> outputs;
  std::vector<RawBytes> raw;
};

// False at malformed bytes.
bool ReadField(WireReader& reader, const WireReader::Field& field, Answer& answer) {
  if (field.type != WireReader::Type::kBytes) return reader.SkipField(field);
  if (field.number == v1::ExecuteResponse::kOutputsFieldNumber) {
    std::string bytes(field.length, '\0');
    return reader.Read(reinterpret_cast<std::byte*>(bytes.data()), bytes.size()) &&
           answer.outputs.emplace_back().ParseFromString(bytes);
  }
  if (field.number == v1::ExecuteResponse::kRawFieldNumber) {
    const std::shared_ptr<std::byte> bytes = AllocateTensorBytes(field.length);
    answer.raw.push_back({bytes, field.length});
    return reader.Read(bytes.get(), field.length);
  }
  return reader.SkipField(field);
}

}  // namespace

Request MakeGetWorkspaceSizeRequest(const Call& call) {
  v1::GetWorkspaceSizeRequest message;
  FillCall(call, *message.mutable_call());
  Request request;
  request.AppendCopy(message.SerializeAsString());
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
                                                const SharedOutputs& shared) {
  WireReader reader(fragments);
  Answer answer;
  while (reader.remaining() > 0) {
    WireReader::Field field;
    if (!reader.ReadField(field) || !ReadField(reader, field, answer)) {
      return BadAnswer("ExecuteResponse", "malformed bytes");
    }
  }
  ExecuteResult result;
  for (const v1::Tensor& output : answer.outputs) {
    OPSERVE_ASSIGN_OR_RETURN(Tensor tensor,
                             ReadOutput(output, answer.raw, shared, "ExecuteResponse"));
    result.outputs.push_back({output.name(), std::move(tensor)});
  }
  return result;
}

}  // namespace opserve::client
