#include "tests/bench/e2e/stream_script.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "opserve/v1/session.pb.h"
#include "tests/bench/e2e/echo_protocol.h"

namespace opserve::bench {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr int kSessionRaw = v1::SessionRequest::kRawFieldNumber;
constexpr uint64_t kContext = 1, kStream = 1, kBuffer = 1;
// What an answer takes besides its bulk, about.
constexpr int64_t kAnswerFraming = 32;

std::string Serialized(uint64_t id, v1::SessionRequest request) {
  request.set_id(id);
  return request.SerializeAsString();
}

absl::StatusOr<v1::SessionResponse> Parse(const std::string& bytes) {
  v1::SessionResponse answer;
  if (answer.ParseFromString(bytes)) return answer;
  return absl::InternalError("wrong answer: no SessionResponse");
}

// An answer's one raw entry.
absl::Status CheckRaw(std::string_view want, const std::string& bytes) {
  OPSERVE_ASSIGN_OR_RETURN(const v1::SessionResponse answer, Parse(bytes));
  if (answer.raw_size() == 1) return CheckFloats(want, answer.raw(0));
  return absl::InternalError(absl::StrCat("wrong answer: ", answer.raw_size(), " raw entries"));
}

class InlineScript final : public StreamScript {
 public:
  explicit InlineScript(const Workload& workload) : workload_(workload) {
    v1::SessionRequest request;
    *request.mutable_inline_execute()->mutable_call() = workload.call;
    behind_id_ = request.SerializeAsString();
    for (const std::string& input : workload.inputs) AppendField(kSessionRaw, input, behind_id_);
  }

  int64_t messages_per_unit() const override { return 1; }
  int64_t answered_message() const override { return 0; }
  int64_t input_bytes() const override { return workload_.input_bytes(); }
  int64_t output_bytes() const override { return workload_.output_bytes(); }
  bool may_group() const override { return true; }

  Message Make(int64_t /*step*/, uint64_t first_id) override {
    uint8_t id[16] = {v1::SessionRequest::kIdFieldNumber << 3};
    const uint8_t* end = CodedOutputStream::WriteVarint64ToArray(first_id, id + 1);
    Message message;
    message.head.reserve(sizeof(id) + behind_id_.size());
    message.head.assign(reinterpret_cast<const char*>(id), static_cast<size_t>(end - id));
    message.head.append(behind_id_);
    return message;
  }
  EchoAnswers EchoFor(int64_t /*step*/) const override {
    return {1, workload_.output_bytes() + kAnswerFraming};
  }
  absl::Status Check(const std::string& answer) override {
    return CheckRaw(workload_.output, answer);
  }

 private:
  const Workload& workload_;
  std::string behind_id_;
};

// What transfers share: a context, a stream and a buffer of the unit's size; and a chunk of bytes.
class TransferScript : public StreamScript {
 public:
  explicit TransferScript(const TransferSize& size)
      : size_(size), chunk_(GradientWorkload(size.chunk_bytes / 4).inputs.front()), tail_{chunk_} {}

  int64_t setup_messages() const override { return 3; }

  Message MakeSetup(uint64_t id) override {
    v1::SessionRequest request;
    request.set_quiet(true);
    if (id == 1) {
      request.mutable_create_context()->set_context(kContext);
    } else if (id == 2) {
      request.mutable_create_stream()->set_context(kContext);
      request.mutable_create_stream()->set_stream(kStream);
    } else {
      request.mutable_allocate()->set_buffer(kBuffer);
      request.mutable_allocate()->set_context(kContext);
      request.mutable_allocate()->set_size_bytes(size_.total_bytes);
    }
    return {.head = Serialized(id, std::move(request)), .tail = {}};
  }

 protected:
  int64_t chunks() const { return size_.total_bytes / size_.chunk_bytes; }

