// What a load says on a stream: units of work that are made of messages and end with an answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/e2e/engine.h"
#include "tests/bench/e2e/unary_task.h"
#include "tests/bench/e2e/workload.h"

namespace opserve::bench {

// Units that go together in one message.
struct UnitGroup {
  std::string commands;
  std::string raw;
  size_t units = 0;

  size_t size_bytes() const { return commands.size() + raw.size(); }
};

// A message has one command, unless units go together. The id of a command is the number of those
// sent before it on its stream, plus 1.
class StreamScript {
 public:
  // How many answers of which size the echo server shall give to a message.
  struct EchoAnswers {
    uint32_t count = 0;
    int64_t size_bytes = 0;
  };

  virtual ~StreamScript() = default;

  // Messages before the first unit; they are not answered.
  virtual int64_t setup_messages() const { return 0; }
  virtual Message MakeSetup(uint64_t /*id*/) { return {}; }

  virtual int64_t messages_per_unit() const = 0;
  // The message whose last answer ends the unit; 0 is the first.
  virtual int64_t answered_message() const = 0;
  // Message `step` of the unit whose first message has the id `first_id`.
  virtual Message Make(int64_t step, uint64_t first_id) = 0;
  virtual EchoAnswers EchoFor(int64_t step) const = 0;
  // Whether units, of one command each, may go together, as opserve's client sends them.
  virtual bool may_group() const { return false; }
  // Adds the unit whose command has the id `id`.
  virtual void AddUnit(uint64_t /*id*/, UnitGroup& /*group*/) {}

  // Of a unit, tensors only.
  virtual int64_t input_bytes() const = 0;
  virtual int64_t output_bytes() const = 0;

  // Whether the answers in a message are right.
  virtual absl::Status Check(const std::string& message) = 0;
};

struct TransferSize {
  int64_t total_bytes = 0;  // of a unit (ExecuteChunked: of its output)
  int64_t chunk_bytes = 0;
};

// An Execute without a stream is a unit. The workload must outlive the script.
std::unique_ptr<StreamScript> MakeExecuteScript(const Workload& workload);
// A unit writes a buffer in chunks and waits for the stream.
std::unique_ptr<StreamScript> MakeUploadScript(const TransferSize& size);
// A unit reads a buffer in chunks.
std::unique_ptr<StreamScript> MakeDownloadScript(const TransferSize& size);
// A unit is one ExecuteChunked of L1LossBackward.
std::unique_ptr<StreamScript> MakePassThroughScript(const TransferSize& size);

// The same bytes each way for the echo server.
std::unique_ptr<StreamScript> MakeEchoScript(std::unique_ptr<StreamScript> script);

}  // namespace opserve::bench
