// Commands of a session made of bytes: most of them sound, on few ids, so that they meet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opserve/v1/session.pb.h"

namespace opserve::fuzz {

struct ScriptedCommand {
  v1::Command request;           // with its id
  std::vector<std::string> raw;  // that it names, from 0 on
};

// A few bytes a command; the same bytes give the same commands.
class SessionScript {
 public:
  explicit SessionScript(std::string_view bytes) : bytes_(bytes) {}

  // Two contexts with streams, events, buffers and executors: what most commands want to be there.
  static constexpr int kPreludeCommands = 16;

  // Begins with the prelude. nullopt when the bytes are used up.
  std::optional<ScriptedCommand> Next();

  // For the one who plays the network; 0 at the end.
  uint8_t TakeByte();

 private:
  using Build = void (SessionScript::*)(ScriptedCommand&);
  static const Build kBuilds[];

  void BuildPrelude(ScriptedCommand& command, int number);

  void CreateObject(ScriptedCommand& command);
  void DestroyObject(ScriptedCommand& command);
  void UseEvent(ScriptedCommand& command);
  void Query(ScriptedCommand& command);
  void Synchronize(ScriptedCommand& command);
  void Upload(ScriptedCommand& command);
  void Download(ScriptedCommand& command);
  void Copy(ScriptedCommand& command);
  void Fill(ScriptedCommand& command);
  void PlanExecutor(ScriptedCommand& command);
  void SetTensors(ScriptedCommand& command);
  void RunExecutor(ScriptedCommand& command);
  void Execute(ScriptedCommand& command);
  void ExecuteChunked(ScriptedCommand& command);
  void InputChunk(ScriptedCommand& command);
  void Cancel(ScriptedCommand& command);

  // Mostly 1 to 3, at times none that there is.
  uint64_t TakeId();
  // Mostly small and even, at times huge or negative.
  int64_t TakeSize();
  int64_t TakeElements();
  void TakeRange(v1::BufferRange& range);
  enum class Bytes : uint8_t { kBuffers, kRaw, kChunks };
  void TakeCall(v1::Call& call, Bytes bytes, ScriptedCommand& command);
  void AddTensor(v1::Tensor& tensor, int64_t elements, Bytes bytes, ScriptedCommand& command);

  std::string_view bytes_;
  uint64_t last_id_ = 0;
  std::vector<uint64_t> chunked_calls_;
};

}  // namespace opserve::fuzz
