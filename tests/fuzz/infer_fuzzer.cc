// ModelInferRequest of the Open Inference Protocol, the whole way down and up without a network:
// scanner, header, the call that it becomes, plan, run, answer.
//
// Input: two bytes that say how the message is cut into slices (fuzz_input.h), then the message.

#include "core/base/status_macros.h"
#include "inference/open_inference.pb.h"
#include "server/calls/planned_call.h"
#include "server/codec/message_scanner.h"
#include "server/open_inference/infer_request.h"
#include "server/transport/messages/raw_message.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/separated.h"
#include "tests/fuzz/small_engine.h"

namespace opserve::fuzz {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using server::InferHeader;
using server::PlannedCall;
using server::SplitMessage;

// What was read is what protobuf itself reads.
void CheckAgainstProtobuf(const SplitMessage& message, const InferHeader& header,
                          const ModelInferRequest& request, std::string_view bytes) {
  ModelInferRequest whole;
  Require(whole.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
          "protobuf reads what the scanner accepts");
  Require(static_cast<size_t>(whole.raw_input_contents_size()) == message.raw.size(),
          "as many raw entries");
  Require(whole.id() == header.id, "the id");
  whole.clear_raw_input_contents();
  whole.clear_id();
  Require(whole.ByteSizeLong() == request.ByteSizeLong(), "the header's size");
}

std::string BytesOf(server::WrittenMessage message) {
  std::string bytes = message.begin;
  for (const server::WrittenMessage::Entry& entry : message.entries) {
    bytes.append(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
    bytes.append(entry.after);
  }
  return bytes;
}

// The answer is one that clients read without looking twice.
void CheckAnswer(const std::string& bytes, const InferHeader& header, const PlannedCall& planned) {
  Require(bytes.size() <= planned.infer_form().max_response_bytes(header.id.size()),
          "the answer is no longer than foretold");
  ModelInferResponse response;
  Require(response.ParseFromString(bytes), "the answer is a message");
  Require(response.id() == header.id, "the id comes back");
  Require(response.outputs_size() == response.raw_output_contents_size(),
          "each output has a raw entry");
}

absl::Status Infer(const grpc::ByteBuffer& buffer, std::string_view bytes) {
  OPSERVE_ASSIGN_OR_RETURN(
      SplitMessage message,
      server::ReadSplitMessage(buffer, ModelInferRequest::kRawInputContentsFieldNumber,
                               server::kMaxRawEntries));
  OPSERVE_ASSIGN_OR_RETURN(const InferHeader header, server::SplitInferHeader(message.header));
  CheckSeparated(header.call);
  ModelInferRequest request;
  OPSERVE_RETURN_IF_ERROR(server::ParseHeader(header.call, request));
  CheckAgainstProtobuf(message, header, request, bytes);
  OPSERVE_ASSIGN_OR_RETURN(const server::DecodedInfer decoded,
                           server::DecodeInferRequest(request, message.raw.size()));
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<const PlannedCall> planned,
                           PlannedCall::MakeInfer(SmallEngine(), decoded, message.raw));
  OneShot shot;
  server::HeldRegions held;
  OPSERVE_RETURN_IF_ERROR(planned->Assemble(std::move(message.raw), nullptr, shot, held));
  if (!IsQuick(*shot.plan)) return absl::OkStatus();
  OPSERVE_ASSIGN_OR_RETURN(Outputs outputs, RunToEnd(std::move(shot)));
  CheckAnswer(BytesOf(planned->infer_form().Write(header.id, std::move(outputs))), header,
              *planned);
  return absl::OkStatus();
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
  const absl::Status status = fuzz::Infer(fuzz::BufferOf(pieces), input.rest());
  if (!status.ok()) fuzz::RequireDetail(status);
  fuzz::RequireNothingLent();
  return 0;
}
