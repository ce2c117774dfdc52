#include "client/loadtest/calls/session_work.h"

#include <span>

#include "client/loadtest/calls/wire_fields.h"
#include "opserve/v1/session.pb.h"

namespace opserve::loadtest {
namespace {

// Inputs of at most so many bytes are copied into messages of several commands.
constexpr size_t kMaxCopiedBytes = 16 << 10;

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

SessionWork::SessionWork(const Work& work) {
  client::Call call = work.call;
  call.ReportExecution();
  client::FillCall(call, call_);
  raw_ = client::FillRawIndices(call, call_);
  entries_ = static_cast<uint32_t>(raw_.size());
  for (const client::RawEntry& entry : raw_)
    request_bytes_ += static_cast<int64_t>(entry.bytes.size());
  const bool large = request_bytes_ > static_cast<int64_t>(kMaxCopiedBytes);
  tags_.resize(raw_.size());
  for (size_t i = 0; i < raw_.size(); ++i) {
    AppendFieldStart(v1::SessionRequest::kRawFieldNumber, raw_[i].bytes.size(), tags_[i]);
    if (large) {
      large_raw_.push_back(tags_[i]);
      large_raw_.push_back(TextOf(raw_[i].bytes));
    } else {
      raw_bytes_.append(tags_[i]).append(TextOf(raw_[i].bytes));
    }
  }
  request_bytes_ += static_cast<int64_t>(CommandFrom(0).size());
}

const std::string& SessionWork::CommandFrom(uint32_t first) {
  const auto [place, is_new] = commands_.try_emplace(first);
  if (is_new) {
    v1::Call call = call_;
    for (v1::Tensor& input : *call.mutable_inputs())
      if (input.has_raw_index()) input.set_raw_index(first + input.raw_index());
    std::string execute;
    AppendField(v1::ExecuteCommand::kCallFieldNumber, call.SerializeAsString(), execute);
    AppendField(v1::Command::kExecuteFieldNumber, execute, place->second);
  }
  return place->second;
}

void SessionWork::AppendCommand(uint64_t id, uint32_t first, absl::Duration timeout,
                                std::string& message) {
  const std::string& command = CommandFrom(first);
  std::string own;
  AppendVarintField(v1::Command::kIdFieldNumber, id, own);
  AppendVarintField(v1::Command::kTimeoutNsFieldNumber,
                    static_cast<uint64_t>(absl::ToInt64Nanoseconds(timeout)), own);
  AppendFieldStart(v1::SessionRequest::kCommandsFieldNumber, own.size() + command.size(), message);
  message.append(own).append(command);
}

}  // namespace opserve::loadtest
