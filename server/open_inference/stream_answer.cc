#include "server/open_inference/stream_answer.h"

#include <string>
#include <utility>

#include "core/base/strings.h"
#include "inference/open_inference.pb.h"
#include "server/codec/wire_format.h"

namespace opserve::server {
namespace {

using inference::ModelInferResponse;
using inference::ModelStreamInferResponse;

constexpr char kFinal[] = "triton_final_response";

// Every request has one answer.
void MarkFinal(ModelInferResponse& response) {
  (*response.mutable_parameters())[kFinal].set_bool_param(true);
}

size_t BytesOf(const WrittenMessage& message) {
  size_t bytes = message.begin.size();
  for (const WrittenMessage::Entry& entry : message.entries)
    bytes += entry.bytes.size() + entry.after.size();
  return bytes;
}

}  // namespace

WrittenMessage WrapStreamAnswer(WrittenMessage answer) {
  ModelInferResponse final;
  MarkFinal(final);
  const std::string mark = final.SerializeAsString();
  std::string begin;
  AppendStart(BytesTag(ModelStreamInferResponse::kInferResponseFieldNumber),
              mark.size() + BytesOf(answer), begin);
  begin.append(mark).append(answer.begin);
  answer.begin = std::move(begin);
  return answer;
}

WrittenMessage WriteStreamError(std::string_view id, const absl::Status& status) {
  ModelStreamInferResponse response;
  response.set_error_message(std::string(ToStd(status.message())));
  response.mutable_infer_response()->set_id(std::string(id));
  MarkFinal(*response.mutable_infer_response());
  return {.begin = response.SerializeAsString(), .entries = {}};
}

}  // namespace opserve::server
