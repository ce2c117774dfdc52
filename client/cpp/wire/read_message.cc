#include "client/cpp/wire/read_message.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/values/printable_text.h"
#include "client/cpp/wire/parsed_size.h"
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

// 0 of a field that holds no number.
int64_t NumberIn(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64)
    return reflection.GetInt64(message, &field);
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32)
    return reflection.GetInt32(message, &field);
  return 0;
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
      const int64_t number = NumberIn(message, *field);
      if (number < 0) return BadAnswer(top, field->name(), "a number >= 0", absl::StrCat(number));
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
