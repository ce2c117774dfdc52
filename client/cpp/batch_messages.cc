#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/cpp/call_messages.h"
#include "client/cpp/messages.h"
#include "client/cpp/read_message.h"
#include "client/cpp/status_details.h"
#include "client/cpp/wire_reader.h"
#include "core/base/status_macros.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::client {
namespace {

constexpr std::string_view kAnswer = "ExecuteBatchResponse";

// Of small outputs, in the memory that they share: as AllocateTensorBytes has it.
constexpr size_t kAlignment = 64;
// Outputs up to here share memory.
constexpr size_t kSmallBytes = 4096;

unsigned TagOf(int field, WireReader::Type type) {
  return static_cast<unsigned>(field) << 3 | static_cast<unsigned>(type);
}

// The raw entries of all calls; those with the same storage share one.
class RawTable {
 public:
  uint32_t IndexOf(const TensorView& view) {
    const auto [found, is_new] =
        indices_.try_emplace(std::pair(view.storage.data(), view.storage.size()),
                             static_cast<uint32_t>(entries_.size()));
    if (is_new) entries_.push_back({view.storage, view.owner});
    return found->second;
  }

  void Reserve(size_t count) {
    indices_.reserve(count);
    entries_.reserve(count);
  }

  const std::vector<RawEntry>& entries() const { return entries_; }

 private:
  absl::flat_hash_map<std::pair<const std::byte*, size_t>, uint32_t> indices_;
  std::vector<RawEntry> entries_;
};

// A raw entry of the answer, before its bytes are read.
struct Extent {
  size_t offset = 0;  // in the small memory
  size_t size = 0;
  bool is_small = false;
};

// Finds the results and the sizes of the raw entries, then copies the latter.
class BatchReader {
 public:
  BatchReader(const Fragments& answer, std::span<const SharedOutputs> shared)
      : answer_(answer), shared_(shared) {}

  absl::StatusOr<BatchResults> Read(size_t calls) {
    if (!ReadResults()) return BadAnswer(kAnswer, "malformed bytes");
    if (results_.size() != calls) return BadAnswer(kAnswer, "not as many results as calls");
    if (!ReadRaw()) return BadAnswer(kAnswer, "malformed bytes");
    BatchResults results;
    results.reserve(results_.size());
    for (const Range& range : results_) {
      v1::BatchResult& message = message_;
      if (!message.ParseFromArray(bytes_.data() + range.offset, static_cast<int>(range.size)))
        return BadAnswer(kAnswer, "malformed bytes");
      OPSERVE_ASSIGN_OR_RETURN(absl::StatusOr<ExecuteResult> result,
                               ToResult(message, results.size()));
      results.push_back(std::move(result));
    }
    return results;
  }

 private:
  struct Range {
    size_t offset = 0;
    size_t size = 0;
  };

  // Results into `bytes_`, and how large the raw entries are.
  bool ReadResults() {
    WireReader reader(answer_);
    while (reader.remaining() > 0) {
      WireReader::Field field;
      if (!reader.ReadField(field)) return false;
      const bool is_bytes = field.type == WireReader::Type::kBytes;
      if (is_bytes && field.number == v1::ExecuteBatchResponse::kResultsFieldNumber) {
        results_.push_back({bytes_.size(), field.length});
        bytes_.resize(bytes_.size() + field.length);
        char* to = bytes_.data() + results_.back().offset;
        if (!reader.Read(reinterpret_cast<std::byte*>(to), field.length)) return false;
        continue;
      }
      if (is_bytes && field.number == v1::ExecuteBatchResponse::kRawFieldNumber)
        AddExtent(field.length);
      if (!reader.SkipField(field)) return false;
    }
    return true;
  }

  void AddExtent(size_t size) {
    Extent& extent = extents_.emplace_back(Extent{0, size, size <= kSmallBytes});
    if (!extent.is_small) return;
    extent.offset = small_bytes_;
    small_bytes_ += (size + kAlignment - 1) / kAlignment * kAlignment;
  }