  Message UploadChunk(int64_t index, uint64_t id) const {
    v1::SessionRequest request;
    request.set_quiet(true);
    v1::Upload& upload = *request.mutable_upload();
    upload.set_stream(kStream);
    upload.mutable_to()->set_buffer(kBuffer);
    upload.mutable_to()->set_offset_bytes(index * size_.chunk_bytes);
    Message message{.head = Serialized(id, std::move(request)), .tail = tail_};
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
    v1::SessionRequest request;
    request.mutable_synchronize()->set_stream(kStream);
    return {.head = Serialized(id, std::move(request)), .tail = {}};
  }
  EchoAnswers EchoFor(int64_t step) const override {
    return {step < chunks() ? 0U : 1U, kAnswerFraming};
  }
  absl::Status Check(const std::string& answer) override { return Parse(answer).status(); }
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
    v1::SessionRequest request;
    v1::Download& download = *request.mutable_download();
    download.set_stream(kStream);
    download.set_chunk_bytes(size_.chunk_bytes);
    download.mutable_from()->set_buffer(kBuffer);
    download.mutable_from()->set_row_bytes(size_.total_bytes);
    return {.head = Serialized(first_id, std::move(request)), .tail = {}};
  }
  EchoAnswers EchoFor(int64_t /*step*/) const override {
    return {static_cast<uint32_t>(chunks()), size_.chunk_bytes + kAnswerFraming};
  }
  // The last answer may be without a chunk.
  absl::Status Check(const std::string& answer) override {
    OPSERVE_ASSIGN_OR_RETURN(const v1::SessionResponse response, Parse(answer));
    if (!response.has_chunk() && !response.more()) return absl::OkStatus();
    return CheckRaw(chunk_, answer);
  }
};

class PassThroughScript final : public StreamScript {
 public:
  explicit PassThroughScript(const TransferSize& size)
      : size_(size), workload_(PassThroughWorkload(size.total_bytes / 4, size.chunk_bytes / 4)) {
    for (const std::string& input : workload_.inputs) tails_.push_back({input});
    for (v1::Tensor& input : *workload_.call.mutable_inputs()) input.set_chunked(true);
  }

  int64_t messages_per_unit() const override { return 1 + chunks() * inputs(); }
  int64_t answered_message() const override { return 0; }
  int64_t input_bytes() const override { return size_.total_bytes * inputs(); }
  int64_t output_bytes() const override { return size_.total_bytes; }

  Message Make(int64_t step, uint64_t first_id) override {
    v1::SessionRequest request;
    if (step == 0) {
      *request.mutable_chunked_execute()->mutable_call() = workload_.call;
      return {.head = Serialized(first_id, std::move(request)), .tail = {}};
    }
    const auto input = static_cast<size_t>((step - 1) % inputs());
    v1::InputChunk& chunk = *request.mutable_input_chunk();
    chunk.set_command(first_id);
    chunk.set_input(workload_.call.inputs(static_cast<int>(input)).name());
    Message message{.head = Serialized(first_id + static_cast<uint64_t>(step), std::move(request)),
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
  absl::Status Check(const std::string& answer) override {
    OPSERVE_ASSIGN_OR_RETURN(const v1::SessionResponse response, Parse(answer));
    if (!response.has_chunk()) return absl::OkStatus();
    if (response.raw_size() != 1) return absl::InternalError("wrong answer: a chunk without bytes");
    const auto offset = static_cast<size_t>(response.chunk().offset_bytes() % size_.chunk_bytes);
    const std::string twice = workload_.output + workload_.output;
    return CheckFloats(twice.substr(offset, response.raw(0).size()), response.raw(0));
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

  absl::Status Check(const std::string& answer) override {
    EchoHeader header;
    if (ReadEchoHeader(answer, header)) return absl::OkStatus();
    return absl::InternalError("wrong answer: not an echo");
  }

 private:
  const std::unique_ptr<StreamScript> script_;
  uint32_t answers_ = 0;
  uint32_t behind_ = 0;
};

}  // namespace

std::unique_ptr<StreamScript> MakeInlineScript(const Workload& workload) {
  return std::make_unique<InlineScript>(workload);
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
