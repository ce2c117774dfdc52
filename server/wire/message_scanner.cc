#include "server/wire/message_scanner.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "server/wire/wire_format.h"

namespace opserve::server {
namespace {

constexpr int kMaxVarint32Bytes = 5;  // of tags and lengths, as the generated code has it

// A place in the message; a value. At a byte or at the end, never at the end of a piece that
// another follows.
class Cursor {
 public:
  explicit Cursor(MessagePieces pieces) : pieces_(pieces) {
    for (const auto& piece : pieces) left_ += piece.size();
    SkipEmpty();
  }

  bool at_end() const { return left_ == 0; }
  size_t position() const { return position_; }
  size_t left() const { return left_; }
  std::span<const std::byte> rest_of_piece() const {
    return at_end() ? std::span<const std::byte>() : pieces_[index_].subspan(offset_);
  }

  // Moves over `count` bytes, at most left(), and shows them piece by piece.
  template <typename Visitor>
  void Take(size_t count, Visitor visit) {
    if (IsInsidePiece(count)) {
      visit(pieces_[index_].subspan(offset_, count));
      return Advance(count);
    }
    while (count > 0) {
      const std::span<const std::byte> here = pieces_[index_].subspan(offset_);
      const std::span<const std::byte> taken = here.first(std::min(count, here.size()));
      visit(taken);
      count -= taken.size();
      offset_ += taken.size();
      position_ += taken.size();
      left_ -= taken.size();
      SkipEmpty();
    }
  }

  void Skip(size_t count) {
    Take(count, [](std::span<const std::byte>) {});
  }