  bool ReadRaw() {
    const std::shared_ptr<std::byte> small = AllocateTensorBytes(small_bytes_);
    WireReader reader(answer_);
    while (reader.remaining() > 0) {
      WireReader::Field field;
      if (!reader.ReadField(field)) return false;
      if (field.type != WireReader::Type::kBytes ||
          field.number != v1::ExecuteBatchResponse::kRawFieldNumber) {
        if (!reader.SkipField(field)) return false;
        continue;
      }
      const Extent& extent = extents_[raw_.size()];
      const std::shared_ptr<std::byte> bytes =
          extent.is_small ? std::shared_ptr<std::byte>(small, small.get() + extent.offset)
                          : AllocateTensorBytes(extent.size);
      if (!reader.Read(bytes.get(), extent.size)) return false;
      raw_.push_back({bytes, extent.size});
    }
    return true;
  }

  // The error of a call is the result of that call; an error of this function is the answer's.
  absl::StatusOr<absl::StatusOr<ExecuteResult>> ToResult(const v1::BatchResult& message,
                                                         size_t call) const {
    if (message.has_error()) {
      const v1::StatusDetails& error = message.error();
      absl::Status status =
          StatusFromWire(error.code(), error.message(), error.SerializeAsString());
      if (status.ok()) return BadAnswer(kAnswer, "an error that is OK");
      return absl::StatusOr<ExecuteResult>(std::move(status));
    }
    const SharedOutputs& shared = shared_.empty() ? kNoShared : shared_[call];
    ExecuteResult result;
    result.outputs.reserve(static_cast<size_t>(message.outputs_size()));
    for (const v1::Tensor& output : message.outputs()) {
      OPSERVE_ASSIGN_OR_RETURN(Tensor tensor, ReadOutput(output, raw_, shared, kAnswer));
      result.outputs.push_back({output.name(), std::move(tensor)});
    }
    return absl::StatusOr<ExecuteResult>(std::move(result));
  }

  static inline const SharedOutputs kNoShared;

  const Fragments& answer_;
  const std::span<const SharedOutputs> shared_;
  std::string bytes_;  // of `results_`
  std::vector<Range> results_;
  std::vector<Extent> extents_;
  size_t small_bytes_ = 0;
  std::vector<RawBytes> raw_;
  v1::BatchResult message_;  // one for all, so that its memory is used again
};

}  // namespace

Request MakeExecuteBatchRequest(std::span<const Call> calls) {
  RawTable raw;
  raw.Reserve(3 * calls.size());
  std::string header;
  v1::Call message;  // one for all, so that its memory is used again
  for (const Call& call : calls) {
    message.Clear();
    FillCall(call, message);
    for (size_t i = 0; i < call.inputs().size(); ++i) {
      const TensorView& view = call.inputs()[i].second;
      v1::Tensor& input = *message.mutable_inputs(static_cast<int>(i));
      if (view.shared.region != nullptr)
        FillShared(view.shared, input);
      else
        input.set_raw_index(raw.IndexOf(view));
    }
    FillSharedOutputs(call, message);
    AppendVarint(TagOf(v1::ExecuteBatchRequest::kCallsFieldNumber, WireReader::Type::kBytes),
                 header);
    AppendVarint(message.ByteSizeLong(), header);
    message.AppendToString(&header);
  }
  AppendVarint(
      TagOf(v1::ExecuteBatchRequest::kOutputEncodingFieldNumber, WireReader::Type::kVarint),
      header);
  AppendVarint(v1::TENSOR_ENCODING_RAW, header);
  Request request;
  request.AppendCopy(header);
  for (const RawEntry& entry : raw.entries())
    AppendRaw(v1::ExecuteBatchRequest::kRawFieldNumber, entry, request);
  return request;
}

absl::StatusOr<BatchResults> ReadBatchResults(const Fragments& fragments, size_t calls,
                                              std::span<const SharedOutputs> shared) {
  return BatchReader(fragments, shared).Read(calls);
}

}  // namespace opserve::client
