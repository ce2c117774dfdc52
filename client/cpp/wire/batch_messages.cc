#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/wire/answered_outputs.h"
#include "client/cpp/wire/call_messages.h"
#include "client/cpp/wire/messages.h"
#include "client/cpp/wire/read_message.h"
#include "client/cpp/wire/status_details.h"
#include "client/cpp/wire/wire_reader.h"
#include "core/base/status_macros.h"
#include "opserve/v1/operator_service.pb.h"

namespace opserve::client {
namespace {

constexpr std::string_view kBatchAnswer = "ExecuteBatchResponse";

// Outputs up to here share memory.
constexpr size_t kMaxPackedBytes = 4096;
// Of a result without its bulk.
constexpr size_t kMaxResultBytes = size_t{16} << 10;

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

absl::Status TooMany(std::string_view part, size_t most) {
  return BadAnswer(kBatchAnswer, part, absl::StrCat("at most ", most), "more");
}

// Finds the results and the sizes of the raw entries, then copies the latter. What it holds beside
// their bytes is in proportion to the calls that were made.
class BatchReader {
 public:
  BatchReader(const Fragments& answer, size_t calls, std::span<const AskedOutputs> asked)
      : answer_(answer), calls_(calls), asked_(asked) {}

  absl::StatusOr<BatchResults> Read() {
    OPSERVE_RETURN_IF_ERROR(Find());
    if (results_.size() != calls_) {
      return BadAnswer(kBatchAnswer, "results", absl::StrCat(calls_, ", as many as calls"),
                       absl::StrCat(results_.size()));
    }
    OPSERVE_RETURN_IF_ERROR(ReadRaw());
    BatchResults results;
    results.reserve(results_.size());
    for (const Range& range : results_) {
      OPSERVE_RETURN_IF_ERROR(
          ReadMessage(std::string_view(bytes_).substr(range.offset, range.size), message_));
      OPSERVE_ASSIGN_OR_RETURN(absl::StatusOr<ExecuteResult> result, ToResult(results.size()));
      results.push_back(std::move(result));
    }
    OPSERVE_RETURN_IF_ERROR(raw_.CheckAllTaken(kBatchAnswer));
    return results;
  }

 private:
  struct Range {
    size_t offset = 0;
    size_t size = 0;
  };

  // Results into `bytes_`, and how large the raw entries are.
  absl::Status Find() {
    WireReader reader(answer_);
    while (reader.remaining() > 0) {
      WireReader::Field field;
      if (!reader.ReadField(field)) return MalformedAnswer(kBatchAnswer);
      const bool is_bytes = field.type == WireReader::Type::kBytes;
      if (is_bytes && field.number == v1::ExecuteBatchResponse::kResultsFieldNumber) {
        OPSERVE_RETURN_IF_ERROR(AddResult(reader, field.length));
        continue;
      }
      if (is_bytes && field.number == v1::ExecuteBatchResponse::kRawFieldNumber)
        OPSERVE_RETURN_IF_ERROR(AddExtent(field.length));
      if (!reader.SkipField(field)) return MalformedAnswer(kBatchAnswer);
    }
    return absl::OkStatus();
  }

  absl::Status AddResult(WireReader& reader, size_t size) {
    if (results_.size() == calls_) return TooMany("results", calls_);
    if (size > kMaxResultBytes) return TooMany("bytes of a result", kMaxResultBytes);
    results_.push_back({bytes_.size(), size});
    bytes_.resize(bytes_.size() + size);
    char* to = bytes_.data() + results_.back().offset;
    return reader.Read(reinterpret_cast<std::byte*>(to), size) ? absl::OkStatus()
                                                               : MalformedAnswer(kBatchAnswer);
  }

  absl::Status AddExtent(size_t size) {
    if (extents_.size() == calls_ * kMaxOutputs) return TooMany("raw", calls_ * kMaxOutputs);
    Extent& extent = extents_.emplace_back(Extent{0, size, size <= kMaxPackedBytes});
    if (!extent.is_small) return absl::OkStatus();
    extent.offset = small_bytes_;
    small_bytes_ += (size + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
    return absl::OkStatus();
  }

  absl::Status ReadRaw() {
    const std::shared_ptr<std::byte> small = AllocateTensorBytes(small_bytes_);
    WireReader reader(answer_);
    while (reader.remaining() > 0) {
      WireReader::Field field;
      if (!reader.ReadField(field)) return MalformedAnswer(kBatchAnswer);
      if (field.type != WireReader::Type::kBytes ||
          field.number != v1::ExecuteBatchResponse::kRawFieldNumber) {
        if (!reader.SkipField(field)) return MalformedAnswer(kBatchAnswer);
        continue;
      }
      const Extent& extent = extents_[raw_.size()];
      const std::shared_ptr<std::byte> bytes =
          extent.is_small ? std::shared_ptr<std::byte>(small, small.get() + extent.offset)
                          : AllocateTensorBytes(extent.size);
      if (!reader.Read(bytes.get(), extent.size)) return MalformedAnswer(kBatchAnswer);
      raw_.Add({bytes, extent.size});
    }
    return absl::OkStatus();
  }

  // What `message_` says of a call. The error of a call is the result of that call; an error of
  // this function is the answer's.
  absl::StatusOr<absl::StatusOr<ExecuteResult>> ToResult(size_t call) {
    if (message_.has_error()) {
      absl::Status status = StatusFromWire(message_.error());
      if (status.ok()) return BadAnswer(kBatchAnswer, "error", "a code of an error", "OK");
      if (message_.outputs_size() > 0)
        return BadAnswer(kBatchAnswer, "results", "outputs or an error", "both");
      return absl::StatusOr<ExecuteResult>(std::move(status));
    }
    OPSERVE_ASSIGN_OR_RETURN(ExecuteResult result,
                             ReadOutputs(kBatchAnswer, message_.outputs(), raw_,
                                         asked_.empty() ? kNothing : asked_[call]));
    if (message_.has_execution()) {
      OPSERVE_ASSIGN_OR_RETURN(result.execution, ReadExecution(kBatchAnswer, message_.execution()));
    }
    return absl::StatusOr<ExecuteResult>(std::move(result));
  }

  static inline const AskedOutputs kNothing;

  const Fragments& answer_;
  const size_t calls_;
  const std::span<const AskedOutputs> asked_;
  std::string bytes_;  // of `results_`
  std::vector<Range> results_;
  std::vector<Extent> extents_;
  size_t small_bytes_ = 0;
  RawEntries raw_;
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
                                              std::span<const AskedOutputs> asked) {
  return BatchReader(fragments, calls, asked).Read();
}

}  // namespace opserve::client
