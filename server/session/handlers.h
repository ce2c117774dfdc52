// What each command of a session does. One function a command; the table is in session.cc.
//
// An error is the answer. After OK the handler has answered, or has left the ticket with the work
// that will.
#pragma once

#include "absl/status/status.h"
#include "server/session/session_state.h"

namespace opserve::server {

// contexts, streams, events: runtime_handlers.cc
absl::Status Handle(SessionState& state, const v1::CreateContext& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::DestroyContext& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::CreateStream& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::DestroyStream& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::CreateEvent& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::DestroyEvent& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::RecordEvent& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::WaitEvent& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::QueryEvent& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::QueryStream& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::QueryElapsedTime& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::Synchronize& command, Taken& taken);

// memory: memory_handlers.cc
absl::Status Handle(SessionState& state, const v1::Allocate& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::Free& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::QueryMemory& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::Upload& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::Download& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::Copy& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::Fill& command, Taken& taken);

// the two phases: executor_handlers.cc
absl::Status Handle(SessionState& state, const v1::CreateExecutor& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::SetTensors& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::RunExecutor& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::DestroyExecutor& command, Taken& taken);

// calls with their bytes: call_handlers.cc
absl::Status Handle(SessionState& state, const v1::InlineExecute& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::ChunkedExecute& command, Taken& taken);
absl::Status Handle(SessionState& state, const v1::InputChunk& command, Taken& taken);

// An enqueued command's end is the ticket's.
absl::AnyInvocable<void(absl::Status)> FinishWith(std::shared_ptr<Ticket> ticket);

}  // namespace opserve::server
