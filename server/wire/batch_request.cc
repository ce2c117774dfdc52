#include "server/wire/batch_request.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/wire/wire_format.h"

namespace opserve::server {
namespace {

using google::protobuf::Arena;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using Entries = absl::InlinedVector<uint32_t, 4>;

constexpr uint32_t kCallsTag = BytesTag(v1::ExecuteBatchRequest::kCallsFieldNumber);
constexpr uint32_t kEncodingTag =
    TagOf(v1::ExecuteBatchRequest::kOutputEncodingFieldNumber, kVarint);
constexpr uint32_t kInputsTag = BytesTag(v1::Call::kInputsFieldNumber);
constexpr uint32_t kRawIndexTag = TagOf(v1::Tensor::kRawIndexFieldNumber, kVarint);
constexpr uint32_t kFirstDataField = v1::Tensor::kRawIndexFieldNumber;
constexpr uint32_t kLastDataField = v1::Tensor::kSharedFieldNumber;

// Entries up to here are packed; what every kernel's inputs are aligned to.
constexpr size_t kPackedBytes = 4096;
constexpr size_t kPackedAlignment = alignof(double);

// Up to here a list is searched from front to back.
constexpr size_t kFewEntries = 8;

CodedInputStream StreamOf(std::string_view bytes) {
  return CodedInputStream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
}

// The payload of a length-delimited field whose tag was read; false when it ends too early.
bool TakeBytes(CodedInputStream& in, std::string_view whole, std::string_view& payload) {
  uint32_t length = 0;
  if (!in.ReadVarint32(&length)) return false;
  const auto start = static_cast<size_t>(in.CurrentPosition());
  if (length > whole.size() - start) return false;
  payload = whole.substr(start, length);
  return in.Skip(static_cast<int>(length));
}

// Where a Tensor's bytes say its raw_index; nowhere when both are equal.
struct RawIndexField {
  size_t begin = 0;
  size_t number = 0;  // where its number begins, which ends at `end`
  size_t end = 0;
  uint32_t value = 0;
};

// False for a tensor that is malformed or says twice where its data is.
bool FindRawIndex(std::string_view tensor, RawIndexField& field) {
  CodedInputStream in = StreamOf(tensor);
  int data_fields = 0;
  while (true) {
    const int begin = in.CurrentPosition();
    const uint32_t tag = in.ReadTag();
    if (tag == 0) return in.ConsumedEntireMessage() && data_fields <= 1;
    const uint32_t number = tag >> 3;
    if (number >= kFirstDataField && number <= kLastDataField) ++data_fields;
    if (tag != kRawIndexTag) {
      if (!WireFormatLite::SkipField(&in, tag)) return false;
      continue;
    }
    field.number = static_cast<size_t>(in.CurrentPosition());
    if (!in.ReadVarint32(&field.value)) return false;
    field.begin = static_cast<size_t>(begin);
    field.end = static_cast<size_t>(in.CurrentPosition());
  }
}

struct NumberPlace {
  size_t begin = 0;
  size_t end = 0;
};
using NumberPlaces = absl::InlinedVector<NumberPlace, 4>;

// A serialized Call with its raw indices counted from 0 in the order of their first use, and what
// they were.
class CallSplitter {
 public:
  const std::string& bytes() const { return bytes_; }
  const Entries& entries() const { return entries_; }
  // Of each raw index, where its number is in the call that was split.
  const NumberPlaces& numbers() const { return numbers_; }

  // False for a call that is malformed or out of the ordinary.
  bool Split(std::string_view call) {
    bytes_.clear();
    entries_.clear();
    numbers_.clear();
    CodedInputStream in = StreamOf(call);
    size_t copied = 0;
    while (const uint32_t tag = in.ReadTag()) {
      if (tag != kInputsTag) {
        if (!WireFormatLite::SkipField(&in, tag)) return false;
        continue;
      }
      const auto length_at = static_cast<size_t>(in.CurrentPosition());
      bytes_.append(call.substr(copied, length_at - copied));
      std::string_view tensor;
      if (!TakeBytes(in, call, tensor) || !AppendTensor(call, tensor)) return false;
      copied = static_cast<size_t>(in.CurrentPosition());
    }
    bytes_.append(call.substr(copied));
    return in.ConsumedEntireMessage();
  }

 private:
  // With its length.
  bool AppendTensor(std::string_view call, std::string_view tensor) {
    RawIndexField field;
    if (!FindRawIndex(tensor, field)) return false;
    if (field.begin == field.end) {
      AppendVarint(static_cast<uint32_t>(tensor.size()), bytes_);
      bytes_.append(tensor);
      return true;
    }
    const auto start = static_cast<size_t>(tensor.data() - call.data());
    numbers_.push_back({start + field.number, start + field.end});
    const auto found = std::find(entries_.begin(), entries_.end(), field.value);
    const auto index = static_cast<uint32_t>(found - entries_.begin());
    if (found == entries_.end()) entries_.push_back(field.value);
    if (entries_.size() > kFewEntries) return false;
    // A tag and a small number take two bytes.
    AppendVarint(static_cast<uint32_t>(tensor.size() - (field.end - field.begin) + 2), bytes_);
    bytes_.append(tensor.substr(0, field.begin));
    AppendVarint(kRawIndexTag, bytes_);
    AppendVarint(index, bytes_);
    bytes_.append(tensor.substr(field.end));
    return true;
  }

