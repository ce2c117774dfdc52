#include "client/cpp/session/execute_command.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/session/session_command.h"
#include "client/cpp/transport/message_stream.h"
#include "client/cpp/wire/answered_outputs.h"
#include "client/cpp/wire/call_messages.h"
#include "core/base/status_macros.h"

namespace opserve::client {
namespace {

constexpr std::string_view kOutputsAnswer = "ExecuteOutputs";

absl::StatusOr<ExecuteResult> ReadResult(const SessionAnswer& answer, const AskedOutputs& asked) {
  if (!answer.status.ok()) return answer.status;
  RawEntries raw;
  for (const Fragments& entry : answer.raw) {
    const std::shared_ptr<std::byte> bytes = AllocateTensorBytes(entry.size_bytes());
    entry.CopyTo(bytes.get(), 0, entry.size_bytes());
    raw.Add({bytes, entry.size_bytes()});
  }
  OPSERVE_ASSIGN_OR_RETURN(
      ExecuteResult result,
      ReadOutputs(kOutputsAnswer, answer.message.outputs().outputs(), raw, asked));
  OPSERVE_RETURN_IF_ERROR(raw.CheckAllTaken(kOutputsAnswer));
  const v1::ExecuteOutputs& outputs = answer.message.outputs();
  if (outputs.has_execution()) {
    OPSERVE_ASSIGN_OR_RETURN(result.execution, ReadExecution(kOutputsAnswer, outputs.execution()));
  }
  return result;
}

// A call that has ended when its answer is there and the transport has let go of what it borrows.
class RunningExecute : public std::enable_shared_from_this<RunningExecute> {
 public:
  RunningExecute(AskedOutputs asked, Done<ExecuteResult> done)
      : asked_(std::move(asked)), done_(std::move(done)) {}

  // An owner for what is borrowed. Once.
  std::shared_ptr<const void> Borrow() {
    return Lend([self = shared_from_this()] {
      if (self->End()) RunSoon([self] { self->Tell(); });
    });
  }

  void OnAnswer(const SessionAnswer& answer) {
    result_ = ReadResult(answer, asked_);
    if (End()) Tell();
  }

 private:
  bool End() { return parts_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  void Tell() { done_(std::move(result_)); }

  const AskedOutputs asked_;
  Done<ExecuteResult> done_;
  absl::StatusOr<ExecuteResult> result_;
  std::atomic<int> parts_{2};  // the answer and the loan
};

// `loan` becomes the owner of inputs that have none.
uint64_t SendCall(SessionChannel& channel, const Call& call, const CallTurn& turn,
                  const std::shared_ptr<const void>& loan, OnAnswer on_answer) {
  Command command;
  SetTimeout(turn.timeout, command);
  command.meaning = absl::StrCat("Execute of ", call.op());
  v1::ExecuteCommand& execute = *command.message.mutable_execute();
  FillCall(call, *execute.mutable_call());
  execute.set_output_encoding(v1::TENSOR_ENCODING_RAW);
  execute.set_stream(turn.stream);
  command.raw = FillRawIndices(call, *execute.mutable_call());
  FillSharedOutputs(call, *execute.mutable_call());  // for the server to refuse
  for (RawEntry& entry : command.raw) {
    if (entry.owner == nullptr) entry.owner = loan;
  }
  return channel.Send(std::move(command), std::move(on_answer));
}

}  // namespace

uint64_t SendExecute(SessionChannel& channel, const Call& call, const CallTurn& turn,
                     Done<ExecuteResult> done) {
  const auto running = std::make_shared<RunningExecute>(AskedOf(call), std::move(done));
  return SendCall(channel, call, turn, running->Borrow(),
                  [running](SessionAnswer& answer) { running->OnAnswer(answer); });
}

absl::StatusOr<ExecuteResult> ExecuteAndWait(SessionChannel& channel, const Call& call,
                                             CallTurn turn, const CallOptions& options) {
  const Waiter<absl::StatusOr<ExecuteResult>> waiter;
  const Waiter<bool> released;
  turn.timeout = std::min(turn.timeout, options.timeout);
  const uint64_t id = SendCall(channel, call, turn, Lend([released] { released.Set(true); }),
                               [waiter, asked = AskedOf(call)](SessionAnswer& answer) {
                                 waiter.Set(ReadResult(answer, asked));
                               });
  std::optional<absl::StatusOr<ExecuteResult>> result =
      waiter.Wait(channel.Deadline(options.timeout));
  if (!result.has_value()) channel.CancelCommand(id);
  released.Wait(absl::InfiniteFuture());
  return result.has_value() ? *std::move(result)
                            : channel.TooLate(absl::StrCat("Execute of ", call.op()));
}

}  // namespace opserve::client