  // nullopt when the message ends inside it or it has more than `max_bytes`.
  std::optional<uint64_t> ReadVarint(int max_bytes) {
    if (IsInsidePiece(1)) {
      const uint64_t byte = std::to_integer<uint64_t>(pieces_[index_][offset_]);
      if (byte < 0x80) {
        Advance(1);
        return byte;
      }
    }
    uint64_t value = 0;
    for (int i = 0; i < max_bytes && !at_end(); ++i) {
      const uint64_t byte = std::to_integer<uint64_t>(pieces_[index_][offset_]);
      Skip(1);
      value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

 private:
  // Whether there are as many bytes, at least one, and the piece goes on behind them.
  bool IsInsidePiece(size_t count) const {
    return count > 0 && index_ < pieces_.size() && count < pieces_[index_].size() - offset_;
  }
  void Advance(size_t count) {
    offset_ += count;
    position_ += count;
    left_ -= count;
  }
  void SkipEmpty() {
    while (index_ < pieces_.size() && offset_ == pieces_[index_].size()) {
      ++index_;
      offset_ = 0;
    }
  }

  MessagePieces pieces_;
  size_t index_ = 0;
  size_t offset_ = 0;
  size_t position_ = 0;
  size_t left_ = 0;
};

absl::Status Malformed(std::string_view want, std::string_view got, size_t position) {
  std::string where(got);
  absl::StrAppend(&where, " at byte ", position);
  return InvalidParameter("message", want, where);
}

class Scanner {
 public:
  Scanner(MessagePieces pieces, uint32_t bulk_field, const ScanLimits& limits)
      : bulk_field_(bulk_field), limits_(limits), cursor_(pieces), header_start_(cursor_) {}

  absl::StatusOr<ScannedMessage> Scan() {
    while (!cursor_.at_end()) {
      while (ScanSmallBulk()) {
      }
      OPSERVE_RETURN_IF_ERROR(ScanField());
    }
    OPSERVE_RETURN_IF_ERROR(CopyHeaderUpTo(cursor_.position()));
    return std::move(message_);
  }

 private:
  // Small bulk entries that follow each other inside a piece come in thousands. False when
  // ScanField must read what comes next.
  bool ScanSmallBulk() {
    const std::span<const std::byte> rest = cursor_.rest_of_piece();
    if (rest.size() < 2 || BulkTag() >= 0x80 || std::to_integer<uint32_t>(rest[0]) != BulkTag())
      return false;
    const auto length = std::to_integer<size_t>(rest[1]);
    if (length >= 0x80 || rest.size() <= 2 + length) return false;
    if (header_start_.position() != cursor_.position()) return false;
    if (message_.bulk.empty() || message_.bulk.size() == limits_.max_bulk_entries) return false;
    message_.bulk.emplace_back(rest.subspan(2, length));
    cursor_.Skip(2 + length);
    header_start_ = cursor_;
    return true;
  }

  // Of one byte below 0x80, the only tags that ScanSmallBulk looks for; or more than a byte.
  uint32_t BulkTag() const { return BytesTag(bulk_field_); }

  absl::Status ScanField() {
    if (cursor_.at_end()) return absl::OkStatus();
    const size_t start = cursor_.position();
    const std::optional<uint64_t> tag = cursor_.ReadVarint(kMaxVarint32Bytes);
    if (!tag.has_value() || *tag > std::numeric_limits<uint32_t>::max() || *tag >> 3 == 0) {
      return Malformed("a protobuf field tag", "none", start);
    }
    if (*tag == BulkTag()) {
      OPSERVE_RETURN_IF_ERROR(CopyHeaderUpTo(start));
      OPSERVE_RETURN_IF_ERROR(ScanBulk());
      header_start_ = cursor_;
      return absl::OkStatus();
    }
    return SkipValue(static_cast<uint32_t>(*tag & 7));
  }

  absl::Status SkipValue(uint32_t wire_type) {
    const size_t start = cursor_.position();
    switch (wire_type) {
      case kVarint:
        if (cursor_.ReadVarint(kMaxVarintBytes).has_value()) return absl::OkStatus();
        return Malformed("a varint of at most 10 bytes", "none", start);
      case kFixed64:
        return SkipBytes(sizeof(uint64_t));
      case kFixed32:
        return SkipBytes(sizeof(uint32_t));
      case kLengthDelimited: {
        OPSERVE_ASSIGN_OR_RETURN(const size_t length, ReadLength());
        return SkipBytes(length);
      }
      default:
        return Malformed("a field of wire type 0, 1, 2 or 5", absl::StrCat("wire type ", wire_type),
                         start);
    }
  }

  absl::StatusOr<size_t> ReadLength() {
    const size_t start = cursor_.position();
    const std::optional<uint64_t> length = cursor_.ReadVarint(kMaxVarint32Bytes);
    if (!length.has_value()) return Malformed("the length of a field", "none", start);
    if (*length > cursor_.left()) {
      return Malformed(
          "a field that lies inside the message",
          absl::StrCat("a length of ", *length, " with ", cursor_.left(), " bytes left"), start);
    }
    return static_cast<size_t>(*length);
  }

  absl::Status SkipBytes(size_t count) {
    if (count > cursor_.left()) {
      return Malformed("a field that lies inside the message", "its end", cursor_.position());
    }
    cursor_.Skip(count);
    return absl::OkStatus();
  }

  absl::Status ScanBulk() {
    if (message_.bulk.size() == limits_.max_bulk_entries) {
      return Malformed(
          absl::StrCat("at most ", limits_.max_bulk_entries, " ", std::string(limits_.bulk_name)),
          "one more", cursor_.position());
    }
    OPSERVE_ASSIGN_OR_RETURN(const size_t length, ReadLength());
    if (message_.bulk.empty()) {
      // As many as there would be of its size: one tag and one length each.
      message_.bulk.reserve(std::min(limits_.max_bulk_entries, 1 + cursor_.left() / (length + 2)));
    }
    Fragments& entry = message_.bulk.emplace_back();
    cursor_.Take(length, [&entry](std::span<const std::byte> piece) { entry.Append(piece); });
    return absl::OkStatus();
  }

  // Appends what lies between header_start_ and `position`.
  absl::Status CopyHeaderUpTo(size_t position) {
    const size_t count = position - header_start_.position();
    if (count == 0) return absl::OkStatus();
    std::string& header = message_.header;
    if (count > limits_.max_header_bytes - header.size()) {
      return MakeError({.reason = ErrorReason::kResourceLimit,
                        .op = {},
                        .parameter = "message",
                        .want = absl::StrCat("at most ", limits_.max_header_bytes,
                                             " bytes besides raw (large tensors go there)"),
                        .got = absl::StrCat(header.size() + count, " bytes")});
    }
    header.reserve(header.size() + count);
    header_start_.Take(count, [&header](std::span<const std::byte> piece) {
      header.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    });
    return absl::OkStatus();
  }

  const uint32_t bulk_field_;
  const ScanLimits limits_;
  Cursor cursor_;
  Cursor header_start_;
  ScannedMessage message_;
};

}  // namespace

absl::StatusOr<ScannedMessage> ScanMessage(MessagePieces pieces, uint32_t bulk_field,
                                           const ScanLimits& limits) {
  return Scanner(pieces, bulk_field, limits).Scan();
}

}  // namespace opserve::server
