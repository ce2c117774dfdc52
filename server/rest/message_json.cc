#include "server/rest/message_json.h"

#include <google/protobuf/descriptor.h>

#include "absl/strings/str_cat.h"
#include "server/rest/json_reader.h"

namespace opserve::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// A value of a field: the one, or the `i`th of a repeated field.
class FieldWriter {
 public:
  FieldWriter(const Message& message, const FieldDescriptor& field, std::string& out)
      : message_(message), reflection_(*message.GetReflection()), field_(field), out_(out) {}

  void Append() {
    if (!field_.is_repeated()) return AppendValue(-1);
    out_.push_back(field_.is_map() ? '{' : '[');
    for (int i = 0; i < reflection_.FieldSize(message_, &field_); ++i) {
      if (i > 0) out_.push_back(',');
      field_.is_map() ? AppendEntry(reflection_.GetRepeatedMessage(message_, &field_, i))
                      : AppendValue(i);
    }
    out_.push_back(field_.is_map() ? '}' : ']');
  }

 private:
  // Keys are texts here.
  void AppendEntry(const Message& entry) {
    const auto& fields = *entry.GetDescriptor();
    FieldWriter(entry, *fields.map_key(), out_).Append();
    out_.push_back(':');
    FieldWriter(entry, *fields.map_value(), out_).Append();
  }

  void AppendValue(int i) {
    const bool one = i < 0;
    const Reflection& of = reflection_;
    const Message& m = message_;
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return AppendMessageJson(
            one ? of.GetMessage(m, &field_) : of.GetRepeatedMessage(m, &field_, i), out_);
      case FieldDescriptor::CPPTYPE_STRING:
        return AppendJsonString(
            one ? of.GetString(m, &field_) : of.GetRepeatedString(m, &field_, i), out_);
      case FieldDescriptor::CPPTYPE_BOOL:
        out_.append((one ? of.GetBool(m, &field_) : of.GetRepeatedBool(m, &field_, i)) ? "true"
                                                                                       : "false");
        return;
      case FieldDescriptor::CPPTYPE_ENUM:
        return AppendJsonString(
            (one ? of.GetEnum(m, &field_) : of.GetRepeatedEnum(m, &field_, i))->name(), out_);
      case FieldDescriptor::CPPTYPE_INT32:
        absl::StrAppend(&out_, one ? of.GetInt32(m, &field_) : of.GetRepeatedInt32(m, &field_, i));
        return;
      case FieldDescriptor::CPPTYPE_INT64:
        absl::StrAppend(&out_, one ? of.GetInt64(m, &field_) : of.GetRepeatedInt64(m, &field_, i));
        return;
      case FieldDescriptor::CPPTYPE_UINT64:
        absl::StrAppend(&out_,
                        one ? of.GetUInt64(m, &field_) : of.GetRepeatedUInt64(m, &field_, i));
        return;
      default:
        out_.append("null");  // the messages that are answers have no others
    }
  }

  const Message& message_;
  const Reflection& reflection_;
  const FieldDescriptor& field_;
  std::string& out_;
};

}  // namespace

void AppendMessageJson(const Message& message, std::string& out) {
  const auto& fields = *message.GetDescriptor();
  out.push_back('{');
  for (int i = 0; i < fields.field_count(); ++i) {
    if (i > 0) out.push_back(',');
    AppendJsonString(fields.field(i)->name(), out);
    out.push_back(':');
    FieldWriter(message, *fields.field(i), out).Append();
  }
  out.push_back('}');
}

void AppendListJson(const Message& message, const char* field, std::string& out) {
  FieldWriter(message, *message.GetDescriptor()->FindFieldByName(field), out).Append();
}

}  // namespace opserve::server
