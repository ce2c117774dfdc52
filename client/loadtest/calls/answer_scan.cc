#include "client/loadtest/calls/answer_scan.h"

#include <string>

#include "client/cpp/wire/status_details.h"
#include "client/cpp/wire/wire_reader.h"
#include "google/rpc/status.pb.h"
#include "opserve/v1/operator_service.pb.h"
#include "opserve/v1/session.pb.h"

namespace opserve::loadtest {
namespace {

using client::WireReader;
using Field = WireReader::Field;
using Type = WireReader::Type;

constexpr size_t kMaxErrorBytes = 64 << 10;

// Visits the fields of a message with visit(reader, field, handled): the visitor reads what it
// wants and says so. Stops before the first bulk entry, as those come last.
template <typename Visit>
bool ForEachField(const Fragments& message, uint64_t bulk, Visit visit) {
  WireReader reader(message);
  while (reader.remaining() > 0) {
    Field field;
    if (!reader.ReadField(field)) return false;
    if (bulk != 0 && field.number == bulk) return true;
    bool handled = false;
    if (!visit(reader, field, handled)) return false;
    if (!handled && !reader.SkipField(field)) return false;
  }
  return true;
}

// The message in a field of bytes.
bool TakeMessage(WireReader& reader, const Field& field, Fragments& message) {
  return reader.Slice(field.length, message);
}

bool TakeNanoseconds(WireReader& reader, absl::Duration& sum) {
  uint64_t value = 0;
  if (!reader.ReadVarint(value)) return false;
  sum += absl::Nanoseconds(static_cast<int64_t>(value));
  return true;
}

bool ScanExecution(WireReader& reader, const Field& field, Outcome& outcome) {
  Fragments message;
  if (!TakeMessage(reader, field, message)) return false;
  ++outcome.executions;
  return ForEachField(message, 0, [&](WireReader& inner, const Field& part, bool& handled) {
    if (part.type != Type::kVarint) return true;
    const bool queued = part.number == v1::Execution::kQueuedNsFieldNumber;
    if (!queued && part.number != v1::Execution::kExecutedNsFieldNumber) return true;
    handled = true;
    return TakeNanoseconds(inner, queued ? outcome.queued : outcome.executed);
  });
}

bool ScanError(WireReader& reader, const Field& field, absl::Status& error) {
  if (field.length > kMaxErrorBytes) return false;
  std::string bytes(field.length, '\0');
  google::rpc::Status message;
  if (!reader.Read(reinterpret_cast<std::byte*>(bytes.data()), bytes.size()) ||
      !message.ParseFromString(bytes))
    return false;
  error = client::StatusFromWire(message);
  if (error.ok()) error = absl::InternalError("an error whose code is OK");
  return true;
}

bool ScanBatchResult(const Fragments& result, Outcome& outcome) {
  return ForEachField(result, 0, [&](WireReader& reader, const Field& field, bool& handled) {
    if (field.type != Type::kBytes) return true;
    if (field.number == v1::BatchResult::kExecutionFieldNumber) {
      handled = true;
      return ScanExecution(reader, field, outcome);
    }
    if (field.number != v1::BatchResult::kErrorFieldNumber) return true;
    handled = true;
    ++outcome.failed_calls;
    absl::Status error;
    if (!ScanError(reader, field, error)) return false;
    outcome.first_error.Update(error);
    return true;
  });
}

bool ScanSessionAnswer(const Fragments& message, SessionAnswer& answer) {
  return ForEachField(message, 0, [&](WireReader& reader, const Field& field, bool& handled) {
    uint64_t value = 0;
    Fragments outputs;
    switch (field.number) {
      case v1::Answer::kIdFieldNumber:
        handled = field.type == Type::kVarint;
        return handled && reader.ReadVarint(answer.id);
      case v1::Answer::kMoreFieldNumber:
        handled = field.type == Type::kVarint;
        if (!handled || !reader.ReadVarint(value)) return false;
        answer.more = value != 0;
        return true;
      case v1::Answer::kErrorFieldNumber:
        handled = field.type == Type::kBytes;
        return handled && ScanError(reader, field, answer.outcome.status);
      case v1::Answer::kOutputsFieldNumber:
        handled = field.type == Type::kBytes;
        return handled && TakeMessage(reader, field, outputs) &&
               ScanExecuteAnswer(outputs, answer.outcome);
      default:
        return true;
    }
  });
}

}  // namespace

// ExecuteOutputs, of a session, has the same fields.
static_assert(int{v1::ExecuteOutputs::kExecutionFieldNumber} ==
              int{v1::ExecuteResponse::kExecutionFieldNumber});

bool ScanExecuteAnswer(const Fragments& answer, Outcome& outcome) {
  return ForEachField(answer, v1::ExecuteResponse::kRawFieldNumber,
                      [&](WireReader& reader, const Field& field, bool& handled) {
                        handled = field.number == v1::ExecuteResponse::kExecutionFieldNumber &&
                                  field.type == Type::kBytes;
                        return !handled || ScanExecution(reader, field, outcome);
                      });
}

bool ScanBatchAnswer(const Fragments& answer, Outcome& outcome) {
  return ForEachField(
      answer, v1::ExecuteBatchResponse::kRawFieldNumber,
      [&](WireReader& reader, const Field& field, bool& handled) {
        handled = field.number == v1::ExecuteBatchResponse::kResultsFieldNumber &&
                  field.type == Type::kBytes;
        Fragments result;
        return !handled || (TakeMessage(reader, field, result) && ScanBatchResult(result, outcome));
      });
}

bool ScanSessionAnswers(const Fragments& message,
                        absl::FunctionRef<void(const SessionAnswer&)> take) {
  return ForEachField(message, v1::SessionResponse::kRawFieldNumber,
                      [&](WireReader& reader, const Field& field, bool& handled) {
                        handled = field.number == v1::SessionResponse::kAnswersFieldNumber &&
                                  field.type == Type::kBytes;
                        if (!handled) return true;
                        Fragments bytes;
                        SessionAnswer answer;
                        if (!TakeMessage(reader, field, bytes) || !ScanSessionAnswer(bytes, answer))
                          return false;
                        take(answer);
                        return true;
                      });
}

}  // namespace opserve::loadtest
