// Contexts, streams and events.
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/session/handlers.h"

namespace opserve::server {
namespace {

// What a synchronization takes on each stream.
constexpr int64_t kSynchronizeBytes = 256;

// Puts what `make` returns into `table`, or remembers that it failed.
template <typename T, typename Make>
absl::Status Create(SessionState& state, ObjectTable<T>& table, uint64_t id, Taken& taken,
                    Make make) {
  OPSERVE_RETURN_IF_ERROR(table.CheckNew(id));
  absl::Status status = state.CheckHandles(table.kind());
  if (status.ok()) {
    absl::StatusOr<T> object = make();
    if (object.ok()) {
      table.Add(id, *std::move(object));
      taken.ticket->Finish(absl::OkStatus());
      return absl::OkStatus();
    }
    status = object.status();
  }
  table.AddFailed(id, taken.ticket->id(), status);
  return status;
}

absl::StatusOr<Stream::OnFailure> DecodeOnFailure(int number) {
  switch (number) {
    case v1::ON_FAILURE_UNSPECIFIED:
    case v1::ON_FAILURE_STOP:
      return Stream::OnFailure::kStop;
    case v1::ON_FAILURE_CONTINUE:
      return Stream::OnFailure::kContinue;
    default:
      return OutOfRange("on_failure", "an OnFailure of the API",
                        absl::StrCat("the number ", number));
  }
}

// A failure is told even to who is late: nobody else will hear of it.
absl::AnyInvocable<void(Stream::Failure)> TellFailure(std::shared_ptr<Ticket> ticket) {
  return [ticket = std::move(ticket)](const Stream::Failure& failure) {
    if (failure.status.ok()) return ticket->Finish(ticket->CheckGoesOn());
    ticket->FinishBlaming(failure.status, failure.command);
  };
}

absl::Status SynchronizeEvent(SessionState& state, uint64_t id, const Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Event>* event, state.events.Find(id));
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Marker> latest, event->object->Latest());
  latest->OnReached([ticket = taken.ticket] { ticket->Finish(ticket->CheckGoesOn()); });
  return absl::OkStatus();
}

absl::Status CheckReached(const Event& event, std::string_view parameter) {
  const absl::StatusOr<bool> reached = event.Query();
  if (reached.ok() && *reached) return absl::OkStatus();
  return InvalidParameter(
      parameter, "an event that was recorded and reached",
      reached.ok() ? "one that was recorded but not reached yet" : "one that was never recorded");
}

}  // namespace

absl::Status Handle(SessionState& state, const v1::CreateContextCommand& command, Taken& taken) {
  return Create(
      state, state.contexts, command.context(), taken,
      [&]() -> absl::StatusOr<std::shared_ptr<Context>> {
        OPSERVE_ASSIGN_OR_RETURN(Device * device, state.engine.FindDevice(command.device()));
        return std::make_shared<Context>(*device, state.budget, state.clock, state.client);
      });
}

absl::Status Handle(SessionState& state, const v1::DestroyContextCommand& command, Taken& taken) {
  OPSERVE_RETURN_IF_ERROR(state.EraseContext(command.context()));
  taken.ticket->Finish(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::CreateStreamCommand& command, Taken& taken) {
  return Create(state, state.streams, command.stream(), taken,
                [&]() -> absl::StatusOr<OwnedStream> {
                  OPSERVE_ASSIGN_OR_RETURN(const Stream::OnFailure on_failure,
                                           DecodeOnFailure(command.on_failure()));
                  OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Context> * context,
                                           state.contexts.Find(command.context()));
                  return OwnedStream{{command.context(), (*context)->CreateStream(on_failure)},
                                     state.open_streams.Take((*context)->device())};
                });
}

absl::Status Handle(SessionState& state, const v1::DestroyStreamCommand& command, Taken& taken) {
  const absl::StatusOr<OwnedStream*> stream = state.streams.Find(command.stream());
  if (stream.ok()) {
    OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Context> * context,
                             state.contexts.Find((*stream)->context));
    OPSERVE_RETURN_IF_ERROR((*context)->DestroyStream((*stream)->object));
  }
  OPSERVE_RETURN_IF_ERROR(state.streams.Erase(command.stream()));
  taken.ticket->Finish(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::CreateEventCommand& command, Taken& taken) {
  return Create(state, state.events, command.event(), taken, [&]() -> absl::StatusOr<Owned<Event>> {
    OPSERVE_RETURN_IF_ERROR(state.contexts.Find(command.context()).status());
    return Owned<Event>{command.context(), std::make_shared<Event>()};
  });
}

