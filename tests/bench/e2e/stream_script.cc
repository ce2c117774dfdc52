#include "tests/bench/e2e/stream_script.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "opserve/v1/session.pb.h"
#include "tests/bench/e2e/echo_protocol.h"

namespace opserve::bench {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr int kCommands = v1::SessionRequest::kCommandsFieldNumber;
constexpr int kSessionRaw = v1::SessionRequest::kRawFieldNumber;
constexpr uint64_t kContext = 1, kStream = 1, kBuffer = 1;
// What an answer takes besides its bulk, about.
constexpr int64_t kAnswerFraming = 32;

// A message of one command.
std::string Serialized(uint64_t id, v1::Command command) {
  command.set_id(id);
  std::string message;
  AppendField(kCommands, command.SerializeAsString(), message);
  return message;
}

// The entry of an answer that has one, a chunk's or its one output's; empty for all others.
std::string_view EntryOf(const v1::Answer& answer, const v1::SessionResponse& message) {
  const bool has_output = answer.outputs().outputs_size() == 1;
  if (!answer.has_chunk() && !has_output) return {};
  const uint32_t index =
      has_output ? answer.outputs().outputs(0).raw_index() : answer.chunk().raw_index();
  if (index >= static_cast<uint32_t>(message.raw_size())) return {};
  return message.raw(static_cast<int>(index));
}

// Checks each answer to a command: check(answer, its entry).
template <typename CheckOne>
absl::Status CheckEach(const std::string& bytes, CheckOne check) {
  v1::SessionResponse message;
  if (!message.ParseFromString(bytes))
    return absl::InternalError("wrong answer: no SessionResponse");
  for (const v1::Answer& answer : message.answers()) {
    if (answer.id() == 0) continue;  // a notice
    OPSERVE_RETURN_IF_ERROR(check(answer, EntryOf(answer, message)));
  }
  return absl::OkStatus();
}

class ExecuteScript final : public StreamScript {
 public:
  explicit ExecuteScript(const Workload& workload) : workload_(workload) {
    for (const std::string& input : workload.inputs) AppendField(kSessionRaw, input, raw_);
  }

  int64_t messages_per_unit() const override { return 1; }
  int64_t answered_message() const override { return 0; }
  int64_t input_bytes() const override { return workload_.input_bytes(); }
  int64_t output_bytes() const override { return workload_.output_bytes(); }
  bool may_group() const override { return true; }

  void AddUnit(uint64_t id, UnitGroup& group) override {
    const std::string& command = CommandAt(group.units++);
    uint8_t id_field[16] = {v1::Command::kIdFieldNumber << 3};
    const uint8_t* end = CodedOutputStream::WriteVarint64ToArray(id, id_field + 1);
    const auto id_bytes = static_cast<size_t>(end - id_field);
    AppendFieldStart(kCommands, id_bytes + command.size(), group.commands);
    group.commands.append(reinterpret_cast<const char*>(id_field), id_bytes);
    group.commands.append(command);
    group.raw.append(raw_);
  }
  Message Make(int64_t /*step*/, uint64_t first_id) override {
    UnitGroup alone;
    AddUnit(first_id, alone);
    return {.head = alone.commands + alone.raw, .tail = {}};
  }
  EchoAnswers EchoFor(int64_t /*step*/) const override {
    return {1, workload_.output_bytes() + kAnswerFraming};
  }
  absl::Status Check(const std::string& message) override {
    return CheckEach(message, [this](const v1::Answer& /*answer*/, std::string_view entry) {
      return CheckFloats(workload_.output, entry);
    });
  }

 private:
  // The command, without its id, that has so many before it in its message.
  const std::string& CommandAt(size_t place) {
    while (commands_.size() <= place) {
      std::string execute;
      const size_t first = commands_.size() * workload_.inputs.size();
      AppendField(v1::ExecuteCommand::kCallFieldNumber, CallWithRawFrom(workload_, first), execute);
      AppendField(v1::Command::kExecuteFieldNumber, execute, commands_.emplace_back());
    }
    return commands_[place];
  }

  const Workload& workload_;
  std::string raw_;                    // of one unit
  std::vector<std::string> commands_;  // as far as they were asked for
};

// What transfers share: a context, a stream and a buffer of the unit's size; and a chunk of bytes.
class TransferScript : public StreamScript {
 public:
  explicit TransferScript(const TransferSize& size)
      : size_(size), chunk_(GradientWorkload(size.chunk_bytes / 4).inputs.front()), tail_{chunk_} {}

  int64_t setup_messages() const override { return 3; }

