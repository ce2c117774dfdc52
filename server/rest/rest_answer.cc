#include "server/rest/rest_answer.h"

#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/strings.h"
#include "server/open_inference/datatype.h"
#include "server/open_inference/model_codec.h"
#include "server/rest/json_reader.h"
#include "server/rest/tensor_data.h"

namespace opserve::server {
namespace {

size_t WantedBytes(const OutputSlot& output) {
  return output.wanted ? static_cast<size_t>(output.desc.size_bytes()) : 0;
}

// All but the outputs.
std::string Begin(const OpCall& call, std::string_view id) {
  std::string json = "{\"model_name\":";
  AppendJsonString(call.op->name, json);
  json.append(",\"model_version\":");
  AppendJsonString(kModelVersion, json);
  if (!id.empty()) {
    json.append(",\"id\":");
    AppendJsonString(id, json);
  }
  json.append(",\"outputs\":[");
  return json;
}

std::string Describe(const OpCall& call, size_t i) {
  const TensorDesc& desc = call.outputs[i].desc;
  std::string json = "{\"name\":";
  AppendJsonString(call.op->outputs[i].name, json);
  absl::StrAppend(&json, ",\"datatype\":\"", ToAbsl(DatatypeName(desc.dtype)), "\",\"shape\":[",
                  absl::StrJoin(desc.shape, ","), "],");
  return json;
}

std::string BinarySize(size_t bytes) {
  return absl::StrCat("\"parameters\":{\"binary_data_size\":", bytes, "}}");
}

}  // namespace

size_t MaxRestJsonBytes(const OpCall& call, const InferForm& form, const RestRequest& request) {
  size_t bytes = Begin(call, request.id).size() + 2;
  const std::span<const size_t> entries = form.entries();
  for (size_t at = 0; at < entries.size(); ++at) {
    const OutputSlot& output = call.outputs[entries[at]];
    bytes += 1 + Describe(call, entries[at]).size();
    if (request.IsShared(at)) continue;
    bytes += request.IsBinary(at)
                 ? BinarySize(WantedBytes(output)).size()
                 : 8 + MaxTensorDataBytes(output.desc.dtype,
                                          output.wanted ? output.desc.num_elements() : 0);
  }
  return bytes;
}

size_t MaxRestAnswerBytes(const OpCall& call, const InferForm& form, const RestRequest& request) {
  size_t bytes = MaxRestJsonBytes(call, form, request);
  const std::span<const size_t> entries = form.entries();
  for (size_t at = 0; at < entries.size(); ++at) {
    if (request.IsBinary(at) && !request.IsShared(at))
      bytes += WantedBytes(call.outputs[entries[at]]);
  }
  return bytes;
}

RestAnswer WriteRestAnswer(const OpCall& call, const InferForm& form, const RestRequest& request,
                           Outputs outputs) {
  RestAnswer answer{.json = Begin(call, request.id), .binary = {}};
  const std::span<const size_t> entries = form.entries();
  for (size_t at = 0; at < entries.size(); ++at) {
    const size_t i = entries[at];
    PooledBuffer bytes = std::move(outputs[i].bytes);
    if (at > 0) answer.json.push_back(',');
    answer.json.append(Describe(call, i));
    if (request.IsShared(at)) {
      answer.json.back() = '}';  // nothing follows
    } else if (request.IsBinary(at)) {
      answer.has_binary = true;
      answer.json.append(BinarySize(bytes.size()));
      answer.binary.push_back(std::move(bytes));
    } else {
      answer.json.append("\"data\":");
      AppendTensorData(call.outputs[i].desc.dtype, {bytes.data(), bytes.size()}, answer.json);
      answer.json.push_back('}');
    }
  }
  answer.json.append("]}");
  return answer;
}

}  // namespace opserve::server
