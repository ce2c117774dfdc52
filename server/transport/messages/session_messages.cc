#include "server/transport/messages/session_messages.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/codec/message_scanner.h"
#include "server/codec/wire_format.h"
#include "server/transport/messages/raw_message.h"

namespace opserve::server {
namespace {

constexpr uint32_t kAnswersTag = BytesTag(v1::SessionResponse::kAnswersFieldNumber);

// Up to here a command's entries are copied: a message, however small, may keep a large block of
// the transport's.
constexpr size_t kCopiedBulkBytes = size_t{4} << 10;

// Puts the `bytes` that `raw` points to into one block, which it returns.
std::shared_ptr<const void> CopyBulk(std::span<Fragments> raw, size_t bytes) {
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

// Calls visit(a tensor of `call`) for each that names a raw entry.
template <typename Visitor>
void ForEachRawTensor(v1::Call& call, Visitor visit) {
  for (v1::Tensor& tensor : *call.mutable_inputs())
    if (tensor.has_raw_index()) visit(tensor);
  for (v1::Tensor& tensor : *call.mutable_outputs())
    if (tensor.has_raw_index()) visit(tensor);
}

// The call that a command brings; nullptr where it brings none.
v1::Call* CallOf(v1::Command& command) {
  switch (command.command_case()) {
    case v1::Command::kCreateExecutor:
      return command.mutable_create_executor()->mutable_call();
    case v1::Command::kExecute:
      return command.mutable_execute()->mutable_call();
    case v1::Command::kExecuteChunked:
      return command.mutable_execute_chunked()->mutable_call();
    default:
      return nullptr;
  }
}

// Which entries of a message one command uses: their indices there, each once.
class UsedEntries {
 public:
  explicit UsedEntries(size_t entries) : entries_(entries) {}

  const std::vector<uint32_t>& indices() const { return indices_; }
  // The place among indices(); of an entry that is not there: too large a number.
  uint32_t Use(uint32_t index) {
    if (index >= entries_) return index;
    const auto searched =
        indices_.begin() + static_cast<std::ptrdiff_t>(std::min(indices_.size(), kSearched));
    const auto found = std::find(indices_.begin(), searched, index);
    if (found != searched) return static_cast<uint32_t>(found - indices_.begin());
    const auto next = static_cast<uint32_t>(indices_.size());
    if (next >= kSearched) {
      const auto [place, is_new] = others_.try_emplace(index, next);
      if (!is_new) return place->second;
    }
    indices_.push_back(index);
    return next;
  }

 private:
  static constexpr size_t kSearched = 8;  // as many are found faster without hashing

  const size_t entries_;
  std::vector<uint32_t> indices_;
  absl::flat_hash_map<uint32_t, uint32_t> others_;  // places of those behind the first few
};

// Has `command` name the entries that it uses by their places in the result.
UsedEntries NameEntries(v1::Command& command, size_t entries) {
  UsedEntries used(entries);
  if (command.has_upload())
    command.mutable_upload()->set_raw_index(used.Use(command.upload().raw_index()));
  if (command.has_input_chunk())
    command.mutable_input_chunk()->set_raw_index(used.Use(command.input_chunk().raw_index()));
  if (v1::Call* const call = CallOf(command)) {
    ForEachRawTensor(
        *call, [&used](v1::Tensor& tensor) { tensor.set_raw_index(used.Use(tensor.raw_index())); });
  }
  return used;
}

// Fields that nobody knows may be there.
absl::Status CheckOtherFields(const std::string& header) {
  v1::SessionRequest other;
  return ParseHeader(header, other);
}

// `answer` names its own entries from 0 on: now those that follow `first` others.
void ShiftEntries(v1::Answer& answer, uint32_t first) {
  if (answer.has_chunk()) answer.mutable_chunk()->set_raw_index(first);
  if (!answer.has_outputs()) return;
  for (v1::Tensor& tensor : *answer.mutable_outputs()->mutable_outputs())
    if (tensor.has_raw_index()) tensor.set_raw_index(tensor.raw_index() + first);
}

}  // namespace

absl::StatusOr<CommandReader> CommandReader::Open(const grpc::ByteBuffer& message) {
  CommandReader reader;
  reader.message_ = std::make_unique<SplitMessage>();
  OPSERVE_ASSIGN_OR_RETURN(
      *reader.message_,
      ReadSplitMessage(message, v1::SessionRequest::kRawFieldNumber, kMaxRawEntries));
  reader.message_bytes_ = message.Length();
  reader.slices_ = KeepSlices(std::move(reader.message_->slices));
  reader.used_.resize(reader.message_->raw.size());
  const std::span<const std::byte> header = std::as_bytes(std::span(reader.message_->header));
  OPSERVE_ASSIGN_OR_RETURN(ScannedMessage scanned,
                           ScanMessage({&header, 1}, v1::SessionRequest::kCommandsFieldNumber,
                                       {.max_header_bytes = kMaxHeaderBytes,
                                        .max_bulk_entries = kMaxCommands,
                                        .bulk_name = "commands"}));
  OPSERVE_RETURN_IF_ERROR(CheckOtherFields(scanned.header));
  reader.commands_ = std::move(scanned.bulk);
  if (reader.commands_.empty()) return MissingParameter("commands", "at least one command");
  return reader;
}

absl::StatusOr<Command> CommandReader::Next() {
  // A piece of a string is one piece, or none when it is empty.
  const std::span<const std::span<const std::byte>> pieces = commands_[next_++].pieces();
  Command command;
  if (!pieces.empty() &&
      !command.header.ParseFromArray(pieces[0].data(), static_cast<int>(pieces[0].size()))) {
    return NotAMessage(command.header.GetTypeName());
  }
  if (!used_.empty()) TakeEntries(command);
  if (size() == 0) {
    message_.reset();
    slices_.reset();
    shared_.clear();
  }
  return command;
}

void CommandReader::TakeEntries(Command& command) {
  std::vector<Fragments>& entries = message_->raw;
  UsedEntries used = NameEntries(command.header, entries.size());
  for (const uint32_t index : used.indices()) used_[index] = true;
  for (uint32_t i = 0; size() == 0 && i < used_.size(); ++i)
    if (!used_[i]) used.Use(i);
  size_t bytes = 0;
  for (const uint32_t index : used.indices()) bytes += entries[index].size_bytes();
  const bool is_alone = commands_.size() == 1 && bytes > message_bytes_ / 2;
  const bool is_small = bytes <= kCopiedBulkBytes;
  std::vector<std::shared_ptr<const void>> shared;
  for (const uint32_t index : used.indices()) {
    if (!is_small && !is_alone) shared.push_back(ShareEntry(index));
    command.raw.push_back(entries[index]);
  }
  if (is_small) {
    command.owner = CopyBulk(command.raw, bytes);
  } else if (is_alone) {
    command.owner = slices_;
    command.spare_bytes = static_cast<int64_t>(message_bytes_ - bytes);
  } else {
    command.owner =
        std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(shared));
  }
}

std::shared_ptr<const void> CommandReader::ShareEntry(uint32_t index) {
  if (shared_.empty()) shared_.resize(used_.size());
  if (shared_[index] == nullptr) {
    std::span<Fragments> entry(&message_->raw[index], 1);
    shared_[index] = CopyBulk(entry, entry[0].size_bytes());
  }
  return shared_[index];
}

grpc::ByteBuffer WriteAnswers(std::vector<Answer> answers) {
  RawWriter raw(v1::SessionResponse::kRawFieldNumber);
  std::string header;
  for (Answer& answer : answers) {
    if (raw.entries() > 0 && !answer.raw.empty()) ShiftEntries(answer.header, raw.entries());
    AppendMessage(kAnswersTag, answer.header, header);
    for (PooledBuffer& entry : answer.raw) raw.Add(std::move(entry));
  }
  return ToByteBuffer(std::move(raw).WriteAfter(std::move(header)));
}

}  // namespace opserve::server