absl::Status Handle(SessionState& state, const v1::DestroyEventCommand& command, Taken& taken) {
  OPSERVE_RETURN_IF_ERROR(state.events.Erase(command.event()));
  taken.ticket->Finish(absl::OkStatus());
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::RecordEventCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Event>* event, state.events.Find(command.event()));
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Stream>* stream, state.streams.Find(command.stream()));
  OPSERVE_RETURN_IF_ERROR(CheckSameContext(event->context, stream->context, "event"));
  stream->object->Record(*event->object);
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<Marker> latest, event->object->Latest());
  latest->OnReached([ticket = taken.ticket] { ticket->Finish(absl::OkStatus()); });
  return absl::OkStatus();
}

// An empty command behind the gate counts as the waiting one, and answers.
absl::Status Handle(SessionState& state, const v1::WaitEventCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Event>* event, state.events.Find(command.event()));
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Stream>* stream, state.streams.Find(command.stream()));
  OPSERVE_RETURN_IF_ERROR(CheckSameContext(event->context, stream->context, "event"));
  OPSERVE_RETURN_IF_ERROR(stream->object->WaitFor(*event->object));
  stream->object->Enqueue(
      Stream::Command{.id = taken.ticket->id(),
                      .run = [ticket = taken.ticket] { return ticket->CheckGoesOn(); },
                      .done = FinishWith(taken.ticket)});
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::QueryEventCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Event>* event, state.events.Find(command.event()));
  OPSERVE_ASSIGN_OR_RETURN(const bool reached, event->object->Query());
  Answer answer;
  answer.header.mutable_event()->set_reached(reached);
  taken.ticket->Finish(absl::OkStatus(), std::move(answer));
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::QueryStreamCommand& command, Taken& taken) {
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Stream>* stream, state.streams.Find(command.stream()));
  Answer answer;
  answer.header.mutable_stream()->set_idle(stream->object->IsIdle());
  taken.ticket->Finish(absl::OkStatus(), std::move(answer));
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::QueryElapsedTimeCommand& command, Taken& taken) {
  // The tables keep what they have in place while nothing is added.
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Event>* start, state.events.Find(command.start()));
  OPSERVE_ASSIGN_OR_RETURN(const Owned<Event>* end, state.events.Find(command.end()));
  OPSERVE_RETURN_IF_ERROR(CheckReached(*start->object, "start"));
  OPSERVE_RETURN_IF_ERROR(CheckReached(*end->object, "end"));
  OPSERVE_ASSIGN_OR_RETURN(const absl::Duration elapsed, ElapsedTime(*start->object, *end->object));
  Answer answer;
  answer.header.mutable_elapsed_time()->set_elapsed_ns(absl::ToInt64Nanoseconds(elapsed));
  taken.ticket->Finish(absl::OkStatus(), std::move(answer));
  return absl::OkStatus();
}

absl::Status Handle(SessionState& state, const v1::SynchronizeCommand& command, Taken& taken) {
  switch (command.target_case()) {
    case v1::SynchronizeCommand::kStream: {
      OPSERVE_ASSIGN_OR_RETURN(const Owned<Stream>* stream, state.streams.Find(command.stream()));
      stream->object->Synchronize(TellFailure(taken.ticket));
      return absl::OkStatus();
    }
    case v1::SynchronizeCommand::kContext: {
      OPSERVE_ASSIGN_OR_RETURN(std::shared_ptr<Context> * context,
                               state.contexts.Find(command.context()));
      // Something waits on each of its streams until then.
      taken.ticket->Hold(kSynchronizeBytes * static_cast<int64_t>((*context)->num_streams()));
      (*context)->Synchronize(TellFailure(taken.ticket));
      return absl::OkStatus();
    }
    case v1::SynchronizeCommand::kEvent:
      return SynchronizeEvent(state, command.event(), taken);
    case v1::SynchronizeCommand::TARGET_NOT_SET:
      break;
  }
  return MissingParameter("target", "a stream, an event or a context");
}

}  // namespace opserve::server
