// What each command of a session does: one function for each; the table is in session.cc. They are
// called on the thread of Session::Take, one at a time, and must not block.
// An error becomes the command's answer. After OK the handler has finished the ticket, or has given
// it to work that will finish it.
#pragma once

#include "absl/status/status.h"
#include "server/session/session_state.h"

namespace opserve::server {

// contexts, streams, events: runtime_handlers.cc
absl::Status Handle(SessionState& state, const v1::CreateContextCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::DestroyContextCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::CreateStreamCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::DestroyStreamCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::CreateEventCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::DestroyEventCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::RecordEventCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::WaitEventCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::QueryEventCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::QueryStreamCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::QueryElapsedTimeCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::SynchronizeCommand& command, Taken& taken);

// memory: memory_handlers.cc
absl::Status Handle(SessionState& state, const v1::AllocateCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::FreeCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::QueryMemoryCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::UploadCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::DownloadCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::CopyCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::FillCommand& command, Taken& taken);

// the two phases: executor_handlers.cc
absl::Status Handle(SessionState& state, const v1::CreateExecutorCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::SetTensorsCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::RunExecutorCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::DestroyExecutorCommand& command, Taken& taken);

// calls with their bytes: call_handlers.cc
absl::Status Handle(SessionState& state, const v1::ExecuteCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::ExecuteChunkedCommand& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::InputChunkCommand& command, Taken& taken);

// any of them: call_handlers.cc
absl::Status Handle(SessionState& state, const v1::CancelCommand& command, Taken& taken);

// A callback for work on a stream that finishes the ticket with the status of the work.
absl::AnyInvocable<void(absl::Status)> FinishWith(std::shared_ptr<Ticket> ticket);

}  // namespace opserve::server
