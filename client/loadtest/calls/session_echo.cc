#include "client/loadtest/calls/session_echo.h"

#include <cstdint>
#include <utility>

#include "client/loadtest/calls/wire_fields.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "opserve/v1/session.pb.h"

namespace opserve::loadtest {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr uint32_t kCommandTag = v1::SessionRequest::kCommandsFieldNumber << 3 | 2;
constexpr uint32_t kIdTag = v1::Command::kIdFieldNumber << 3;

// The id of a command, of which it is the first field; 0 where it is not.
uint64_t IdOf(CodedInputStream& command) {
  uint64_t id = 0;
  return command.ReadTag() == kIdTag && command.ReadVarint64(&id) ? id : 0;
}

// The ids of a request's commands; none where it cannot be read.
std::vector<uint64_t> IdsOf(std::string_view request) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(request.data()),
                      static_cast<int>(request.size()));
  std::vector<uint64_t> ids;
  while (const uint32_t tag = in.ReadTag()) {
    uint32_t length = 0;
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED ||
        !in.ReadVarint32(&length))
      return {};
    const int end = in.CurrentPosition() + static_cast<int>(length);
    if (tag == kCommandTag) ids.push_back(IdOf(in));
    if (end < in.CurrentPosition() || !in.Skip(end - in.CurrentPosition())) return {};
  }
  return ids;
}

}  // namespace

SessionEcho::SessionEcho(const std::vector<Expected>& expected, std::unique_ptr<Mix> mix)
    : mix_(std::move(mix)) {
  for (const Expected& answer : expected) {
    Echoed& echoed = echoed_.emplace_back();
    v1::ExecuteOutputs outputs;
    outputs.mutable_execution()->set_device("cpu:0");
    outputs.mutable_execution()->set_executed_ns(1000);
    for (size_t i = 0; i < answer.outputs(); ++i) {
      const std::span<const std::byte> bytes = answer.bytes(i);
      v1::Tensor& output = *outputs.add_outputs();
      output.set_name(answer.name(i));
      output.set_dtype(v1::DATA_TYPE_UINT8);
      output.add_shape(static_cast<int64_t>(bytes.size()));
      output.set_raw_index(static_cast<uint32_t>(i));
      AppendField(v1::SessionResponse::kRawFieldNumber,
                  {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, echoed.raw);
    }
    AppendField(v1::Answer::kOutputsFieldNumber, outputs.SerializeAsString(), echoed.outputs);
  }
}

std::string SessionEcho::Answer(std::string_view request) {
  std::string answers;
  std::string raw;
  for (const uint64_t id : IdsOf(request)) {
    const Echoed& echoed = echoed_[mix_->Draw()];
    std::string own;
    AppendVarintField(v1::Answer::kIdFieldNumber, id, own);
    AppendFieldStart(v1::SessionResponse::kAnswersFieldNumber, own.size() + echoed.outputs.size(),
                     answers);
    answers.append(own).append(echoed.outputs);
    raw.append(echoed.raw);
  }
  return answers.append(raw);
}

}  // namespace opserve::loadtest
