#include "server/codec/batch_request.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/codec/field_reader.h"

namespace opserve::server {
namespace {

using google::protobuf::Arena;
using Entries = absl::InlinedVector<uint32_t, 4>;

constexpr uint32_t kCallsTag = BytesTag(v1::ExecuteBatchRequest::kCallsFieldNumber);
constexpr uint32_t kEncodingTag =
    TagOf(v1::ExecuteBatchRequest::kOutputEncodingFieldNumber, kVarint);
constexpr uint32_t kInputsTag = BytesTag(v1::Call::kInputsFieldNumber);
constexpr uint32_t kRawIndexTag = TagOf(v1::Tensor::kRawIndexFieldNumber, kVarint);

// Entries up to here are packed; what every kernel's inputs are aligned to.
constexpr size_t kPackedBytes = 4096;
constexpr size_t kPackedAlignment = alignof(double);

// Where a Tensor says which entry it is, if it does: what says twice where its data is means the
// last. False for what is no Tensor.
bool FindRawIndex(std::string_view tensor, std::optional<Field>& raw_index) {
  FieldReader fields(tensor);
  for (Field field; fields.Next(field);) {
    switch (field.tag) {
      case kRawIndexTag:
        raw_index = field;
        break;
      case BytesTag(v1::Tensor::kValuesFieldNumber):
      case BytesTag(v1::Tensor::kBufferFieldNumber):
      case BytesTag(v1::Tensor::kChunkedFieldNumber):
      case BytesTag(v1::Tensor::kSharedFieldNumber):
        raw_index.reset();
        break;
      default:
        break;
    }
  }
  return fields.at_end();
}

// Which raw entries a serialized Call uses, and what else it says.
class CallSplitter {
 public:
  explicit CallSplitter(size_t raw_entries) : uses_(raw_entries) {}

  // In the order of their first use.
  const Entries& entries() const { return entries_; }
  // Of what Split saw: equal only for calls that differ in nothing but their entries.
  const std::string& key() const { return key_; }
  // Whether the message has every entry that the call uses; if not, there is no more to know of it.
  bool is_inside() const { return is_inside_; }

  // False for a call that is malformed. `call` must stay where it is.
  bool Split(std::string_view call) {
    Begin();
    key_.clear();
    numbers_.clear();
    places_.clear();
    is_inside_ = true;
    size_t copied = 0;
    FieldReader fields(call);
    for (Field field; fields.Next(field);) {
      if (field.tag != kInputsTag) continue;
      const std::string_view tensor = call.substr(field.payload, field.end - field.payload);
      std::optional<Field> raw_index;
      if (!FindRawIndex(tensor, raw_index)) return false;
      if (!raw_index.has_value()) continue;
      const auto entry = static_cast<uint32_t>(raw_index->number);
      is_inside_ = is_inside_ && entry < uses_.size();
      if (!is_inside_) continue;
      const NumberPlace place = {field.payload + raw_index->payload, field.payload + raw_index->end,
                                 IndexOf(entry)};
      // The call without its numbers, whose lengths may differ.
      key_.append(call.substr(copied, field.body - copied));
      AppendVarint(tensor.size() - (place.end - place.begin), key_);
      key_.append(call.substr(field.payload, place.begin - field.payload));
      numbers_.push_back(static_cast<uint32_t>(key_.size()));
      numbers_.push_back(place.index);
      copied = place.end;
      places_.push_back(place);
    }
    key_.append(call.substr(copied));
    // And where they were.
    numbers_.push_back(static_cast<uint32_t>(numbers_.size()));
    key_.append(reinterpret_cast<const char*>(numbers_.data()), numbers_.size() * sizeof(uint32_t));
    split_ = call;
    return fields.at_end();
  }

  // Whether `call` differs from the one that was split last in its entries alone: hundreds of those
  // follow each other, and need not be read field by field.
  bool SplitAlike(std::string_view call) {
    if (!is_inside_ || call.size() != split_.size()) return false;
    Begin();
    const char* compared = call.data();
    const auto is_equal_up_to = [&](const char* end) {
      return std::equal(compared, end, split_.data() + (compared - call.data()));
    };
    for (const NumberPlace& place : places_) {
      FieldReader number(call.substr(place.begin, place.end - place.begin));
      uint64_t entry = 0;
      if (!is_equal_up_to(call.data() + place.begin)) return false;
      if (!number.ReadVarint(entry) || !number.at_end()) return false;
      if (entry >= uses_.size() || IndexOf(static_cast<uint32_t>(entry)) != place.index)
        return false;
      compared = call.data() + place.end;
    }
    return is_equal_up_to(call.data() + call.size());
  }

