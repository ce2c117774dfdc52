#include "server/services/session_messages.h"

#include <memory>
#include <string>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "server/wire/raw_message.h"
#include "server/wire/varint.h"

namespace opserve::server {
namespace {

using google::protobuf::io::CodedOutputStream;
using Entries = google::protobuf::RepeatedPtrField<std::string>;

constexpr uint32_t kAnswersTag = BytesTag(v1::SessionResponse::kAnswersFieldNumber);
constexpr uint32_t kRawTag = BytesTag(v1::SessionResponse::kRawFieldNumber);

// A command of a group: its bulk lies in the message that was parsed.
Command TakeCommand(v1::SessionRequest& member) {
  Command command;
  if (member.raw_size() > 0) {
    const auto entries = std::make_shared<Entries>(std::move(*member.mutable_raw()));
    member.clear_raw();
    for (const std::string& entry : *entries)
      command.raw.emplace_back(std::as_bytes(std::span(entry)));
    command.owner = entries;
  }
  command.header = std::move(member);
  return command;
}

absl::Status CheckGroup(const RawSessionRequest& group) {
  const v1::SessionRequest& header = group.header;
  if (header.id() != 0 || header.quiet() || !group.raw.empty() ||
      header.command_case() != v1::SessionRequest::COMMAND_NOT_SET) {
    return InvalidParameter("commands", "nothing beside them in their message",
                            "id, quiet, a command or raw");
  }
  for (const v1::SessionRequest& member : header.commands()) {
    if (member.commands_size() > 0)
      return InvalidParameter("commands", "commands that hold none themselves", "some that do");
  }
  return absl::OkStatus();
}

size_t RawBytes(const Answer& answer) {
  size_t bytes = 0;
  for (const PooledBuffer& entry : answer.raw) {
    bytes += CodedOutputStream::VarintSize32(kRawTag) +
             CodedOutputStream::VarintSize64(entry.size()) + entry.size();
  }
  return bytes;
}

void AppendMember(const Answer& answer, std::string& group) {
  AppendVarint(kAnswersTag, group);
  AppendVarint(answer.header.ByteSizeLong() + RawBytes(answer), group);
  answer.header.AppendToString(&group);
  for (const PooledBuffer& entry : answer.raw) {
    AppendVarint(kRawTag, group);
    AppendVarint(entry.size(), group);
    if (entry.size() > 0) group.append(reinterpret_cast<const char*>(entry.data()), entry.size());
  }
}

}  // namespace

absl::StatusOr<IncomingCommands> ReadCommands(const grpc::ByteBuffer& message) {
  IncomingCommands incoming;
  auto request = std::make_shared<RawSessionRequest>();
  OPSERVE_ASSIGN_OR_RETURN(*request, ReadSessionRequest(message));
  incoming.grouped = request->header.commands_size() > 0;
  if (incoming.grouped) {
    OPSERVE_RETURN_IF_ERROR(CheckGroup(*request));
    for (v1::SessionRequest& member : *request->header.mutable_commands())
      incoming.commands.push_back(TakeCommand(member));
    return incoming;
  }
  Command& command = incoming.commands.emplace_back();
  command.header = std::move(request->header);
  command.raw = std::move(request->raw);
  if (!command.raw.empty()) command.owner = std::move(request);
  return incoming;
}

grpc::ByteBuffer WriteAnswers(std::vector<Answer> answers) {
  if (answers.size() == 1)
    return WriteSessionResponse(answers[0].header, std::move(answers[0].raw));
  std::string group;
  for (const Answer& answer : answers) AppendMember(answer, group);
  const grpc::Slice slice(group);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace opserve::server