  Message MakeSetup(uint64_t id) override {
    v1::Command command;
    command.set_quiet(true);
    if (id == 1) {
      command.mutable_create_context()->set_context(kContext);
    } else if (id == 2) {
      command.mutable_create_stream()->set_context(kContext);
      command.mutable_create_stream()->set_stream(kStream);
    } else {
      command.mutable_allocate()->set_buffer(kBuffer);
      command.mutable_allocate()->set_context(kContext);
      command.mutable_allocate()->set_size_bytes(size_.total_bytes);
    }
    return {.head = Serialized(id, std::move(command)), .tail = {}};
  }

 protected:
  int64_t chunks() const { return size_.total_bytes / size_.chunk_bytes; }

  Message UploadChunk(int64_t index, uint64_t id) const {
    v1::Command command;
    command.set_quiet(true);
    v1::UploadCommand& upload = *command.mutable_upload();
    upload.set_stream(kStream);
    upload.mutable_destination()->set_buffer(kBuffer);
    upload.mutable_destination()->set_offset_bytes(index * size_.chunk_bytes);
    Message message{.head = Serialized(id, std::move(command)), .tail = tail_};
    AppendFieldStart(kSessionRaw, chunk_.size(), message.head);
    return message;
  }

  const TransferSize size_;
  const std::string chunk_;
  const std::array<std::string_view, 1> tail_;
};

class UploadScript final : public TransferScript {
 public:
  using TransferScript::TransferScript;

  int64_t messages_per_unit() const override { return chunks() + 1; }
  int64_t answered_message() const override { return chunks(); }
  int64_t input_bytes() const override { return size_.total_bytes; }
  int64_t output_bytes() const override { return 0; }

  Message Make(int64_t step, uint64_t first_id) override {
    const uint64_t id = first_id + static_cast<uint64_t>(step);
    if (step < chunks()) return UploadChunk(step, id);
    v1::Command command;
    command.mutable_synchronize()->set_stream(kStream);
    return {.head = Serialized(id, std::move(command)), .tail = {}};
  }
  EchoAnswers EchoFor(int64_t step) const override {
    return {step < chunks() ? 0U : 1U, kAnswerFraming};
  }
  absl::Status Check(const std::string& message) override {
    return CheckEach(message, [](const v1::Answer&, std::string_view) { return absl::OkStatus(); });
  }
};

// Uploads a buffer first, in the set-up.
class DownloadScript final : public TransferScript {
 public:
  using TransferScript::TransferScript;

  int64_t setup_messages() const override { return TransferScript::setup_messages() + chunks(); }
  Message MakeSetup(uint64_t id) override {
    const auto before = static_cast<uint64_t>(TransferScript::setup_messages());
    if (id <= before) return TransferScript::MakeSetup(id);
    return UploadChunk(static_cast<int64_t>(id - before) - 1, id);
  }

  int64_t messages_per_unit() const override { return 1; }
  int64_t answered_message() const override { return 0; }
  int64_t input_bytes() const override { return 0; }
  int64_t output_bytes() const override { return size_.total_bytes; }

  Message Make(int64_t /*step*/, uint64_t first_id) override {
    v1::Command command;
    v1::DownloadCommand& download = *command.mutable_download();
    download.set_stream(kStream);
    download.set_chunk_bytes(size_.chunk_bytes);
    download.mutable_source()->set_buffer(kBuffer);
    download.mutable_source()->set_row_bytes(size_.total_bytes);
    return {.head = Serialized(first_id, std::move(command)), .tail = {}};
  }
  EchoAnswers EchoFor(int64_t /*step*/) const override {
    return {static_cast<uint32_t>(chunks()), size_.chunk_bytes + kAnswerFraming};
  }
  // The last answer may be without a chunk.
  absl::Status Check(const std::string& message) override {
    return CheckEach(message, [this](const v1::Answer& answer, std::string_view entry) {
      const bool is_end = !answer.has_chunk() && !answer.more();
      return is_end ? absl::OkStatus() : CheckFloats(chunk_, entry);
    });
  }
};

class PassThroughScript final : public StreamScript {
 public:
  explicit PassThroughScript(const TransferSize& size)
      : size_(size), workload_(PassThroughWorkload(size.total_bytes / 4, size.chunk_bytes / 4)) {
    for (const std::string& input : workload_.inputs) tails_.push_back({input});
    for (v1::Tensor& input : *workload_.call.mutable_inputs()) input.mutable_chunked();
  }