  std::string bytes_;
  Entries entries_;
  NumberPlaces numbers_;
};

// Tells calls that differ from one that was split in their raw indices alone, and in nothing about
// them but the numbers: hundreds of those follow each other.
class CallPattern {
 public:
  size_t distinct() const { return distinct_; }

  // `call` must stay where it is.
  void Set(std::string_view call, const CallSplitter& splitter, size_t distinct) {
    // Indices that are equal in one call need not be so in the next.
    const bool each_once = splitter.entries().size() == splitter.numbers().size();
    call_ = each_once ? call : std::string_view();
    numbers_ = splitter.numbers();
    distinct_ = distinct;
  }

  // Whether `call` is one; its indices, then.
  bool Matches(std::string_view call, Entries& entries) const {
    if (call_.empty() || call.size() != call_.size()) return false;
    entries.clear();
    size_t compared = 0;
    for (const NumberPlace& number : numbers_) {
      if (!Equal(call, compared, number.begin)) return false;
      uint32_t value = 0;
      if (!ReadNumber(call.substr(number.begin, number.end - number.begin), value)) return false;
      if (std::find(entries.begin(), entries.end(), value) != entries.end()) return false;
      entries.push_back(value);
      compared = number.end;
    }
    return Equal(call, compared, call.size());
  }

 private:
  static constexpr size_t kMaxNumberBytes = 4;

  bool Equal(std::string_view call, size_t begin, size_t end) const {
    return std::memcmp(call.data() + begin, call_.data() + begin, end - begin) == 0;
  }

  // A varint of exactly these bytes.
  static bool ReadNumber(std::string_view bytes, uint32_t& value) {
    if (bytes.size() > kMaxNumberBytes) return false;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const auto byte = static_cast<uint8_t>(bytes[i]);
      if ((byte >= 0x80) != (i + 1 < bytes.size())) return false;
      value |= static_cast<uint32_t>(byte & 0x7f) << (7 * i);
    }
    return true;
  }

  std::string_view call_;
  NumberPlaces numbers_;
  size_t distinct_ = 0;
};

bool IsWorthPacking(const Fragments& entry, bool is_reused) {
  if (entry.size_bytes() == 0 || entry.IsInPlace(kPackedAlignment)) return false;
  return is_reused || entry.size_bytes() <= kPackedBytes;
}

size_t Slot(const Fragments& entry) {
  return (entry.size_bytes() + kPackedAlignment - 1) / kPackedAlignment * kPackedAlignment;
}

// Gives a call's raw indices the same form, whatever the call is like.
Entries Renumber(v1::Call& call) {
  Entries entries;
  absl::flat_hash_map<uint32_t, uint32_t> index_of;
  for (v1::Tensor& tensor : *call.mutable_inputs()) {
    if (!tensor.has_raw_index()) continue;
    const auto [found, is_new] =
        index_of.try_emplace(tensor.raw_index(), static_cast<uint32_t>(entries.size()));
    if (is_new) entries.push_back(tensor.raw_index());
    tensor.set_raw_index(found->second);
  }
  return entries;
}

class BatchReader {
 public:
  explicit BatchReader(SplitMessage message) : header_(std::move(message.header)) {
    batch_.raw = std::move(message.raw);
    batch_.slices = std::move(message.slices);
    batch_.arena = std::make_unique<Arena>();
    used_.resize(batch_.raw.size(), false);
    batch_.reused.resize(batch_.raw.size(), false);
  }

  absl::StatusOr<BatchRequest> Read() {
    CodedInputStream in = StreamOf(header_);
    while (const uint32_t tag = in.ReadTag()) {
      bool fits = false;
      if (tag == kCallsTag) {
        std::string_view call;
        fits = TakeBytes(in, header_, call) && ReadCall(call);
        if (batch_.calls.size() > kMaxBatchCalls) return TooManyCalls();
      } else if (tag == kEncodingTag) {
        uint64_t number = 0;
        fits = in.ReadVarint64(&number);
        batch_.output_encoding = static_cast<int>(number);
      } else {
        fits = WireFormatLite::SkipField(&in, tag);
      }
      if (!fits) return NotABatch();
    }
    if (!in.ConsumedEntireMessage()) return NotABatch();
    OPSERVE_RETURN_IF_ERROR(CheckAllUsed());
    return std::move(batch_);
  }

 private:
  static absl::Status NotABatch() { return NotAMessage("opserve.v1.ExecuteBatchRequest"); }

