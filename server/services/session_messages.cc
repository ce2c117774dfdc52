#include "server/services/session_messages.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/wire/message_scanner.h"
#include "server/wire/raw_message.h"
#include "server/wire/wire_format.h"

namespace opserve::server {
namespace {

constexpr uint32_t kAnswersTag = BytesTag(v1::SessionResponse::kAnswersFieldNumber);

// Up to here a command's entries are copied: a message, however small, may keep a large block of
// the transport's.
constexpr size_t kCopiedBulkBytes = size_t{4} << 10;

size_t BytesOf(const std::vector<Fragments>& entries) {
  size_t bytes = 0;
  for (const Fragments& entry : entries) bytes += entry.size_bytes();
  return bytes;
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

// The entries of a message that one command uses, each once.
class EntryTaker {
 public:
  EntryTaker(const std::vector<Fragments>& entries, std::vector<bool>& used,
             std::vector<Fragments>& taken)
      : entries_(entries), used_(used), taken_(taken) {}

  // The index among those taken; of an entry that is not there: too large an index.
  uint32_t Take(uint32_t index) {
    if (index >= entries_.size()) return index;
    const std::optional<uint32_t> place = Find(index);
    if (place.has_value()) return *place;
    const auto next = static_cast<uint32_t>(taken_.size());
    taken_.push_back(entries_[index]);
    used_[index] = true;
    if (next < kSearched)
      first_.push_back(index);
    else
      others_.emplace(index, next);
    return next;
  }

 private:
  static constexpr uint32_t kSearched = 8;  // as many are found faster without hashing

  std::optional<uint32_t> Find(uint32_t index) const {
    const auto found = std::find(first_.begin(), first_.end(), index);
    if (found != first_.end()) return static_cast<uint32_t>(found - first_.begin());
    const auto other = others_.find(index);
    return other == others_.end() ? std::nullopt : std::optional(other->second);
  }

  const std::vector<Fragments>& entries_;
  std::vector<bool>& used_;
  std::vector<Fragments>& taken_;
  // By index in the message.
  absl::InlinedVector<uint32_t, kSearched> first_;
  absl::flat_hash_map<uint32_t, uint32_t> others_;
};

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
  reader.slices_ =
      std::make_shared<const std::vector<grpc::Slice>>(std::move(reader.message_->slices));
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
  }
  return command;
}

void CommandReader::TakeEntries(Command& command) {
  EntryTaker taker(message_->raw, used_, command.raw);
  v1::Command& header = command.header;
  if (header.has_upload())
    header.mutable_upload()->set_raw_index(taker.Take(header.upload().raw_index()));
  if (header.has_input_chunk())
    header.mutable_input_chunk()->set_raw_index(taker.Take(header.input_chunk().raw_index()));
  if (v1::Call* const call = CallOf(header)) {
    ForEachRawTensor(*call, [&taker](v1::Tensor& tensor) {
      tensor.set_raw_index(taker.Take(tensor.raw_index()));
    });
  }
  for (size_t i = 0; size() == 0 && i < used_.size(); ++i)
    if (!used_[i]) command.raw.push_back(message_->raw[i]);
  const size_t bytes = BytesOf(command.raw);
  const bool is_most = bytes > message_bytes_ / 2;
  // Commands that name the same entries must not copy them over and over.
  const bool is_enough = copied_bytes_ + bytes > message_bytes_;
  if (bytes <= kCopiedBulkBytes || (!is_most && !is_enough)) {
    copied_bytes_ += bytes;
    command.owner = CopyBulk(command.raw, bytes);
    return;
  }
  command.owner = slices_;
  command.spare_bytes = static_cast<int64_t>(message_bytes_ - bytes);
}

grpc::ByteBuffer WriteAnswers(std::vector<Answer> answers) {
  RawWriter raw(v1::SessionResponse::kRawFieldNumber);
  std::string header;
  for (Answer& answer : answers) {
    if (raw.entries() > 0 && !answer.raw.empty()) ShiftEntries(answer.header, raw.entries());
    AppendVarint(kAnswersTag, header);
    AppendVarint(answer.header.ByteSizeLong(), header);
    answer.header.AppendToString(&header);
    for (PooledBuffer& entry : answer.raw) raw.Add(std::move(entry));
  }
  return std::move(raw).WriteAfter(std::move(header));
}

}  // namespace opserve::server
