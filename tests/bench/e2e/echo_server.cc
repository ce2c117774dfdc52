// opserve-bench-echo: the same RPCs as opserve-server's, on the same stack, with nothing behind
// them. What it reaches is what the transport allows.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <CLI/CLI.hpp>

#include "opserve/v1/operator_service.grpc.pb.h"
#include "opserve/v1/session.grpc.pb.h"
#include "tests/bench/e2e/echo_answer.h"

namespace opserve::bench {
namespace {

constexpr size_t kWaitingAnswers = 1024;  // above it a stream is not read
constexpr uint64_t kWaitingBytes = uint64_t{16} << 20;

// Answers in order; reads and writes side by side.
class EchoStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  EchoStream(AnswerFrom from, WarmBlocks& blocks) : from_(from), blocks_(blocks) {
    StartRead(&in_);
  }

 private:
  struct Due {
    EchoRequest request;
    uint32_t answers;
  };

  void OnReadDone(bool ok) override {
    MutexLock lock(mutex_);
    reading_ = false;
    half_closed_ = !ok;
    if (ok) {
      EchoRequest request(in_, from_, blocks_);
      in_.Clear();
      const uint32_t answers = request.header().answers;
      bytes_due_ += answers > 0 ? request.header().answer_bytes : 0;
      if (answers > 0) due_.push_back({std::move(request), answers});
    }
    Advance();
  }

  void OnWriteDone(bool ok) override {
    MutexLock lock(mutex_);
    writing_ = false;
    half_closed_ = half_closed_ || !ok;
    if (!ok) due_.clear();
    Advance();
  }

  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!writing_ && !due_.empty()) WriteNext();
    if (!reading_ && !half_closed_ && due_.size() < kWaitingAnswers && bytes_due_ < kWaitingBytes) {
      reading_ = true;
      StartRead(&in_);
    }
    if (half_closed_ && !reading_ && !writing_ && due_.empty() && !finished_) {
      finished_ = true;
      Finish(grpc::Status::OK);
    }
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Due& due = due_.front();
    out_ = due.request.MakeAnswer(--due.answers);
    if (due.answers == 0) {
      bytes_due_ -= due.request.header().answer_bytes;
      due_.pop_front();
    }
    grpc::WriteOptions options;
    if (!due_.empty()) options.set_buffer_hint();
    writing_ = true;
    StartWrite(&out_, options);
  }

  void OnDone() override { delete this; }

  const AnswerFrom from_;
  WarmBlocks& blocks_;
  grpc::ByteBuffer in_;
  Mutex mutex_;
  grpc::ByteBuffer out_ ABSL_GUARDED_BY(mutex_);
  std::deque<Due> due_ ABSL_GUARDED_BY(mutex_);
  uint64_t bytes_due_ ABSL_GUARDED_BY(mutex_) = 0;  // one answer of each that is due
  bool reading_ ABSL_GUARDED_BY(mutex_) = true;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

class EchoOperators final
    : public v1::OperatorService::WithRawCallbackMethod_Execute<v1::OperatorService::Service> {
 public:
  EchoOperators(AnswerFrom from, WarmBlocks& blocks) : from_(from), blocks_(blocks) {}

  grpc::ServerUnaryReactor* Execute(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override {
    *response = EchoRequest(*request, from_, blocks_).MakeAnswer(0);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  const AnswerFrom from_;
  WarmBlocks& blocks_;
};

class EchoSessions final
    : public v1::SessionService::WithRawCallbackMethod_Session<v1::SessionService::Service> {
 public:
  EchoSessions(AnswerFrom from, WarmBlocks& blocks) : from_(from), blocks_(blocks) {}

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Session(
      grpc::CallbackServerContext* /*context*/) override {
    return new EchoStream(from_, blocks_);
  }

 private:
  const AnswerFrom from_;
  WarmBlocks& blocks_;
};

struct EchoFlags {
  std::vector<std::string> listen = {"127.0.0.1:0"};
  std::string port_file;
  std::string answer = "zero-copy";
  std::string freed = "trim";
};

// The exit status; nullopt to go on.
std::optional<int> ParseFlags(int argc, const char* const* argv, EchoFlags& flags) {
  CLI::App app("Answers bytes with bytes over gRPC.", "opserve-bench-echo");
  app.add_option("--listen", flags.listen,
                 "host:port (port 0 = a free one) or unix:path. Repeatable.")
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--port-file", flags.port_file,
                 "Written once all addresses are bound, one a line.");
  app.add_option("--answer", flags.answer, "zero-copy or gather")
      ->capture_default_str()
      ->check(CLI::IsMember({"zero-copy", "gather"}));
  app.add_option("--freed-memory", flags.freed,
                 "trim: to the system, as malloc does by itself; keep: stays mapped.")
      ->capture_default_str()
      ->check(CLI::IsMember({"trim", "keep"}));
  CLI11_PARSE(app, argc, argv);
  return std::nullopt;
}

bool WritePortFile(const EchoFlags& flags, const std::vector<int>& ports) {
  if (flags.port_file.empty()) return true;
  const std::string unfinished = flags.port_file + ".unfinished";
  std::ofstream file(unfinished);
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string& address = flags.listen[i];
    file << (address.starts_with("unix:")
                 ? address
                 : address.substr(0, address.rfind(':')) + ":" + std::to_string(ports[i]))
         << "\n";
  }
  file.close();
  return file.good() && std::rename(unfinished.c_str(), flags.port_file.c_str()) == 0;
}

// As opserve-server's.
std::unique_ptr<grpc::Server> Start(const EchoFlags& flags, grpc::Service& operators,
                                    grpc::Service& sessions) {
  grpc::ServerBuilder builder;
  builder.RegisterService(&operators);
  builder.RegisterService(&sessions);
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  std::vector<int> ports(flags.listen.size(), 0);
  for (size_t i = 0; i < ports.size(); ++i)
    builder.AddListeningPort(flags.listen[i], grpc::InsecureServerCredentials(), &ports[i]);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const bool bound = std::find(ports.begin(), ports.end(), 0) == ports.end();
  return server != nullptr && bound && WritePortFile(flags, ports) ? std::move(server) : nullptr;
}

int Serve(const EchoFlags& flags, const sigset_t& stopping) {
  WarmBlocks blocks;
  const AnswerFrom from = flags.answer == "gather" ? AnswerFrom::kGathered : AnswerFrom::kRequest;
  EchoOperators operators(from, blocks);
  EchoSessions sessions(from, blocks);
  const std::unique_ptr<grpc::Server> server = Start(flags, operators, sessions);
  if (server == nullptr) {
    std::fputs("opserve-bench-echo: cannot serve on --listen or write --port-file\n", stderr);
    return 1;
  }
  int signal = 0;
  sigwait(&stopping, &signal);
  server->Shutdown(std::chrono::system_clock::now());
  server->Wait();
  return 0;
}

int Main(int argc, const char* const* argv) {
  EchoFlags flags;
  if (const std::optional<int> status = ParseFlags(argc, argv, flags)) return *status;
  if (flags.freed == "keep") {
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
  }
  sigset_t stopping;
  sigemptyset(&stopping);
  sigaddset(&stopping, SIGTERM);
  sigaddset(&stopping, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stopping, nullptr);
  return Serve(flags, stopping);
}

}  // namespace
}  // namespace opserve::bench

int main(int argc, char** argv) { return opserve::bench::Main(argc, argv); }