  static absl::Status TooManyCalls() {
    return InvalidParameter("calls", absl::StrCat("at most ", kMaxBatchCalls, " calls"), "more");
  }

  bool IsInside(uint32_t entry) const { return entry < batch_.raw.size(); }

  bool AreInside(const Entries& entries) const {
    return std::all_of(entries.begin(), entries.end(),
                       [this](uint32_t entry) { return IsInside(entry); });
  }

  bool ReadCall(std::string_view bytes) {
    Entries entries;
    if (pattern_.Matches(bytes, entries) && AreInside(entries)) {
      AddCall(pattern_.distinct(), entries);
      return true;
    }
    if (!splitter_.Split(bytes) || !AreInside(splitter_.entries())) return ReadOddCall(bytes);
    auto known = known_.find(splitter_.bytes());
    if (known == known_.end()) {
      v1::Call* call = Parse(splitter_.bytes());
      if (call == nullptr) return false;
      known = known_.emplace(splitter_.bytes(), AddDistinct(call)).first;
    }
    AddCall(known->second, splitter_.entries());
    pattern_.Set(bytes, splitter_, known->second);
    return true;
  }

  bool ReadOddCall(std::string_view bytes) {
    v1::Call* call = Parse(bytes);
    if (call == nullptr) return false;
    bool inside = true;
    for (const v1::Tensor& tensor : call->inputs()) {
      if (!tensor.has_raw_index()) continue;
      if (!IsInside(tensor.raw_index())) inside = false;
    }
    Entries entries;
    if (inside) {
      entries = Renumber(*call);
    } else {
      UseThoseInside(*call);
    }
    const size_t distinct = AddDistinct(call);
    if (!inside) batch_.distinct.back().raw_index = DistinctCall::RawIndex::kOfBatch;
    AddCall(distinct, entries);
    return true;
  }

  v1::Call* Parse(std::string_view bytes) {
    auto* call = Arena::CreateMessage<v1::Call>(batch_.arena.get());
    if (!call->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return nullptr;
    for (const v1::Tensor& tensor : call->inputs()) {
      // A call that will be refused for it need not use the entries that came for it.
      if (!tensor.has_raw_index() && !tensor.has_values() && !tensor.has_shared())
        all_must_be_used_ = false;
    }
    return call;
  }

  size_t AddDistinct(const v1::Call* call) {
    batch_.distinct.push_back({.call = call});
    return batch_.distinct.size() - 1;
  }

  void UseThoseInside(const v1::Call& refused) {
    for (const v1::Tensor& tensor : refused.inputs()) {
      if (tensor.has_raw_index() && IsInside(tensor.raw_index())) used_[tensor.raw_index()] = true;
    }
  }

  void AddCall(size_t distinct, const Entries& entries) {
    for (const uint32_t entry : entries) {
      if (used_[entry]) batch_.reused[entry] = true;
      used_[entry] = true;
    }
    batch_.calls.push_back({distinct, entries});
  }

  absl::Status CheckAllUsed() const {
    const auto unused = std::find(used_.begin(), used_.end(), false);
    if (unused == used_.end() || !all_must_be_used_) return absl::OkStatus();
    return InvalidParameter("raw", "entries that an input of a call uses",
                            absl::StrCat("entry ", unused - used_.begin(), ", which none uses"));
  }

  const std::string header_;
  BatchRequest batch_;
  std::vector<bool> used_;
  bool all_must_be_used_ = true;
  CallSplitter splitter_;
  CallPattern pattern_;  // of a call in header_
  absl::flat_hash_map<std::string, size_t> known_;
};

}  // namespace

absl::StatusOr<BatchRequest> ReadBatchRequest(const grpc::ByteBuffer& buffer) {
  OPSERVE_ASSIGN_OR_RETURN(
      SplitMessage message,
      ReadSplitMessage(buffer, v1::ExecuteBatchRequest::kRawFieldNumber, kMaxBatchRawEntries));
  return BatchReader(std::move(message)).Read();
}

void PackEntries(MemoryPool& pool, ClientId client, BatchRequest& batch) {
  size_t bytes = 0;
  for (size_t i = 0; i < batch.raw.size(); ++i) {
    if (IsWorthPacking(batch.raw[i], batch.reused[i])) bytes += Slot(batch.raw[i]);
  }
  if (bytes == 0) return;
  absl::StatusOr<PooledBuffer> packed = pool.Acquire(bytes, {.client = client});
  if (!packed.ok()) return;
  std::byte* to = packed->data();
  for (size_t i = 0; i < batch.raw.size(); ++i) {
    Fragments& entry = batch.raw[i];
    if (!IsWorthPacking(entry, batch.reused[i])) continue;
    const size_t size = entry.size_bytes();
    entry.CopyTo(to, 0, size);
    const size_t slot = Slot(entry);
    entry = Fragments({to, size});
    to += slot;
  }
  batch.packed = *std::move(packed);
}

}  // namespace opserve::server
