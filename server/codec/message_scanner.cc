#include "server/codec/message_scanner.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::server {
namespace {

absl::Status Malformed(std::string_view want, std::string_view got, size_t position) {
  std::string where(got);
  absl::StrAppend(&where, " at byte ", position);
  return MalformedMessage(want, where);
}

// Why there is no next field.
absl::Status Explain(FieldReader::Fault fault, const Field& field, size_t size) {
  const auto malformed = [&field](std::string_view want, std::string_view got) {
    return Malformed(want, got, field.body);
  };
  switch (fault) {
    case FieldReader::Fault::kVarint:
      return malformed("a varint of at most 10 bytes", "none");
    case FieldReader::Fault::kLength:
      return malformed("the length of a field", "none");
    case FieldReader::Fault::kOutside:
      return malformed("a field that lies inside the message",
                       field.payload == field.body
                           ? "its end"
                           : absl::StrCat("a length of ", field.number, " with ",
                                          size - field.payload, " bytes left"));
    case FieldReader::Fault::kWireType:
      return malformed("a field of wire type 0, 1, 2 or 5",
                       absl::StrCat("wire type ", field.tag & 7));
    default:
      return malformed("a protobuf field tag", "none");
  }
}

class Scanner {
 public:
  Scanner(MessagePieces pieces, uint32_t bulk_field, const ScanLimits& limits)
      : bulk_tag_(BytesTag(bulk_field)), limits_(limits), fields_(pieces), taken_(fields_) {}

  absl::StatusOr<ScannedMessage> Scan() {
    while (true) {
      while (ScanSmallBulk()) {
      }
      const size_t start = fields_.position();
      Field field;
      if (!fields_.Next(field)) {
        if (fields_.fault() != FieldReader::Fault::kNone)
          return Explain(fields_.fault(), field, size_);
        OPSERVE_RETURN_IF_ERROR(CopyHeaderUpTo(start));
        return std::move(message_);
      }
      if (field.tag != bulk_tag_) {
        OPSERVE_RETURN_IF_ERROR(CheckHeaderUpTo(fields_.position()));
        continue;
      }
      OPSERVE_RETURN_IF_ERROR(CopyHeaderUpTo(start));
      OPSERVE_RETURN_IF_ERROR(TakeBulk(field));
    }
  }

 private:
  // Small bulk entries that follow each other inside a piece come in thousands. False when
  // Scan must read what comes next.
  bool ScanSmallBulk() {
    // A tag of one byte below 0x80 is looked for, a length likewise.
    const std::string_view rest = fields_.rest_of_piece();
    if (rest.size() < 2 || bulk_tag_ >= 0x80 || static_cast<uint8_t>(rest[0]) != bulk_tag_)
      return false;
    const size_t length = static_cast<uint8_t>(rest[1]);
    if (length >= 0x80 || rest.size() < 2 + length) return false;
    if (taken_.position() != fields_.position()) return false;
    if (message_.bulk.empty() || message_.bulk.size() == limits_.max_bulk_entries) return false;
    message_.bulk.emplace_back(AsBytes(rest.substr(2, length)));
    fields_.Skip(2 + length);
    taken_ = fields_;
    return true;
  }

  static std::span<const std::byte> AsBytes(std::string_view bytes) {
    return std::as_bytes(std::span(bytes));
  }

  absl::Status TakeBulk(const Field& field) {
    if (message_.bulk.size() == limits_.max_bulk_entries) {
      return Malformed(
          absl::StrCat("at most ", limits_.max_bulk_entries, " ", std::string(limits_.bulk_name)),
          "one more", field.body);
    }
    const size_t length = field.end - field.payload;
    if (message_.bulk.empty()) {
      // As many as there would be of its size: one tag and one length each.
      message_.bulk.reserve(
          std::min(limits_.max_bulk_entries, 1 + (size_ - field.payload) / (length + 2)));
    }
    Fragments& entry = message_.bulk.emplace_back();
    taken_.Skip(field.payload - taken_.position());
    taken_.Take(length, [&entry](std::string_view piece) { entry.Append(AsBytes(piece)); });
    return absl::OkStatus();
  }

  // Whether it may have what lies between taken_ and `position`. Asked at every field, so that no
  // more of a header that is too large is read.
  absl::Status CheckHeaderUpTo(size_t position) const {
    const size_t count = position - taken_.position();
    const size_t size = message_.header.size();
    if (count <= limits_.max_header_bytes - size) return absl::OkStatus();
    return MakeError({.reason = ErrorReason::kResourceLimit,
                      .op = {},
                      .parameter = "message",
                      .want = absl::StrCat("at most ", limits_.max_header_bytes,
                                           " bytes besides raw (large tensors go there)"),
                      .got = absl::StrCat(size + count, " bytes or more")});
  }

  // Appends what lies between taken_ and `position`.
  absl::Status CopyHeaderUpTo(size_t position) {
    const size_t count = position - taken_.position();
    if (count == 0) return absl::OkStatus();
    OPSERVE_RETURN_IF_ERROR(CheckHeaderUpTo(position));
    std::string& header = message_.header;
    header.reserve(header.size() + count);
    taken_.Take(count, [&header](std::string_view piece) { header.append(piece); });
    return absl::OkStatus();
  }

  const uint32_t bulk_tag_;
  const ScanLimits limits_;
  FieldReader fields_;
  const size_t size_ = fields_.left();
  FieldReader taken_;  // behind what message_ has
  ScannedMessage message_;
};

}  // namespace

absl::StatusOr<ScannedMessage> ScanMessage(MessagePieces pieces, uint32_t bulk_field,
                                           const ScanLimits& limits) {
  return Scanner(pieces, bulk_field, limits).Scan();
}

absl::Status NotAMessage(std::string_view type) {
  std::string want("an ");
  want.append(type);
  return MalformedMessage(want, "malformed fields or names that are not UTF-8");
}

absl::Status ParseHeader(std::string_view header, google::protobuf::MessageLite& message) {
  return message.ParseFromArray(header.data(), static_cast<int>(header.size()))
             ? absl::OkStatus()
             : NotAMessage(message.GetTypeName());
}

}  // namespace opserve::server
