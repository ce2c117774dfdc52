#include "client/cpp/wire/parsed_size.h"

#include <span>

#include "client/cpp/wire/wire_reader.h"
#include "google/protobuf/descriptor.h"

namespace opserve::client {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Of any message of ours, with what a list or a map takes to hold it.
constexpr size_t kMessageBytes = 320;
// Of a string, an unknown field or a number in a list that grew by doubling.
constexpr size_t kFieldBytes = 96;
// Of a number in a list, which takes a byte on the wire at least.
constexpr size_t kNumberBytes = 16;
constexpr int kMaxDepth = 16;

class Estimate {
 public:
  size_t bytes() const { return bytes_; }

  // False for bytes that are no message.
  bool Add(std::string_view message, const Descriptor& type, int depth) {
    if (depth == kMaxDepth) return false;
    bytes_ += kMessageBytes;
    const Fragments pieces(std::as_bytes(std::span(message)));
    WireReader reader(pieces);
    while (reader.remaining() > 0) {
      WireReader::Field field;
      if (!reader.ReadField(field)) return false;
      bytes_ += kFieldBytes;
      if (field.type == WireReader::Type::kBytes) {
        const size_t start = message.size() - reader.remaining();
        if (!AddBytes(message.substr(start, field.length), FieldOf(type, field), depth))
          return false;
      }
      if (!reader.SkipField(field)) return false;
    }
    return true;
  }

 private:
  static const FieldDescriptor* FieldOf(const Descriptor& type, const WireReader::Field& field) {
    constexpr uint64_t kMost = FieldDescriptor::kMaxNumber;
    return field.number > kMost ? nullptr : type.FindFieldByNumber(static_cast<int>(field.number));
  }

  bool AddBytes(std::string_view content, const FieldDescriptor* field, int depth) {
    if (field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      return Add(content, *field->message_type(), depth + 1);
    const bool is_list = field != nullptr && field->is_packable();
    bytes_ += content.size() * (is_list ? kNumberBytes : 1);
    return true;
  }

  size_t bytes_ = 0;
};

}  // namespace

std::optional<size_t> ParsedSize(std::string_view bytes, const Descriptor& type) {
  Estimate estimate;
  if (!estimate.Add(bytes, type, 0)) return std::nullopt;
  return estimate.bytes();
}

}  // namespace opserve::client
