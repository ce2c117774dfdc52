// Messages of the Open Inference Protocol as JSON.
#pragma once

#include <string>

#include <google/protobuf/message.h>

namespace opserve::server {

// Every field is there, also where it has its default, by its name in the .proto; whole numbers are
// numbers (protobuf's own JSON makes texts of the long ones, which the protocol's clients do not
// read), enums are their names.
void AppendMessageJson(const google::protobuf::Message& message, std::string& out);

// A list of the messages that are in a repeated field of `message`.
void AppendListJson(const google::protobuf::Message& message, const char* field, std::string& out);

}  // namespace opserve::server
