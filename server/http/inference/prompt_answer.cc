#include "server/http/inference/prompt_answer.h"

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "inference/open_inference.pb.h"
#include "server/http/inference/memory_answer.h"
#include "server/open_inference/model_codec.h"
#include "server/open_inference/model_statistics.h"
#include "server/rest/json_reader.h"
#include "server/rest/message_json.h"

namespace opserve::server {
namespace {

constexpr int kUnavailable = 503;

std::string JsonOf(const google::protobuf::Message& message) {
  std::string json;
  AppendMessageJson(message, json);
  return json;
}

}  // namespace

void PromptExchange::Run() {
  int status = 200;
  absl::StatusOr<std::string> json = MakeJson(status);
  if (!json.ok()) return Fail(json.status());
  Answer(JsonResponse(head(), status, *std::move(json)));
}

std::string PromptExchange::ReadyJson(bool is_ready, int& status) const {
  if (!is_ready) status = kUnavailable;
  std::string json = "{";
  if (!head().model.empty()) {
    json.append("\"name\":");
    AppendJsonString(head().model, json);
    json.push_back(',');
  }
  return json.append(is_ready ? "\"ready\":true}" : "\"ready\":false}");
}

absl::StatusOr<std::string> PromptExchange::IndexJson() const {
  bool only_ready = false;
  std::string member;
  JsonReader json(body());
  if (!body().empty()) (void)json.BeginObject();
  while (json.NextMember(member)) {
    if (member != "ready")
      return UnknownParameter("body", "an object with ready, or nothing", "something else");
    if (!json.ReadBool(only_ready)) break;
  }
  if (!json.End()) return json.status();
  std::string index;
  AppendListJson(EncodeIndex(with().engine, only_ready), "models", index);
  return index;
}

absl::StatusOr<std::string> PromptExchange::MakeJson(int& status) {
  const RestResource resource = head().resource;
  const bool is_ready = state().is_ready;
  const Operator* op = nullptr;
  if (!head().model.empty() || resource == RestResource::kModel) {
    OPSERVE_ASSIGN_OR_RETURN(op, FindModel(head().model, head().version));
  }
  switch (resource) {
    case RestResource::kServer:
      return JsonOf(EncodeServerMetadata(with().named_regions != nullptr));
    case RestResource::kLive:
      return std::string("{\"live\":true}");
    case RestResource::kReady:
      return ReadyJson(is_ready && HasWorkingDevice(with().engine), status);
    case RestResource::kModel:
      return JsonOf(EncodeModelMetadata(*op));
    case RestResource::kModelReady:
      return ReadyJson(is_ready && WhyUnavailable(with().engine, *op).empty(), status);
    case RestResource::kModelConfig:
      return JsonOf(EncodeModelConfig(*op));
    case RestResource::kModelStatistics:
      return JsonOf(EncodeModelStatistics(with().engine.statistics(), op));
    case RestResource::kIndex:
      return IndexJson();
    case RestResource::kRegions:
    case RestResource::kRegister:
    case RestResource::kUnregister:
    case RestResource::kCudaRegions:
    case RestResource::kCudaMemory:
      return AnswerMemory(with(), head(), body());
    case RestResource::kNone:
    case RestResource::kInfer:
    case RestResource::kUnsupported:
      break;
  }
  return MakeError({.reason = ErrorReason::kOperatorUnsupported,
                    .op = {},
                    .parameter = "path",
                    .want = "one that opserve has (docs/open_inference.md)",
                    .got = "another"});
}

}  // namespace opserve::server