  // Among the call's entries, of which it becomes one.
  uint32_t IndexOf(uint32_t entry) {
    Use& use = uses_[entry];
    if (use.call != calls_) {
      use = {calls_, static_cast<uint32_t>(entries_.size())};
      entries_.push_back(entry);
    }
    return use.index;
  }

 private:
  // Of the number of a raw_index in the call, and which of the call's entries it is.
  struct NumberPlace {
    size_t begin = 0;
    size_t end = 0;
    uint32_t index = 0;
  };
  // Of a raw entry, the last.
  struct Use {
    uint32_t call = 0;   // counted from 1
    uint32_t index = 0;  // into the call's entries
  };

  void Begin() {
    ++calls_;
    entries_.clear();
  }

  std::string key_;
  std::vector<uint32_t> numbers_;  // of each raw_index its place in key_ and its entry's index
  Entries entries_;
  bool is_inside_ = false;
  std::string_view split_;
  std::vector<NumberPlace> places_;  // in split_
  uint32_t calls_ = 0;
  std::vector<Use> uses_;  // of each raw entry of the message
};

bool IsWorthPacking(const Fragments& entry, bool is_reused) {
  if (entry.size_bytes() == 0 || entry.LiesAligned(kPackedAlignment)) return false;
  return is_reused || entry.size_bytes() <= kPackedBytes;
}

size_t Slot(const Fragments& entry) {
  return (entry.size_bytes() + kPackedAlignment - 1) / kPackedAlignment * kPackedAlignment;
}

class BatchReader {
 public:
  BatchReader(ScannedMessage message, std::shared_ptr<const void> owner)
      : header_(std::move(message.header)), splitter_(message.bulk.size()) {
    batch_.raw = std::move(message.bulk);
    batch_.owner = std::move(owner);
    batch_.arena = std::make_unique<Arena>();
    used_.resize(batch_.raw.size(), false);
    batch_.reused.resize(batch_.raw.size(), false);
  }

  absl::StatusOr<BatchRequest> Read() {
    const std::string_view header = header_;
    FieldReader fields(header);
    for (Field field; fields.Next(field);) {
      if (field.tag == kEncodingTag) batch_.output_encoding = static_cast<int>(field.number);
      if (field.tag != kCallsTag) continue;
      if (!ReadCall(header.substr(field.payload, field.end - field.payload))) return NotABatch();
      if (batch_.calls.size() > kMaxBatchCalls) return TooManyCalls();
    }
    if (!fields.at_end()) return NotABatch();
    OPSERVE_RETURN_IF_ERROR(CheckAllUsed());
    return std::move(batch_);
  }

 private:
  static absl::Status NotABatch() { return NotAMessage("opserve.v1.ExecuteBatchRequest"); }

  static absl::Status TooManyCalls() {
    return OutOfRange("calls", absl::StrCat("at most ", kMaxBatchCalls, " calls"), "more");
  }

  bool ReadCall(std::string_view bytes) {
    if (!splitter_.SplitAlike(bytes)) {
      if (!splitter_.Split(bytes)) return false;
      if (!splitter_.is_inside()) return ReadRefused(bytes);
      const auto known = known_.find(splitter_.key());
      distinct_ = known == known_.end() ? batch_.distinct.size() : known->second;
      if (known == known_.end() && !ReadDistinct(bytes)) return false;
    }
    AddCall(distinct_, splitter_.entries());
    return true;
  }

  // The first of its kind.
  bool ReadDistinct(std::string_view bytes) {
    v1::Call* call = Parse(bytes);
    if (call == nullptr) return false;
    for (v1::Tensor& tensor : *call->mutable_inputs())
      if (tensor.has_raw_index()) tensor.set_raw_index(splitter_.IndexOf(tensor.raw_index()));
    known_.emplace(splitter_.key(), AddDistinct(call));
    return true;
  }

  // One that says what is not there: its refusal is to tell of it as the client said it.
  bool ReadRefused(std::string_view bytes) {
    v1::Call* call = Parse(bytes);
    if (call == nullptr) return false;
    for (const v1::Tensor& tensor : call->inputs()) {
      if (tensor.has_raw_index() && tensor.raw_index() < used_.size())
        used_[tensor.raw_index()] = true;
    }
    AddCall(AddDistinct(call), {});
    batch_.distinct.back().raw_index = DistinctCall::RawIndex::kOfBatch;
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
  absl::flat_hash_map<std::string, size_t> known_;  // by CallSplitter::key
  size_t distinct_ = 0;                             // of what was split last
};

}  // namespace

absl::StatusOr<BatchRequest> ReadBatchRequest(ScannedMessage message,
                                              std::shared_ptr<const void> owner) {
  return BatchReader(std::move(message), std::move(owner)).Read();
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
