#include "client/cpp/read_message.h"

#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/parsed_size.h"
#include "client/cpp/printable_text.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace opserve::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr size_t kMaxTextBytes = 512;

// Messages up to here need no estimate: they cannot take much.
constexpr size_t kSurelySmallBytes = 1024;

absl::Status CheckBytes(size_t bytes, std::string_view message) {
  if (bytes <= kMaxHeaderBytes) return absl::OkStatus();
  return BadAnswer(message, "its bytes", absl::StrCat("at most ", kMaxHeaderBytes),
                   absl::StrCat(bytes));
}

// The text of a number that is no count; nullopt for one that is.
std::optional<std::string> NoCount(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  double value = 0;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64)
    value = static_cast<double>(reflection.GetInt64(message, &field));
  else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32)
    value = reflection.GetInt32(message, &field);
  else if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE)
    value = reflection.GetDouble(message, &field);
  if (std::isfinite(value) && value >= 0) return std::nullopt;
  return absl::StrCat(value);
}

// `top` is the message that came, of which `message` is a part.
absl::Status CheckCountsIn(const Message& message, std::string_view top) {
  std::vector<const FieldDescriptor*> fields;
  const Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        OPSERVE_RETURN_IF_ERROR(CheckCountsIn(field->is_repeated()
                                                  ? reflection.GetRepeatedMessage(message, field, i)
                                                  : reflection.GetMessage(message, field),
                                              top));
      }
    } else if (!field->is_repeated()) {
      const std::optional<std::string> got = NoCount(message, *field);
      if (got.has_value()) return BadAnswer(top, field->name(), "a number >= 0", *got);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BadAnswer(std::string_view message, std::string_view what) {
  const std::string text = PrintableText(ShortText(what, kMaxTextBytes));
  return absl::InternalError(
      absl::StrCat("the server's answer is no valid ", ToAbsl(message), ": ", text));
}

absl::Status BadAnswer(std::string_view message, std::string_view part, std::string_view want,
                       std::string_view got) {
  constexpr size_t kMaxPartBytes = 128;
  return BadAnswer(message, absl::StrCat(ShortText(part, kMaxPartBytes), ": want ", ToAbsl(want),
                                         ", got ", ToAbsl(got)));
}

absl::Status MalformedAnswer(std::string_view message) {
  return BadAnswer(message, "malformed bytes");
}

absl::Status ReadMessage(std::string_view answer, Message& message) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  OPSERVE_RETURN_IF_ERROR(CheckBytes(answer.size(), type.name()));
  if (answer.size() > kSurelySmallBytes) {
    const std::optional<size_t> parsed = ParsedSize(answer, type);
    if (parsed.has_value() && *parsed > kMaxParsedBytes) {
      return BadAnswer(type.name(), "its fields",
                       absl::StrCat("at most ", kMaxParsedBytes, " bytes when parsed"),
                       absl::StrCat("up to ", *parsed));
    }
    if (!parsed.has_value()) return MalformedAnswer(type.name());
  }
  if (message.ParseFromArray(answer.data(), static_cast<int>(answer.size())))
    return absl::OkStatus();
  return MalformedAnswer(type.name());
}

absl::Status ReadMessage(const Fragments& answer, Message& message) {
  OPSERVE_RETURN_IF_ERROR(CheckBytes(answer.size_bytes(), message.GetDescriptor()->name()));
  std::string bytes(answer.size_bytes(), '\0');
  answer.CopyTo(reinterpret_cast<std::byte*>(bytes.data()), 0, bytes.size());
  return ReadMessage(bytes, message);
}

absl::Status CheckCounts(const Message& message) {
  return CheckCountsIn(message, message.GetDescriptor()->name());
}

}  // namespace opserve::client