  int64_t messages_per_unit() const override { return 1 + chunks() * inputs(); }
  int64_t answered_message() const override { return 0; }
  int64_t input_bytes() const override { return size_.total_bytes * inputs(); }
  int64_t output_bytes() const override { return size_.total_bytes; }

  Message Make(int64_t step, uint64_t first_id) override {
    v1::Command command;
    if (step == 0) {
      *command.mutable_execute_chunked()->mutable_call() = workload_.call;
      return {.head = Serialized(first_id, std::move(command)), .tail = {}};
    }
    const auto input = static_cast<size_t>((step - 1) % inputs());
    v1::InputChunkCommand& chunk = *command.mutable_input_chunk();
    chunk.set_command(first_id);
    chunk.set_input(workload_.call.inputs(static_cast<int>(input)).name());
    Message message{.head = Serialized(first_id + static_cast<uint64_t>(step), std::move(command)),
                    .tail = tails_[input]};
    AppendFieldStart(kSessionRaw, workload_.inputs[input].size(), message.head);
    return message;
  }
  // A chunk of the output for each last chunk of the inputs.
  EchoAnswers EchoFor(int64_t step) const override {
    const bool answered = step > 0 && step % inputs() == 0;
    return {answered ? 1U : 0U, size_.chunk_bytes + kAnswerFraming};
  }
  // Chunks of the output may be of any size.
  absl::Status Check(const std::string& message) override {
    return CheckEach(message, [this](const v1::Answer& answer, std::string_view entry) {
      if (!answer.has_chunk()) return absl::OkStatus();
      if (entry.empty()) return absl::InternalError("wrong answer: a chunk without bytes");
      const auto offset = static_cast<size_t>(answer.chunk().offset_bytes() % size_.chunk_bytes);
      const std::string twice = workload_.output + workload_.output;
      return CheckFloats(std::string_view(twice).substr(offset, entry.size()), entry);
    });
  }

 private:
  int64_t chunks() const { return size_.total_bytes / size_.chunk_bytes; }
  int64_t inputs() const { return static_cast<int64_t>(workload_.inputs.size()); }

  const TransferSize size_;
  Workload workload_;
  std::vector<std::array<std::string_view, 1>> tails_;
};

class EchoScript final : public StreamScript {
 public:
  explicit EchoScript(std::unique_ptr<StreamScript> script) : script_(std::move(script)) {
    for (int64_t i = 0; i < messages_per_unit(); ++i) answers_ += script_->EchoFor(i).count;
  }

  int64_t messages_per_unit() const override { return script_->messages_per_unit(); }
  int64_t answered_message() const override { return script_->answered_message(); }
  int64_t input_bytes() const override { return script_->input_bytes(); }
  int64_t output_bytes() const override { return script_->output_bytes(); }
  EchoAnswers EchoFor(int64_t step) const override { return script_->EchoFor(step); }

  // One unit after the other: `behind_` counts down the answers that its later messages bring.
  Message Make(int64_t step, uint64_t first_id) override {
    Message message = script_->Make(step, first_id);
    const EchoAnswers answers = EchoFor(step);
    behind_ = (step == 0 ? answers_ : behind_) - answers.count;
    WriteEchoHeader({.sequence = first_id + static_cast<uint64_t>(answered_message()),
                     .answer_bytes = static_cast<uint64_t>(answers.size_bytes),
                     .answers = answers.count,
                     .later_answers = behind_},
                    message.head);
    return message;
  }

  absl::Status Check(const std::string& message) override {
    EchoHeader header;
    if (ReadEchoHeader(message, header)) return absl::OkStatus();
    return absl::InternalError("wrong answer: not an echo");
  }

 private:
  const std::unique_ptr<StreamScript> script_;
  uint32_t answers_ = 0;
  uint32_t behind_ = 0;
};

}  // namespace

std::unique_ptr<StreamScript> MakeExecuteScript(const Workload& workload) {
  return std::make_unique<ExecuteScript>(workload);
}

std::unique_ptr<StreamScript> MakeUploadScript(const TransferSize& size) {
  return std::make_unique<UploadScript>(size);
}

std::unique_ptr<StreamScript> MakeDownloadScript(const TransferSize& size) {
  return std::make_unique<DownloadScript>(size);
}

std::unique_ptr<StreamScript> MakePassThroughScript(const TransferSize& size) {
  return std::make_unique<PassThroughScript>(size);
}

std::unique_ptr<StreamScript> MakeEchoScript(std::unique_ptr<StreamScript> script) {
  return std::make_unique<EchoScript>(std::move(script));
}

}  // namespace opserve::bench
