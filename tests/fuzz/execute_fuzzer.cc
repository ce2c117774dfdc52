// ExecuteRequest, the whole way down without a network: scanner, header, codec, plan, run, answer,
// and what the client makes of the answer or of the error.
//
// Input: two bytes that say how the message is cut into slices (fuzz_input.h), then the message.
#include <grpcpp/support/byte_buffer.h>

#include "client/cpp/values/printable_text.h"
#include "client/cpp/wire/messages.h"
#include "client/cpp/wire/status_details.h"
#include "core/base/status_macros.h"
#include "core/engine/engine.h"
#include "server/calls/shared_storages.h"
#include "server/codec/call_codec.h"
#include "server/codec/message_scanner.h"
#include "server/codec/tensor_codec.h"
#include "server/transport/messages/raw_message.h"
#include "server/transport/messages/status.h"
#include "tests/fuzz/execute_mutator.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/small_engine.h"

namespace opserve::fuzz {
namespace {

using server::CallStorages;
using server::SplitMessage;

// What the scanner accepts is what protobuf itself reads.
void CheckAgainstProtobuf(const SplitMessage& request, const v1::ExecuteRequest& header,
                          std::string_view bytes) {
  v1::ExecuteRequest whole;
  Require(whole.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
          "protobuf reads what the scanner accepts");
  Require(static_cast<size_t>(whole.raw_size()) == request.raw.size(), "as many raw entries");
  for (size_t i = 0; i < request.raw.size(); ++i) {
    std::string entry(request.raw[i].size_bytes(), '\0');
    request.raw[i].CopyTo(reinterpret_cast<std::byte*>(entry.data()), 0, entry.size());
    Require(entry == whole.raw(static_cast<int>(i)), "the bytes of a raw entry");
  }
  whole.clear_raw();
  Require(whole.ByteSizeLong() == header.ByteSizeLong(), "the header's size");
}

// The answer as the service writes it is one that the client reads.
void Answer(Outputs outputs, bool as_values) {
  v1::ExecuteResponse header;
  server::RawWriter raw(v1::ExecuteResponse::kRawFieldNumber);
  for (OutputTensor& output : outputs) {
    v1::Tensor& tensor = *header.add_outputs();
    tensor.set_name(std::string(output.name));
    tensor.set_dtype(server::EncodeDType(output.desc.dtype));
    tensor.mutable_shape()->Add(output.desc.shape.begin(), output.desc.shape.end());
    const int64_t count = output.desc.num_elements();
    if (as_values) {
      v1::TensorValues values;
      server::EncodeValues(output.desc.dtype, output.bytes.data(), count, values);
      Require(values.ByteSizeLong() <= server::EncodedValuesBytes(output.desc.dtype, count),
              "values are no longer than foretold");
    }
    if (count == 0) continue;
    tensor.set_raw_index(raw.entries());
    raw.Add(std::move(output.bytes));
  }
  const grpc::ByteBuffer answer =
      server::ToByteBuffer(std::move(raw).WriteAfter(header.SerializeAsString()));
  std::vector<grpc::Slice> slices;
  Require(answer.Dump(&slices).ok(), "the answer has slices");
  Fragments fragments;
  for (const grpc::Slice& slice : slices)
    fragments.Append(std::as_bytes(std::span(slice.begin(), slice.size())));
  Require(client::ReadExecuteResult(fragments).ok(), "the client reads the answer");
}

absl::Status Execute(const grpc::ByteBuffer& buffer, std::string_view bytes) {
  OPSERVE_ASSIGN_OR_RETURN(SplitMessage request,
                           server::ReadSplitMessage(buffer, v1::ExecuteRequest::kRawFieldNumber,
                                                    server::kMaxRawEntries));
  v1::ExecuteRequest header;
  OPSERVE_RETURN_IF_ERROR(server::ParseHeader(request.header, header));
  CheckAgainstProtobuf(request, header, bytes);
  const v1::Call& call = header.call();
  const absl::StatusOr<NamedCall> plan_only =
      server::DecodeCall(call, server::TensorData::kIgnored, {});
  if (plan_only.ok()) {
    const absl::StatusOr<Plan> plan = SmallEngine().MakePlan(*plan_only);
    if (!plan.ok()) RequireDetail(plan.status());
  }
  OPSERVE_ASSIGN_OR_RETURN(
      const NamedCall named,
      server::DecodeCall(call, server::TensorData::kMessageOrShared, request.raw));
  OneShot shot;
  OPSERVE_ASSIGN_OR_RETURN(shot.plan, SmallEngine().MakePlan(named));
  Require(shot.plan->call.input_bytes() >= 0 && shot.plan->call.output_bytes() >= 0, "sizes count");
  OPSERVE_ASSIGN_OR_RETURN(CallStorages storages,
                           server::DecodeStorages(call, std::move(request.raw)));
  shot.storages = std::move(storages.fragments);
  server::HeldRegions held;
  OPSERVE_RETURN_IF_ERROR(server::AddSharedStorages(call, nullptr, shot, held));
  if (!IsQuick(*shot.plan)) return absl::OkStatus();
  OPSERVE_ASSIGN_OR_RETURN(Outputs outputs, RunToEnd(std::move(shot)));
  Answer(std::move(outputs), header.output_encoding() == v1::TENSOR_ENCODING_VALUES);
  return absl::OkStatus();
}

// An error reaches the client in its parts.
void CheckError(const absl::Status& status) {
  RequireDetail(status);
  const grpc::Status sent = server::ToGrpcStatus(status);
  Require(sent.error_details().size() + sent.error_message().size() < 8192, "errors fit metadata");
  const absl::Status came =
      client::StatusFromWire(sent.error_code(), sent.error_message(), sent.error_details());
  Require(came.code() == status.code(), "the code arrives");
  const ErrorDetail detail = GetErrorDetail(status).value_or(ErrorDetail());
  const std::optional<ErrorDetail> arrived = GetErrorDetail(came);
  Require(arrived.has_value(), "the detail arrives");
  Require(arrived->reason == detail.reason && arrived->op == client::PrintableText(detail.op),
          "reason and operator");
}

}  // namespace
}  // namespace opserve::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  fuzz::Input input(data, size);
  const uint8_t longest = input.TakeByte();
  const uint8_t seed = input.TakeByte();
  const fuzz::Pieces pieces(input.rest(), longest, seed);
  const absl::Status status = fuzz::Execute(fuzz::BufferOf(pieces), input.rest());
  if (!status.ok()) fuzz::CheckError(status);
  fuzz::RequireNothingLent();
  return 0;
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  return opserve::fuzz::MutateExecuteInput(data, size, max_size, seed);
}
