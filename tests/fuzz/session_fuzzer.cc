// A session and its messages.
//
// Input: byte 0 says what it is, by its highest bits. 0: byte 1 the longest slice, byte 2 a seed
// for their lengths, then a SessionRequest as bytes, which a session takes. Else: byte 1 says how
// the session ends and how large its window is, then a script (session_script.h); each command is
// followed by as many steps of the network as byte 0 and the script say.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/engine/engine.h"
#include "google/rpc/error_details.pb.h"
#include "server/session/session.h"
#include "server/transport/messages/session_messages.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/session_script.h"

namespace opserve::fuzz {
namespace {

Engine& SmallEngine() {
  static Engine& engine = *Engine::Create({.devices = {DeviceSpec{.threads = 2}},
                                           .memory_limit_bytes = int64_t{1} << 20})
                               ->release();
  return engine;
}

// What sessions leave behind may outlive them.
server::OpenStreams& SmallOpenStreams() {
  static auto& streams = *new server::OpenStreams(SmallEngine());
  return streams;
}

server::ServerCounters& SmallCounters() {
  static auto& counters = *new server::ServerCounters();
  return counters;
}

server::SessionLimits SmallLimits(uint8_t look) {
  return {.memory_limit_bytes = int64_t{256} << 10,
          .max_handles = 32,
          .max_queued_commands = 48,
          .window_bytes = int64_t{512} << look % 4,
          .max_skew_bytes = 256,
          .chunk_bytes = 128,
          .max_message_bytes = 16384,
          .host_memory_bytes = int64_t{48} << 10};
}

// Of the answers that are taken together.
constexpr int64_t kGroupBytes = 1024;

// A few scripts' commands take more.
constexpr int64_t kHostBytes = int64_t{64} << 10;

template <typename Condition>
void YieldUntil(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

// The client's side of a session: checks every answer against what was sent.
class Client {
 public:
  explicit Client(const server::SessionLimits& limits)
      : host_memory_(std::make_shared<server::HostMemory>(kHostBytes, 1, Clock::Real())),
        flow_(
            std::make_shared<server::Flow>(limits.window_bytes,
                                           std::make_shared<server::SessionMemory>(
                                               host_memory_, ClientId(1), limits.host_memory_bytes),
                                           SmallCounters())),
        session_(std::in_place, SmallEngine(), plans_, SmallOpenStreams(), Clock::Real(), limits,
                 flow_) {
    sent_[0] = {.answered = true};
    Require(TakeAnswer() && saw_info_, "SessionInfo comes first");
  }

  // The session takes nothing any more when it has lent and kept nothing.
  ~Client() {
    session_.reset();
    const std::weak_ptr<server::Flow> flow = flow_;
    flow_.reset();
    YieldUntil([&] { return flow.expired(); });
    const MemoryPool& memory = SmallEngine().devices().front()->memory();
    YieldUntil([&] { return memory.stats().used_bytes == 0; });
    YieldUntil([&] { return host_memory_->used_bytes() == 0; });
  }

  bool may_send() const { return flow_->MayRead(); }

  absl::Status Send(v1::Command request, std::vector<Fragments> raw,
                    std::shared_ptr<const void> owner) {
    return Send({.header = std::move(request), .raw = std::move(raw), .owner = std::move(owner)});
  }

  absl::Status Send(server::Command command) {
    const uint64_t id = command.header.id();
    const bool answered = !command.header.quiet() && !command.header.has_input_chunk();
    const absl::Status status = session_->Take(std::move(command));
    if (status.ok()) sent_[id].answered = answered;
    return status;
  }

  // False when there is none.
  bool TakeAnswer() {
    std::vector<server::Answer> answers = flow_->Next(kGroupBytes);
    if (answers.empty()) return false;
    int64_t bytes = 0;
    for (const server::Answer& answer : answers) {
      Check(answer);
      bytes += answer.size_bytes();
    }
    const size_t count = answers.size();
    answers.clear();
    flow_->Sent(count, bytes);
    return true;
  }

  void HalfClose() {
    session_->EndOfCommands();
    YieldUntil([this] {
      while (TakeAnswer()) {
      }
      return flow_->IsIdle();
    });
    for (const auto& [id, state] : sent_)
      Require(id == 0 || state.over || !state.answered, "every command is answered");
  }

  void Cut() { session_->Close(); }

 private:
  struct State {
    bool answered = true;  // when it succeeds, too
    bool over = false;
  };

  void Check(const server::Answer& answer) {
    const v1::Answer& header = answer.header;
    saw_info_ = saw_info_ || header.has_info();
    // An answer may come before Take returns, but not to the client, which is this thread.
    const auto found = sent_.find(header.id());
    Require(found != sent_.end(), "an answer is to a command");
    State& state = found->second;
    Require(!state.over, "nothing follows the last answer");
    if (header.id() != 0) state.over = !header.more();
    Require(header.has_error() || state.answered, "quiet commands are answered when they fail");
    if (header.has_error()) CheckError(header);
    Require(!header.has_chunk() || (answer.raw.size() == 1 && header.more()), "a chunk has bytes");
  }

  static void CheckError(const v1::Answer& header) {
    google::rpc::ErrorInfo info;
    Require(header.error().code() != 0 && header.error().details_size() == 1 &&
                info.ParseFromString(header.error().details(0).value()),
            "an error has an ErrorInfo");
    Require(info.reason() != "INTERNAL", "no defect");
    Require(!header.more(), "an error is the last answer");
    const bool stopped = info.reason() == "CANCELLED" || info.reason() == "DEADLINE_EXCEEDED";
    Require(stopped || (info.metadata().contains("want") && info.metadata().contains("got")),
            "an error says want and got");
  }

  server::PlanCache plans_;
  const std::shared_ptr<server::HostMemory> host_memory_;
  std::shared_ptr<server::Flow> flow_;
  std::optional<server::Session> session_;
  std::map<uint64_t, State> sent_;
  bool saw_info_ = false;
};

absl::Status SendScripted(Client& client, ScriptedCommand command) {
  const auto entries = std::make_shared<std::vector<std::string>>(std::move(command.raw));
  std::vector<Fragments> raw;
  for (const std::string& entry : *entries) raw.emplace_back(std::as_bytes(std::span(entry)));
  return client.Send(std::move(command.request), std::move(raw), entries);
}

// Sends when it may, reads when it must or when the script says so.
void RunScript(uint8_t pace, uint8_t look, std::string_view bytes) {
  Client client(SmallLimits(look));
  SessionScript script(bytes);
  for (auto command = script.Next(); command.has_value(); command = script.Next()) {
    YieldUntil([&] { return client.may_send() || (client.TakeAnswer() && client.may_send()); });
    Require(SendScripted(client, *std::move(command)).ok(), "a command with an id is taken");
    for (int left = pace % 3 == 0 ? script.TakeByte() % 4 : pace % 3; left > 0; --left)
      client.TakeAnswer();
  }
  if (look < 0xc0) return client.HalfClose();
  if (look < 0xe0) client.Cut();
}

grpc::ByteBuffer BufferOf(const Pieces& pieces) {
  std::vector<grpc::Slice> slices;
  for (const std::span<const std::byte> piece : pieces.spans())
    slices.emplace_back(piece.data(), piece.size());
  return grpc::ByteBuffer(slices.data(), slices.size());
}

// Views repeat elements, so a few bytes can stand for a computation of hours.
bool IsQuick(const v1::Call& call) {
  if (call.has_program()) return call.program().steps_size() == 0;
  constexpr int64_t kMaxElements = 1 << 20;
  int64_t elements = 1;
  for (const v1::Tensor& input : call.inputs()) {
    for (const int64_t extent : input.shape()) {
      if (extent > 1 && __builtin_mul_overflow(elements, extent, &elements)) return false;
    }
  }
  return elements <= kMaxElements;
}

// Stops where protobuf reads another command.
void RequireSame(const server::Command& command, const v1::Command& want) {
  const v1::Command& header = command.header;
  Require(header.id() == want.id() && header.command_case() == want.command_case(), "the command");
}

// The upload's bytes are those of the message's entry.
void RequireBytes(const server::Command& command, const v1::SessionRequest& message, int index) {
  const uint32_t entry = message.commands(index).upload().raw_index();
  const bool is_there = entry < static_cast<uint32_t>(message.raw_size());
  Require(command.raw.size() == (is_there ? 1U : 0U), "its entry");
  if (!is_there) return;
  std::string bytes(command.raw[0].size_bytes(), '\0');
  command.raw[0].CopyTo(reinterpret_cast<std::byte*>(bytes.data()), 0, bytes.size());
  Require(bytes == message.raw(static_cast<int>(entry)), "its bytes");
}

bool IsQuick(const v1::Command& command) {
  return IsQuick(command.execute().call()) && IsQuick(command.execute_chunked().call());
}

void SendPrelude(Client& client) {
  SessionScript prelude("");
  for (auto command = prelude.Next(); command.has_value(); command = prelude.Next())
    SendScripted(client, *std::move(command)).IgnoreError();
}

void TakeMessage(const Pieces& pieces, std::string_view bytes) {
  absl::StatusOr<server::CommandReader> reader = server::CommandReader::Open(BufferOf(pieces));
  if (!reader.ok()) return RequireDetail(reader.status());
  // Where the second command is none, the first is read all the same.
  v1::SessionRequest expected;
  const bool is_message = expected.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  const auto count = static_cast<size_t>(expected.commands_size());
  Require(!is_message || reader->size() == count, "as many commands");
  Client client(SmallLimits(0));
  SendPrelude(client);
  for (int i = 0; reader->size() > 0; ++i) {
    absl::StatusOr<server::Command> command = reader->Next();
    if (!command.ok()) return RequireDetail(command.status());
    if (is_message) RequireSame(*command, expected.commands(i));
    if (is_message && command->header.has_upload()) RequireBytes(*command, expected, i);
    if (!IsQuick(command->header)) return;
    const absl::Status status = client.Send(*std::move(command));
    if (!status.ok()) return RequireDetail(status);
  }
  Require(is_message, "protobuf reads what the reader accepts");
  client.HalfClose();
}

}  // namespace
}  // namespace opserve::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  fuzz::Input input(data, size);
  const uint8_t kind = input.TakeByte();
  const uint8_t look = input.TakeByte();
  if (kind >= 0x20) {
    fuzz::RunScript(kind, look, input.rest());
    return 0;
  }
  const uint8_t seed = input.TakeByte();
  fuzz::TakeMessage(fuzz::Pieces(input.rest(), look, seed), input.rest());
  return 0;
}
