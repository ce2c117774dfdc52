// Writes the seeds that are no text to build/<preset>/fuzz_seeds, from where scripts/test gives
// them to the fuzzers: so a new operator is fuzzed from its first day.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "client/cli/formats/npy.h"
#include "core/base/op_error.h"
#include "core/op/op_table.h"
#include "inference/open_inference.pb.h"
#include "opserve/v1/session.pb.h"
#include "opserve/v1/shared_memory.pb.h"
#include "server/codec/schema_codec.h"
#include "server/codec/status_details.h"
#include "server/codec/tensor_codec.h"
#include "server/transport/messages/status.h"
#include "tests/fuzz/session_script.h"
#include "tests/server/mistakes/malformed_calls.h"
#include "tests/support/cases.h"

namespace opserve::testing {
namespace {

void Seed(const std::string& name, const std::string& bytes) {
  const char* programs = std::getenv("OPSERVE_BIN_DIR");
  ASSERT_NE(programs, nullptr) << "OPSERVE_BIN_DIR: the folder of the build's programs";
  const std::filesystem::path path =
      std::filesystem::path(programs).parent_path() / "fuzz_seeds" / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(std::filesystem::file_size(path), bytes.size()) << path;
}

// An execute input: how the message is cut (longest piece, seed), then the message.
std::string Cut(char longest, char seed, const v1::ExecuteRequest& request) {
  return std::string{longest, seed} + request.SerializeAsString();
}

TEST(FuzzSeeds, Execute) {
  for (const Operator* op : AllOperators()) {
    const std::string name = "execute/" + std::string(op->name);
    v1::ExecuteRequest request = GoodCall(*op);
    Seed(name, Cut(0, 0, request));
    request.mutable_call()->clear_attributes();
    Seed(name + "_without_attributes", Cut(5, 1, request));
    for (const TensorParam& output : op->outputs)
      request.mutable_call()->add_outputs()->set_name(std::string(output.name));
    request.set_output_encoding(v1::TENSOR_ENCODING_VALUES);
    request.mutable_call()->set_device("cpu:1");
    *request.mutable_call()->mutable_attributes() = GoodCall(*op).call().attributes();
    for (v1::Tensor& input : *request.mutable_call()->mutable_inputs()) {
      const std::vector<int64_t> shape = ShapeOf(input);
      const Dims strides = DenseStrides(shape);
      SetStrides(input, {strides.begin(), strides.end()});
    }
    Seed(name + "_with_everything", Cut(40, 7, request));
  }
}

// The good call of an operator as its model's request; attributes that are lists as text.
inference::ModelInferRequest ToInfer(const Operator& op) {
  const v1::ExecuteRequest good = GoodCall(op);
  inference::ModelInferRequest request;
  request.set_model_name(std::string(op.name));
  request.set_id("7");
  for (const v1::Tensor& tensor : good.call().inputs()) {
    auto& input = *request.add_inputs();
    input.set_name(tensor.name());
    input.set_datatype(tensor.dtype() == v1::DATA_TYPE_FLOAT32 ? "FP32" : "INT64");
    *input.mutable_shape() = tensor.shape();
    request.add_raw_input_contents(good.raw(static_cast<int>(tensor.raw_index())));
  }
  for (const v1::Attribute& attribute : good.call().attributes()) {
    auto& parameter = (*request.mutable_parameters())[attribute.name()];
    if (attribute.has_int_value()) parameter.set_int64_param(attribute.int_value());
    if (attribute.has_float_value()) parameter.set_double_param(attribute.float_value());
    if (attribute.has_bool_value()) parameter.set_string_param("true");
    if (!attribute.has_int_list()) continue;
    std::string text;
    for (const int64_t value : attribute.int_list().values())
      text.append(text.empty() ? "[" : ",").append(std::to_string(value));
    parameter.set_string_param(text.append("]"));
  }
  return request;
}

void PutInRegion(google::protobuf::Map<std::string, inference::InferParameter>& parameters) {
  parameters["shared_memory_region"].set_string_param("r");
  parameters["shared_memory_byte_size"].set_int64_param(32);
  parameters["shared_memory_offset"].set_int64_param(64);
}

TEST(FuzzSeeds, Infer) {
  for (const Operator* op : AllOperators()) {
    inference::ModelInferRequest request = ToInfer(*op);
    const std::string name = "infer/" + std::string(op->name);
    Seed(name, std::string{0, 0} + request.SerializeAsString());
    request.add_outputs()->set_name(std::string(op->outputs[0].name));
    (*request.mutable_parameters())["timeout"].set_int64_param(1000000);
    Seed(name + "_of_one_output", std::string{9, 1} + request.SerializeAsString());
    PutInRegion(*request.mutable_inputs(0)->mutable_parameters());
    PutInRegion(*request.mutable_outputs(0)->mutable_parameters());
    Seed(name + "_in_regions", std::string{3, 2} + request.SerializeAsString());
  }
}

// The good call of an operator as the one step of a program, and a sum of its first output, whose
// gradient is asked for.
TEST(FuzzSeeds, ExecuteOfPrograms) {
  for (const Operator* op : AllOperators()) {
    v1::ExecuteRequest request = GoodCall(*op);
    v1::Call& call = *request.mutable_call();
    v1::Program& program = *call.mutable_program();
    v1::Step& step = *program.add_steps();
    step.set_name("y");
    step.set_op(call.op());
    step.mutable_attributes()->Swap(call.mutable_attributes());
    call.clear_op();
    for (const v1::Tensor& tensor : call.inputs()) {
      v1::Tensor& input = *step.add_inputs();
      input.set_name(tensor.name());
      input.set_value(tensor.name());
      if (tensor.dtype() == v1::DATA_TYPE_FLOAT32)
        program.mutable_gradient()->add_with_respect_to(tensor.name());
    }
    v1::Step& sum = *program.add_steps();
    sum.set_name("sum");
    sum.set_op("ReduceSum");
    v1::Tensor& input = *sum.add_inputs();
    input.set_name("self");
    input.set_value("y");
    v1::Attribute& dims = *sum.add_attributes();
    dims.set_name("dims");
    dims.mutable_int_list();
    program.mutable_gradient()->set_of("sum");
    v1::ProgramOutput& output = *program.add_outputs();
    output.set_name("sum");
    output.set_value("sum");
    Seed("execute/program_of_" + std::string(op->name), Cut(0, 0, request));
  }
}

TEST(FuzzSeeds, ExecuteOfValues) {
  v1::ExecuteRequest request;
  v1::Call& call = *request.mutable_call();
  call.set_op("SmoothL1LossBackward");
  for (const std::string name : {"grad_out", "self", "target", "beta"}) {
    v1::Tensor& tensor = *call.add_inputs();
    tensor.set_name(name);
    tensor.set_dtype(v1::DATA_TYPE_FLOAT16);
    if (name == "self") tensor.add_shape(3);
    for (int i = name == "self" ? 3 : 1; i > 0; --i) tensor.mutable_values()->add_floats(i * 0.5);
  }
  *call.add_attributes() = ToAttribute("reduction", int64_t{2});
  Seed("execute/values", Cut(1, 3, request));
}

// Calls of a batch, behind those that it has.
void AddCall(v1::ExecuteBatchRequest& batch, const v1::ExecuteRequest& single) {
  v1::Call& call = *batch.add_calls();
  call = single.call();
  for (v1::Tensor& tensor : *call.mutable_inputs())
    tensor.set_raw_index(tensor.raw_index() + static_cast<uint32_t>(batch.raw_size()));
  batch.mutable_raw()->MergeFrom(single.raw());
}

void SeedBatch(const std::string& name, const v1::ExecuteBatchRequest& batch) {
  Seed("batch/" + name, std::string(2, '\0') + batch.SerializeAsString());
  Seed("batch/" + name + "_in_pieces", std::string("\x09\x05") + batch.SerializeAsString());
}

TEST(FuzzSeeds, Batches) {
  v1::ExecuteBatchRequest every;
  for (const Operator* op : AllOperators()) AddCall(every, GoodCall(*op));
  SeedBatch("every_operator", every);
  v1::ExecuteBatchRequest alike;
  for (int i = 0; i < 3; ++i) AddCall(alike, GoodCall(*AllOperators().front()));
  *alike.add_calls() = alike.calls(0);
  SeedBatch("alike", alike);
  alike.mutable_calls(0)->mutable_inputs(0)->set_raw_index(99);
  alike.mutable_calls(1)->set_op("Nothing");
  alike.set_output_encoding(v1::TENSOR_ENCODING_VALUES);
  *alike.add_calls() = every.calls(0);
  SeedBatch("with_mistakes", alike);
  SeedBatch("empty", {});
}

// An answer input: which message, how it is cut, then the message.
template <typename Message>
void SeedAnswer(const std::string& name, char kind, const Message& message) {
  Seed("answer/" + name, std::string{kind, 0, 0} + message.SerializeAsString());
  Seed("answer/" + name + "_in_pieces", std::string{kind, 9, 4} + message.SerializeAsString());
}

// An output of every dtype, and one that is masked out.
v1::ExecuteResponse EveryOutput() {
  v1::ExecuteResponse result;
  for (int number = 1; number < kNumDTypes; ++number) {
    v1::Tensor& tensor = *result.add_outputs();
    tensor.set_name("out" + std::to_string(number));
    tensor.set_dtype(static_cast<v1::DataType>(number));
    tensor.add_shape(2);
    tensor.set_raw_index(static_cast<uint32_t>(number - 1));
    result.add_raw(std::string(2 * DTypeSize(static_cast<DType>(number)), '\1'));
  }
  v1::Tensor& masked = *result.add_outputs();
  masked.set_name("masked");
  masked.set_dtype(v1::DATA_TYPE_FLOAT32);
  masked.add_shape(0);
  return result;
}

TEST(FuzzSeeds, Answers) {
  const v1::ExecuteResponse result = EveryOutput();
  SeedAnswer("result", 0, result);
  v1::ExecuteBatchResponse batch;
  *batch.add_results()->mutable_outputs() = result.outputs();
  *batch.add_results()->mutable_error() =
      server::EncodeStatusDetails(MissingParameter("self", "a tensor"));
  *batch.mutable_raw() = result.raw();
  SeedAnswer("batch", 5, batch);
  v1::GetStatisticsResponse statistics;
  statistics.add_methods()->add_ended()->set_name("OK");
  statistics.add_errors()->set_reason("DRAINING");
  statistics.add_devices()->set_device("cpu:0");
  SeedAnswer("statistics", 6, statistics);
  v1::GetServerInfoResponse info;
  info.set_version("0.1.0");
  info.set_max_message_bytes(256 << 20);
  SeedAnswer("info", 1, info);
  v1::ListOperatorsResponse operators;
  *operators.add_operators() = server::EncodeSchema(*AllOperators().back());
  SeedAnswer("operators", 2, operators);
  v1::ListDevicesResponse devices;
  devices.add_devices()->set_name("cpu:0");
  devices.mutable_devices(0)->add_operators("L1Loss");
  devices.mutable_devices(0)->mutable_memory()->set_limit_bytes(1 << 30);
  SeedAnswer("devices", 3, devices);
  v1::GetWorkspaceSizeResponse plan;
  *plan.add_outputs() = result.outputs(0);
  plan.mutable_outputs(0)->clear_data();
  plan.set_workspace_bytes(64);
  SeedAnswer("plan", 4, plan);
}

// With entries of its own.
void AddTo(v1::SessionRequest& message, const fuzz::ScriptedCommand& scripted) {
  v1::Command& command = *message.add_commands();
  command = scripted.request;
  const auto first = static_cast<uint32_t>(message.raw_size());
  for (const std::string& entry : scripted.raw) message.add_raw(entry);
  if (command.has_upload()) command.mutable_upload()->set_raw_index(first);
  if (command.has_input_chunk()) command.mutable_input_chunk()->set_raw_index(first);
  if (!command.has_execute()) return;
  for (v1::Tensor& tensor : *command.mutable_execute()->mutable_call()->mutable_inputs())
    tensor.set_raw_index(first + tensor.raw_index());
}

// Scripts, and one message of each command that they make.
TEST(FuzzSeeds, Sessions) {
  std::mt19937 generator(7);  // the same bytes everywhere
  std::set<std::string> seen;
  v1::SessionRequest all;
  for (int i = 0; i < 16; ++i) {
    std::string bytes(400, '\0');
    for (char& byte : bytes) byte = static_cast<char>(generator());
    Seed("session/script_" + std::to_string(i),
         std::string{static_cast<char>(0x20 + i), static_cast<char>(i * 16)} + bytes);
    fuzz::SessionScript script(bytes);
    for (auto command = script.Next(); command.has_value(); command = script.Next()) {
      const google::protobuf::OneofDescriptor* oneof =
          v1::Command::descriptor()->FindOneofByName("command");
      const std::string name =
          v1::Command::GetReflection()->GetOneofFieldDescriptor(command->request, oneof)->name();
      if (!seen.insert(name).second) continue;
      command->request.set_id(1000);
      v1::SessionRequest alone;
      *alone.add_commands() = command->request;
      for (const std::string& entry : command->raw) alone.add_raw(entry);
      Seed("session/message_" + name, std::string("\0\x09\x03", 3) + alone.SerializeAsString());
      command->request.set_id(1000 + seen.size());
      AddTo(all, *command);
    }
  }
  Seed("session/commands", std::string("\0\0\0", 3) + all.SerializeAsString());
  Seed("session/commands_in_pieces", std::string("\0\x09\x03", 3) + all.SerializeAsString());
  EXPECT_EQ(seen.size(), 27u);
}

// Packets behind their lengths, to either client.
TEST(FuzzSeeds, MemoryRequests) {
  const auto packet = [](const v1::SharedMemoryRequest& request, int client) {
    const std::string bytes = request.SerializeAsString();
    return std::string(1, static_cast<char>(bytes.size() | static_cast<size_t>(client) << 7)) +
           bytes;
  };
  v1::SharedMemoryRequest allocate;
  allocate.mutable_allocate()->set_size_bytes(5000);
  v1::SharedMemoryRequest release;
  release.mutable_release()->set_id(std::string(1, '\0'));
  Seed("memory_request/allocate", packet(allocate, 0));
  Seed("memory_request/release", packet(allocate, 0) + packet(release, 0));
  Seed("memory_request/of_another", packet(allocate, 0) + packet(release, 1));
  allocate.mutable_allocate()->set_size_bytes(int64_t{1} << 62);
  Seed("memory_request/too_large", packet(allocate, 1) + std::string("\3abc"));
}

TEST(FuzzSeeds, Frames) {
  Seed("frame_scan/pings", std::string("\0\0\0\x08\6\0\0\0\0\0pingping", 18));
  Seed("frame_scan/endless_headers",
       std::string("\x0E\0\0\5\1\0\0\0\0\1first\0\0\5\x09\0\0\0\0\1 more", 29));
  Seed("frame_scan/calls", std::string("\0\0\0\4\1\4\0\0\0\1head\0\0\5\0\1\0\0\0\1\0\0\0\0\0", 28));
}

TEST(FuzzSeeds, SessionAnswers) {
  const v1::ExecuteResponse result = EveryOutput();
  v1::SessionResponse chunk;
  v1::Answer& answer = *chunk.add_answers();
  answer.set_id(3);
  answer.set_more(true);
  answer.mutable_chunk()->set_output("out");
  chunk.add_raw("bytes");
  SeedAnswer("session", 7, chunk);
  SeedAnswer("session_chunk", v1::Command::kDownload, chunk);
  v1::SessionResponse several = chunk;
  *several.add_answers()->mutable_error() =
      server::EncodeStatusDetails(MissingParameter("self", "a tensor"));
  SeedAnswer("session_answers", 7, several);
  v1::SessionResponse outputs;
  outputs.add_answers()->set_id(3);
  *outputs.mutable_answers(0)->mutable_outputs()->mutable_outputs() = result.outputs();
  *outputs.mutable_raw() = result.raw();
  SeedAnswer("session_outputs", v1::Command::kExecute, outputs);
  v1::SessionResponse executor;
  executor.add_answers()->set_id(3);
  executor.mutable_answers(0)->mutable_executor()->set_workspace_bytes(64);
  *executor.mutable_answers(0)->mutable_executor()->add_outputs() = result.outputs(0);
  SeedAnswer("session_executor", v1::Command::kCreateExecutor, executor);
  v1::SessionResponse opening;
  v1::SessionInfo& info = *opening.add_answers()->mutable_info();
  info.set_max_message_bytes(1 << 20);
  info.set_recommended_chunk_bytes(1 << 16);
  info.set_max_skew_bytes(1 << 16);
  SeedAnswer("session_info", 7, opening);
  v1::SharedMemoryResponse region;
  region.mutable_region()->set_id(std::string(16, 'i'));
  region.mutable_region()->set_size_bytes(8192);
  SeedAnswer("region", 8, region);
}

TEST(FuzzSeeds, StatusDetails) {
  for (const ErrorReasonInfo& row : ErrorReasons()) {
    const grpc::Status status = server::ToGrpcStatus(MakeError(
        {.reason = row.reason, .op = "L1Loss", .parameter = "self", .want = "a", .got = "b"}));
    Seed("status_details/" + std::string(row.name),
         static_cast<char>(status.error_code()) + status.error_details());
  }
}

TEST(FuzzSeeds, Npy) {
  for (int number = 1; number < kNumDTypes; ++number) {
    const auto dtype = static_cast<DType>(number);
    const std::vector<int64_t> shape(static_cast<size_t>(number % 4), 2);
    const auto bytes = static_cast<size_t>(TensorDesc::Dense(dtype, shape).size_bytes());
    const std::string file = cli::NpyPreamble(dtype, shape) + std::string(bytes, '\1');
    const std::string name(DTypeName(dtype));
    Seed("npy/" + name, file);
    std::string fortran = file;
    fortran.replace(fortran.find("False"), 5, "True ");
    Seed("npy/" + name + "_fortran", fortran);
  }
}

}  // namespace
}  // namespace opserve::testing
