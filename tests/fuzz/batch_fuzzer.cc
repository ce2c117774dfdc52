// ExecuteBatchRequest, the whole way down and up without a network: the reader, each call's plan
// and run, the answer, and what the client makes of it.
//
// Input: two bytes that say how the message is cut into slices (fuzz_input.h), then the message.
#include <semaphore>

#include "client/cpp/wire/messages.h"
#include "server/calls/batch_run.h"
#include "server/codec/batch_request.h"
#include "server/codec/call_codec.h"
#include "server/counters/server_counters.h"
#include "server/transport/messages/raw_message.h"
#include "tests/fuzz/execute_mutator.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/small_engine.h"

namespace opserve::fuzz {
namespace {

using server::BatchRequest;
using server::DistinctCall;

constexpr int64_t kMaxMessageBytes = 1 << 20;

// The call as it was sent, out of what was read once for all that are alike.
v1::Call Original(const BatchRequest& batch, size_t index) {
  const DistinctCall& distinct = batch.distinct[batch.calls[index].distinct];
  v1::Call call = *distinct.call;
  if (distinct.raw_index == DistinctCall::RawIndex::kOfBatch) return call;
  for (v1::Tensor& tensor : *call.mutable_inputs()) {
    if (tensor.has_raw_index())
      tensor.set_raw_index(batch.calls[index].entries[tensor.raw_index()]);
  }
  return call;
}

// What the reader accepts is what protobuf itself reads.
void CheckAgainstProtobuf(const BatchRequest& batch, const v1::ExecuteBatchRequest& whole) {
  Require(static_cast<size_t>(whole.raw_size()) == batch.raw.size(), "as many raw entries");
  Require(static_cast<size_t>(whole.calls_size()) == batch.calls.size(), "as many calls");
  Require(whole.output_encoding() == batch.output_encoding, "the encoding");
  for (int i = 0; i < whole.calls_size(); ++i) {
    Require(Original(batch, static_cast<size_t>(i)).SerializeAsString() ==
                whole.calls(i).SerializeAsString(),
            "the call");
  }
}

bool AreQuick(const v1::ExecuteBatchRequest& whole) {
  std::vector<Fragments> raw;
  for (const std::string& entry : whole.raw()) raw.emplace_back(std::as_bytes(std::span(entry)));
  for (const v1::Call& call : whole.calls()) {
    const absl::StatusOr<NamedCall> named =
        server::DecodeCall(call, server::TensorData::kMessageOrShared, raw);
    if (!named.ok()) continue;
    const absl::StatusOr<Plan> plan = SmallEngine().MakePlan(*named);
    if (plan.ok() && !IsQuick(*plan)) return false;
  }
  return true;
}

// The client reads the answer, and each error in its parts.
void CheckAnswer(const grpc::ByteBuffer& answer, size_t calls, bool as_values) {
  Require(answer.Length() <= kMaxMessageBytes, "the answer fits a message");
  std::vector<grpc::Slice> slices;
  Require(answer.Dump(&slices).ok(), "the answer has slices");
  Fragments fragments;
  for (const grpc::Slice& slice : slices)
    fragments.Append(std::as_bytes(std::span(slice.begin(), slice.size())));
  if (as_values) return;  // the client never asks for them
  const absl::StatusOr<client::BatchResults> results = client::ReadBatchResults(fragments, calls);
  Require(results.ok(), "the client reads the answer");
  for (const absl::StatusOr<client::ExecuteResult>& result : *results)
    if (!result.ok()) RequireDetail(result.status());
}

void Run(const Pieces& pieces, std::string_view bytes) {
  const absl::StatusOr<server::ScannedMessage> scanned =
      server::ScanMessage(pieces.spans(), v1::ExecuteBatchRequest::kRawFieldNumber,
                          {.max_header_bytes = server::kMaxHeaderBytes,
                           .max_bulk_entries = server::kMaxBatchRawEntries});
  if (!scanned.ok()) return RequireDetail(scanned.status());
  const absl::StatusOr<BatchRequest> batch = server::ReadBatchRequest(*scanned, nullptr);
  if (!batch.ok()) return RequireDetail(batch.status());
  v1::ExecuteBatchRequest whole;
  Require(whole.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
          "protobuf reads what the reader accepts");
  CheckAgainstProtobuf(*batch, whole);
  if (!AreQuick(whole)) return;
  server::ServerCounters counters;
  server::BatchRun run(SmallEngine(), counters, nullptr, absl::InfiniteFuture());
  const absl::Status status = run.Read(*scanned, nullptr, kMaxMessageBytes);
  if (!status.ok()) return RequireDetail(status);
  absl::StatusOr<server::WrittenMessage> answer;
  std::binary_semaphore ended(0);
  run.Run(ClientId::kNone, [&](absl::StatusOr<server::WrittenMessage> written) {
    answer = std::move(written);
    ended.release();
  });
  ended.acquire();
  Require(answer.ok(), "nothing else is under way that it could be refused for");
  CheckAnswer(server::ToByteBuffer(*std::move(answer)), batch->calls.size(),
              whole.output_encoding() == v1::TENSOR_ENCODING_VALUES);
  Require(counters.Sum().batch_calls == whole.calls_size(), "every call is counted");
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
  fuzz::Run(pieces, input.rest());
  fuzz::RequireNothingLent();
  return 0;
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  return opserve::fuzz::MutateBatchInput(data, size, max_size, seed);
}
