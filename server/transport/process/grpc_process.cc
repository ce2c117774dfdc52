#include "server/transport/process/grpc_process.h"

#include <cstdlib>
#include <string>

#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "server/log/log.h"

namespace opserve::server {
namespace {

constexpr auto kNothing = static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1);

// As long as a connection brings more than gRPC 1.51 read of it, gRPC reads twice as much the next
// time, and works all of it off in one go: a client that sends fast has a network thread to itself
// for tenths of a second, and tens of megabytes. Without this experiment, which is on, gRPC reads
// at most four pieces of GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE. A value that the user set stays.
void BoundWhatGrpcReads() {
  constexpr int kOverwrite = 0;
  if (absl::StartsWith(grpc::Version(), "1.51."))
    ::setenv("GRPC_EXPERIMENTS", "-tcp_read_chunks", kOverwrite);
}

// What GRPC_VERBOSITY asks for.
gpr_log_severity LowestOfGrpc() {
  for (const gpr_log_severity severity :
       {GPR_LOG_SEVERITY_DEBUG, GPR_LOG_SEVERITY_INFO, GPR_LOG_SEVERITY_ERROR}) {
    if (gpr_should_log(severity) != 0) return severity;
  }
  return kNothing;
}

void LogOfGrpc(gpr_log_func_args* args) {
  LogLevel level = LogLevel::kDebug;
  if (args->severity == GPR_LOG_SEVERITY_INFO) level = LogLevel::kInfo;
  if (args->severity == GPR_LOG_SEVERITY_ERROR) level = LogLevel::kError;
  if (!LogEnabled(level)) return;
  // Most of it is about what clients sent.
  static auto* log = new LimitedLog();
  if (!log->Write(level, args->message, {{"source", absl::StrCat(args->file, ":", args->line)}}))
    gpr_set_log_verbosity(kNothing);
}

// What it says about messages, a client can make it say at will.
void LogOfProtobuf(google::protobuf::LogLevel severity, const char* file, int line,
                   const std::string& message) {
  const bool fatal = severity == google::protobuf::LOGLEVEL_FATAL;
  Log(fatal ? LogLevel::kError : LogLevel::kDebug, message,
      {{"source", absl::StrCat(file, ":", line)}});
}

}  // namespace

void SetUpGrpc() {
  [[maybe_unused]] static const bool done = [] {
    gpr_set_log_function(LogOfGrpc);
    google::protobuf::SetLogHandler(LogOfProtobuf);
    // Debian builds Abseil with its search for deadlocks, under one lock for all of gRPC's.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    BoundWhatGrpcReads();
    // For good: its end waits for ever for threads that the system refused it.
    grpc_init();
    LetGrpcLog();
    return true;
  }();
}

void LetGrpcLog() {
  static const gpr_log_severity lowest = LowestOfGrpc();
  gpr_set_log_verbosity(lowest);
}

}  // namespace opserve::server
