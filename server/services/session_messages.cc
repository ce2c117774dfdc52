#include "server/services/session_messages.h"

#include <memory>
#include <string>
#include <utility>

#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "server/wire/message_scanner.h"
#include "server/wire/raw_message.h"
#include "server/wire/wire_format.h"

namespace opserve::server {
namespace {

using google::protobuf::io::CodedOutputStream;
constexpr uint32_t kAnswersTag = BytesTag(v1::SessionResponse::kAnswersFieldNumber);
constexpr uint32_t kRawTag = BytesTag(v1::SessionResponse::kRawFieldNumber);

// Up to here a command's bytes are copied: a message, however small, may keep a large block of the
// transport's.
constexpr size_t kCopiedBulkBytes = size_t{4} << 10;

absl::Status BesideCommands() {
  return InvalidParameter("commands", "nothing beside them in their message",
                          "id, quiet, a command or raw");
}

// Whether to look for commands of a group. Parsing the header of one command that has some beside
// it, which is wrong, finds a few of them as well, but takes much memory for many.
bool MayBeGroup(const std::string& header) {
  constexpr size_t kShortestCommand = 2;
  std::string tag;
  AppendVarint(BytesTag(v1::SessionRequest::kCommandsFieldNumber), tag);
  return header.starts_with(tag) || header.size() > CommandReader::kMaxCommands * kShortestCommand;
}

// Fields that nobody knows may be there.
absl::Status CheckBesideGroup(const std::string& header) {
  v1::SessionRequest beside;
  OPSERVE_RETURN_IF_ERROR(ParseHeader(header, beside));
  if (beside.id() == 0 && !beside.quiet() &&
      beside.command_case() == v1::SessionRequest::COMMAND_NOT_SET) {
    return absl::OkStatus();
  }
  return BesideCommands();
}

// Puts the `bytes` that `raw` points to into one block, which it returns.
std::shared_ptr<const void> CopyBulk(std::vector<Fragments>& raw, size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::shared_ptr<std::byte[]> block(new std::byte[bytes]);
  size_t at = 0;
  for (Fragments& entry : raw) {
    const size_t size = entry.size_bytes();
    entry.CopyTo(block.get() + at, 0, size);
    entry = Fragments({block.get() + at, size});
    at += size;
  }
  return block;
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

absl::StatusOr<CommandReader> CommandReader::Open(const grpc::ByteBuffer& message) {
  CommandReader reader;
  reader.message_ = std::make_unique<SplitMessage>();
  SplitMessage& split = *reader.message_;
  OPSERVE_ASSIGN_OR_RETURN(
      split, ReadSplitMessage(message, v1::SessionRequest::kRawFieldNumber, kMaxRawEntries));
  if (!MayBeGroup(split.header)) return reader;
  const std::span<const std::byte> header = std::as_bytes(std::span(split.header));
  OPSERVE_ASSIGN_OR_RETURN(ScannedMessage scanned,
                           ScanMessage({&header, 1}, v1::SessionRequest::kCommandsFieldNumber,
                                       {.max_header_bytes = kMaxHeaderBytes,
                                        .max_bulk_entries = kMaxCommands,
                                        .bulk_name = "commands"}));
  if (scanned.bulk.empty()) return reader;
  if (!split.raw.empty()) return BesideCommands();
  OPSERVE_RETURN_IF_ERROR(CheckBesideGroup(scanned.header));
  reader.commands_ = std::move(scanned.bulk);
  return reader;
}

absl::StatusOr<Command> CommandReader::Next() { return is_grouped() ? NextOfGroup() : TakeOnly(); }

absl::StatusOr<Command> CommandReader::TakeOnly() {
  const std::unique_ptr<SplitMessage> message = std::move(message_);
  Command command;
  OPSERVE_RETURN_IF_ERROR(ParseHeader(message->header, command.header));
  if (command.header.commands_size() > 0) return BesideCommands();
  command.raw = std::move(message->raw);
  size_t bytes = 0;
  for (const Fragments& entry : command.raw) bytes += entry.size_bytes();
  if (bytes <= kCopiedBulkBytes) {
    command.owner = CopyBulk(command.raw, bytes);
  } else {
    command.owner = std::make_shared<const std::vector<grpc::Slice>>(std::move(message->slices));
  }
  return command;
}

absl::StatusOr<Command> CommandReader::NextOfGroup() {
  const std::span<const std::span<const std::byte>> pieces = commands_[next_++].pieces();
  OPSERVE_ASSIGN_OR_RETURN(
      ScannedMessage scanned,
      ScanMessage(pieces, v1::SessionRequest::kRawFieldNumber,
                  {.max_header_bytes = kMaxHeaderBytes, .max_bulk_entries = kMaxRawEntries}));
  Command command;
  OPSERVE_RETURN_IF_ERROR(ParseHeader(scanned.header, command.header));
  if (command.header.commands_size() > 0)
    return InvalidParameter("commands", "commands that hold none themselves", "some that do");
  command.raw = std::move(scanned.bulk);
  size_t bytes = 0;
  for (const Fragments& entry : command.raw) bytes += entry.size_bytes();
  command.owner = CopyBulk(command.raw, bytes);
  if (next_ == commands_.size()) message_.reset();
  return command;
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
