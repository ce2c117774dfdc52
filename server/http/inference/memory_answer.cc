#include "server/http/inference/memory_answer.h"

#include <map>
#include <variant>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/calls/infer_regions.h"
#include "server/calls/region_messages.h"
#include "server/rest/json_reader.h"
#include "server/rest/message_json.h"

namespace opserve::server {
namespace {

absl::Status ReadUnsigned(JsonReader& json, const std::string& member, uint64_t& out) {
  Number number;
  if (!json.ReadNumber(number)) return json.status();
  if (const auto* value = std::get_if<uint64_t>(&number)) {
    out = *value;
    return absl::OkStatus();
  }
  const auto* value = std::get_if<int64_t>(&number);
  if (value == nullptr || *value < 0) return OutOfRange(member, "a whole number >= 0", "another");
  out = static_cast<uint64_t>(*value);
  return absl::OkStatus();
}

absl::Status ReadRegister(std::string_view body,
                          inference::SystemSharedMemoryRegisterRequest& out) {
  JsonReader json(body);
  std::string member;
  uint64_t number = 0;
  (void)json.BeginObject();
  while (json.NextMember(member)) {
    if (member == "key") {
      (void)json.ReadString(*out.mutable_key());
    } else if (member == "offset") {
      OPSERVE_RETURN_IF_ERROR(ReadUnsigned(json, member, number));
      out.set_offset(number);
    } else if (member == "byte_size") {
      OPSERVE_RETURN_IF_ERROR(ReadUnsigned(json, member, number));
      out.set_byte_size(number);
    } else {
      return UnknownParameter("body", "key, offset and byte_size", "something else");
    }
  }
  return json.End() ? absl::OkStatus() : json.status();
}

absl::StatusOr<std::string> RegionsJson(const NamedRegionTable& table, const LocalUser& who,
                                        std::string_view name) {
  OPSERVE_ASSIGN_OR_RETURN(const inference::SystemSharedMemoryStatusResponse status,
                           EncodeRegions(table, who, name));
  const std::map<std::string, inference::SystemSharedMemoryStatusResponse::RegionStatus> in_order(
      status.regions().begin(), status.regions().end());
  std::string json = "[";
  for (const auto& [region_name, region] : in_order) {
    if (json.size() > 1) json.push_back(',');
    AppendMessageJson(region, json);
  }
  json.push_back(']');
  return json;
}

}  // namespace

absl::StatusOr<std::string> AnswerMemory(const RestContext& with, const RestHead& head,
                                         std::string_view body) {
  const absl::StatusOr<LocalUser> who = RequireLocalUser(head.user, head.of_token);
  const bool has_regions = with.named_regions != nullptr && who.ok();
  switch (head.resource) {
    case RestResource::kRegions:
      if (has_regions) return RegionsJson(*with.named_regions, *who, head.region);
      return std::string("[]");
    case RestResource::kRegister: {
      inference::SystemSharedMemoryRegisterRequest request;
      OPSERVE_RETURN_IF_ERROR(ReadRegister(body, request));
      request.set_name(head.region);
      OPSERVE_RETURN_IF_ERROR(RegisterRegion(with.named_regions, who, request));
      return std::string("{}");
    }
    case RestResource::kUnregister:
      if (has_regions) with.named_regions->Unregister(*who, head.region);
      return std::string("{}");
    case RestResource::kCudaRegions:
      return std::string("[]");
    default:
      return NoCudaMemory();
  }
}

}  // namespace opserve::server
