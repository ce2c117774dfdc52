// A unary call as bytes, for opserve and for the echo server alike.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/e2e/engine.h"
#include "tests/bench/e2e/workload.h"

namespace opserve::bench {

enum class Peer { kOpserve, kEcho };

// "opserve" or "echo"; the error names --peer.
absl::StatusOr<Peer> ParsePeer(std::string_view text);

// Appends field `number` with wire type 2: tag, length, and the bytes themselves or not.
void AppendFieldStart(int number, size_t bytes, std::string& message);
void AppendField(int number, std::string_view bytes, std::string& message);

// A message that is sent many times. Neither copied nor moved: its pieces point into it.
class StoredMessage {
 public:
  StoredMessage() = default;
  StoredMessage(const StoredMessage&) = delete;
  StoredMessage& operator=(const StoredMessage&) = delete;

  // Small bytes are copied, large ones only pointed to.
  void Append(std::string_view bytes);
  void MakeEcho(int64_t answer_bytes);
  Message Get() const { return {head_, tail_}; }
  size_t size_bytes() const { return Get().size_bytes(); }

 private:
  std::string head_;
  std::deque<std::string> copies_;  // what lies between the large pieces
  std::vector<std::string_view> tail_;
  bool copying_ = false;  // the last piece is the last of copies_
};

// The workload's call as bytes, its inputs the raw entries from `first` on.
std::string CallWithRawFrom(const Workload& workload, size_t first);

struct UnaryTask {
  std::string method;
  StoredMessage message;
  int64_t calls = 1;         // of the operator, in one message
  int64_t input_bytes = 0;   // of tensors, in one message
  int64_t output_bytes = 0;  // of tensors, in its answer
  // Whether an answer is right.
  std::function<absl::Status(const std::string& answer)> check;
};

// Execute. The workload must outlive the task. An echo moves as many bytes each way.
void FillExecuteTask(const Workload& workload, Peer peer, UnaryTask& task);
// The same call as ModelInfer of the Open Inference Protocol. For opserve alone.
void FillInferTask(const Workload& workload, UnaryTask& task);
// ExecuteBatch of `calls` such calls.
void FillBatchTask(const Workload& workload, int64_t calls, Peer peer, UnaryTask& task);

}  // namespace opserve::bench
