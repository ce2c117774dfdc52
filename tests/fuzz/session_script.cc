#include "tests/fuzz/session_script.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string>

#include "core/op/op_table.h"

namespace opserve::fuzz {
namespace {

constexpr int64_t kBufferBytes = 4096;
constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

constexpr std::array<const char*, 6> kInputNames = {"self",     "target",    "grad_output",
                                                    "grad_out", "log_probs", "nobody"};

}  // namespace

const SessionScript::Build SessionScript::kBuilds[] = {
    &SessionScript::CreateObject, &SessionScript::DestroyObject, &SessionScript::UseEvent,
    &SessionScript::Query,        &SessionScript::Synchronize,   &SessionScript::Upload,
    &SessionScript::Download,     &SessionScript::Copy,          &SessionScript::Fill,
    &SessionScript::PlanExecutor, &SessionScript::SetTensors,    &SessionScript::RunExecutor,
    &SessionScript::RunExecutor,  &SessionScript::Execute,       &SessionScript::ExecuteChunked,
    &SessionScript::InputChunk,   &SessionScript::InputChunk,    &SessionScript::Cancel,
    &SessionScript::UseEvent,     &SessionScript::Upload,        &SessionScript::Download,
};

std::optional<ScriptedCommand> SessionScript::Next() {
  ScriptedCommand command;
  if (last_id_ < kPreludeCommands) {
    BuildPrelude(command, static_cast<int>(last_id_));
  } else {
    if (bytes_.empty()) return std::nullopt;
    const uint8_t kind = TakeByte();
    command.request.set_quiet(kind >= 0xc0);
    // From -1 on.
    if (kind >= 0xb8 && kind < 0xc0) command.request.set_timeout_ns(int64_t{kind} - 0xb9);
    (this->*kBuilds[kind % std::size(kBuilds)])(command);
  }
  command.request.set_id(++last_id_);
  if (command.request.has_execute_chunked()) chunked_calls_.push_back(last_id_);
  return command;
}

uint8_t SessionScript::TakeByte() {
  if (bytes_.empty()) return 0;
  const auto byte = static_cast<uint8_t>(bytes_.front());
  bytes_.remove_prefix(1);
  return byte;
}

void SessionScript::BuildPrelude(ScriptedCommand& command, int number) {
  v1::Command& request = command.request;
  request.set_quiet(true);
  const uint64_t id = static_cast<uint64_t>(number % 3) + 1;
  if (number == 0 || number == 15) {
    request.mutable_create_context()->set_context(number == 0 ? 1 : 2);
  } else if (number <= 3) {
    request.mutable_create_stream()->set_stream(id);
    request.mutable_create_stream()->set_context(1);
    request.mutable_create_stream()->set_on_failure(static_cast<v1::OnFailure>(number % 3));
  } else if (number <= 6) {
    request.mutable_create_event()->set_event(id);
    request.mutable_create_event()->set_context(1);
  } else if (number <= 9) {
    request.mutable_allocate()->set_buffer(id);
    request.mutable_allocate()->set_context(1);
    request.mutable_allocate()->set_size_bytes(kBufferBytes);
  } else if (number <= 12) {
    request.mutable_fill()->mutable_destination()->set_buffer(id);
    request.mutable_fill()->mutable_destination()->set_row_bytes(kBufferBytes);
    request.mutable_fill()->set_pattern("ab");
    request.mutable_fill()->set_stream(1);
  } else {
    request.mutable_record_event()->set_event(id);
    request.mutable_record_event()->set_stream(1);
  }
}

uint64_t SessionScript::TakeId() {
  const uint8_t byte = TakeByte();
  if (byte == 0xff) return std::numeric_limits<uint64_t>::max();
  if (byte >= 0xf8) return byte % 2 == 0 ? 0 : 77;
  return byte % 3 + 1;
}

int64_t SessionScript::TakeSize() {
  const uint8_t byte = TakeByte();
  if (byte >= 0xf0) {
    constexpr int64_t kOdd[] = {-1, kHuge, kHuge / 2 + 1, -kHuge - 1, int64_t{1} << 32, 4097};
    return kOdd[byte % std::size(kOdd)];
  }
  return byte < 0x80 ? int64_t{byte} * 4 : (byte - 0x80) * int64_t{37};
}

int64_t SessionScript::TakeElements() {
  const uint8_t byte = TakeByte();
  return byte < 0xf0 ? byte % 65 : int64_t{byte} * 7;
}

void SessionScript::TakeRange(v1::BufferRange& range) {
  range.set_buffer(TakeId());
  range.set_offset_bytes(TakeSize());
  range.set_row_bytes(TakeSize());
  const uint8_t rows = TakeByte();
  if (rows < 0x80) return;
  range.set_rows(rows == 0xff ? kHuge : rows % 8);
  range.set_stride_bytes(TakeSize());
}

void SessionScript::CreateObject(ScriptedCommand& command) {
  v1::Command& request = command.request;
  const uint8_t kind = TakeByte() % 4;
  const uint64_t id = TakeId();
  if (kind == 0) {
    request.mutable_create_context()->set_context(id);
    if (TakeByte() == 0xff) request.mutable_create_context()->set_device("none");
  } else if (kind == 1) {
    request.mutable_create_stream()->set_stream(id);
    request.mutable_create_stream()->set_context(TakeId());
    request.mutable_create_stream()->set_on_failure(static_cast<v1::OnFailure>(TakeByte() % 4));
  } else if (kind == 2) {
    request.mutable_create_event()->set_event(id);
    request.mutable_create_event()->set_context(TakeId());
  } else {
    request.mutable_allocate()->set_buffer(id);
    request.mutable_allocate()->set_context(TakeId());
    request.mutable_allocate()->set_size_bytes(TakeByte() < 0xe0 ? kBufferBytes : TakeSize());
  }
}

void SessionScript::DestroyObject(ScriptedCommand& command) {
  v1::Command& request = command.request;
  const uint8_t kind = TakeByte() % 16;
  const uint64_t id = TakeId();
  if (kind == 0) return request.mutable_destroy_context()->set_context(id);
  if (kind < 4) return request.mutable_destroy_stream()->set_stream(id);
  if (kind < 8) return request.mutable_destroy_event()->set_event(id);
  if (kind < 12) return request.mutable_free()->set_buffer(id);
  request.mutable_destroy_executor()->set_executor(id);
}

void SessionScript::UseEvent(ScriptedCommand& command) {
  const uint64_t event = TakeId();
  const uint64_t stream = TakeId();
  if (TakeByte() % 2 == 0) {
    command.request.mutable_record_event()->set_event(event);
    command.request.mutable_record_event()->set_stream(stream);
  } else {
    command.request.mutable_wait_event()->set_event(event);
    command.request.mutable_wait_event()->set_stream(stream);
  }
}

void SessionScript::Query(ScriptedCommand& command) {
  v1::Command& request = command.request;
  const uint8_t kind = TakeByte() % 4;
  const uint64_t id = TakeId();
  if (kind == 0) return request.mutable_query_event()->set_event(id);
  if (kind == 1) return request.mutable_query_stream()->set_stream(id);
  if (kind == 2) return request.mutable_query_memory()->set_context(id);
  request.mutable_query_elapsed_time()->set_start(id);
  request.mutable_query_elapsed_time()->set_end(TakeId());
}

void SessionScript::Synchronize(ScriptedCommand& command) {
  v1::SynchronizeCommand& synchronize = *command.request.mutable_synchronize();
  const uint8_t kind = TakeByte() % 8;
  const uint64_t id = TakeId();
  if (kind == 0) return;
  if (kind < 3) return synchronize.set_context(id);
  if (kind < 5) return synchronize.set_event(id);
  synchronize.set_stream(id);
}

void SessionScript::Upload(ScriptedCommand& command) {
  v1::UploadCommand& upload = *command.request.mutable_upload();
  upload.set_stream(TakeId());
  TakeRange(*upload.mutable_destination());
  v1::BufferRange& to = *upload.mutable_destination();
  const int64_t rows = to.rows() > 0 && to.rows() < 8 ? to.rows() : 1;
  const bool sane = to.row_bytes() >= 0 && to.row_bytes() <= kBufferBytes;
  const int64_t size = sane ? rows * to.row_bytes() : TakeByte();
  command.raw.assign(TakeByte() == 0xff ? 0 : 1, std::string(static_cast<size_t>(size), 'u'));
}

void SessionScript::Download(ScriptedCommand& command) {
  v1::DownloadCommand& download = *command.request.mutable_download();
  download.set_stream(TakeId());
  TakeRange(*download.mutable_source());
  const uint8_t how = TakeByte();
  download.set_detached(how % 2 == 1);
  if (how >= 0xc0) download.set_chunk_bytes(TakeSize());
}

void SessionScript::Copy(ScriptedCommand& command) {
  v1::CopyCommand& copy = *command.request.mutable_copy();
  copy.set_stream(TakeId());
  TakeRange(*copy.mutable_source());
  TakeRange(*copy.mutable_destination());
  if (TakeByte() < 0xe0) copy.mutable_destination()->set_row_bytes(copy.source().row_bytes());
  if (TakeByte() < 0xe0) copy.mutable_destination()->set_rows(copy.source().rows());
}

void SessionScript::Fill(ScriptedCommand& command) {
  v1::FillCommand& fill = *command.request.mutable_fill();
  fill.set_stream(TakeId());
  TakeRange(*fill.mutable_destination());
  const uint8_t pattern = TakeByte();
  fill.set_pattern(std::string(pattern < 0xe0 ? size_t{1} << pattern % 4 : pattern % 16, 'f'));
}

void SessionScript::AddTensor(v1::Tensor& tensor, int64_t elements, Bytes bytes,
                              ScriptedCommand& command) {
  const uint8_t look = TakeByte();
  const bool half = look % 16 == 15;
  tensor.set_dtype(half ? v1::DATA_TYPE_FLOAT16 : v1::DATA_TYPE_FLOAT32);
  tensor.add_shape(look >= 0xf0 ? TakeElements() : elements);
  if (look >= 0xe0) tensor.add_strides(look % 3);
  if (bytes == Bytes::kChunks && look % 4 != 0) {
    tensor.mutable_chunked();
    return;
  }
  if (bytes == Bytes::kBuffers) {
    tensor.mutable_buffer()->set_buffer(TakeId());
    tensor.mutable_buffer()->set_offset_bytes(look % 8 == 7 ? TakeSize() : int64_t{look} * 8);
    return;
  }
  tensor.set_raw_index(static_cast<uint32_t>(command.raw.size()));
  command.raw.emplace_back(static_cast<size_t>(tensor.shape(0) * (half ? 2 : 4)), 'r');
}

void SessionScript::TakeCall(v1::Call& call, Bytes bytes, ScriptedCommand& command) {
  const uint8_t look = TakeByte();
  const std::span<const Operator* const> operators = AllOperators();
  const size_t number = look % (operators.size() + 1);
  const bool known = number < operators.size();
  const Operator& op = *operators[known ? number : 0];
  const int64_t elements = TakeElements();
  call.set_op(known ? std::string(op.name) : "Nothing");
  for (const TensorParam& input : op.inputs) {
    v1::Tensor& tensor = *call.add_inputs();
    tensor.set_name(std::string(input.name));
    AddTensor(tensor, elements, bytes, command);
  }
  if (!op.attributes.empty()) {
    v1::Attribute& attribute = *call.add_attributes();
    attribute.set_name(std::string(op.attributes[0].name));
    attribute.set_int_value(look >= 0xe0 ? 1 : 0);
  }
  if (bytes != Bytes::kBuffers || look % 16 < 8) return;
  v1::Tensor& output = *call.add_outputs();
  output.set_name(look % 5 == 0 ? "nobody" : std::string(op.outputs[0].name));
  AddTensor(output, elements, bytes, command);
}

void SessionScript::PlanExecutor(ScriptedCommand& command) {
  v1::CreateExecutorCommand& plan = *command.request.mutable_create_executor();
  plan.set_executor(TakeId());
  plan.set_context(TakeByte() < 0xe0 ? 1 : TakeId());
  plan.set_repeatable(TakeByte() % 2 == 0);
  TakeCall(*plan.mutable_call(), Bytes::kBuffers, command);
}

void SessionScript::SetTensors(ScriptedCommand& command) {
  v1::SetTensorsCommand& set = *command.request.mutable_set_tensors();
  set.set_executor(TakeId());
  for (int left = TakeByte() % 3; left > 0; --left) {
    v1::Rebinding& tensor = *set.add_tensors();
    tensor.set_name(kInputNames[TakeByte() % kInputNames.size()]);
    tensor.mutable_buffer()->set_buffer(TakeId());
    tensor.mutable_buffer()->set_offset_bytes(TakeSize());
  }
}

void SessionScript::RunExecutor(ScriptedCommand& command) {
  v1::RunExecutorCommand& run = *command.request.mutable_run_executor();
  run.set_executor(TakeId());
  run.set_stream(TakeId());
  const uint8_t how = TakeByte();
  run.set_send_outputs(how % 2 == 1);
  if (how >= 0xc0) run.set_chunk_bytes(TakeSize());
  if (how % 16 != 3) return;
  run.mutable_workspace()->set_buffer(TakeId());
  run.mutable_workspace()->set_offset_bytes(TakeByte() % 8 == 7 ? TakeSize()
                                                                : TakeByte() * int64_t{64});
}

void SessionScript::Execute(ScriptedCommand& command) {
  v1::ExecuteCommand& execute = *command.request.mutable_execute();
  if (TakeByte() % 2 == 0) execute.set_stream(TakeId());
  execute.set_output_encoding(static_cast<v1::TensorEncoding>(TakeByte() % 4));
  TakeCall(*execute.mutable_call(), Bytes::kRaw, command);
}

void SessionScript::ExecuteChunked(ScriptedCommand& command) {
  TakeCall(*command.request.mutable_execute_chunked()->mutable_call(), Bytes::kChunks, command);
}

void SessionScript::InputChunk(ScriptedCommand& command) {
  v1::InputChunkCommand& chunk = *command.request.mutable_input_chunk();
  const uint8_t which = TakeByte();
  const size_t calls = chunked_calls_.size();
  if (calls > 0) chunk.set_command(chunked_calls_[calls - 1 - which % std::min<size_t>(calls, 3)]);
  chunk.set_input(kInputNames[which / 3 % 4]);
  const int64_t size = which >= 0xf0 ? TakeByte() : TakeElements() * 4;
  command.raw.assign(which == 0xff ? 0 : 1, std::string(static_cast<size_t>(size), 'c'));
}

// One of the last few commands.
void SessionScript::Cancel(ScriptedCommand& command) {
  command.request.mutable_cancel()->set_command(last_id_ + 2 - TakeByte() % 16);
}

}  // namespace opserve::fuzz
