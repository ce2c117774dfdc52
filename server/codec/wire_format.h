// The few pieces of protobuf's wire format that are written by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/message_lite.h"

namespace opserve::server {

// Groups, which proto3 has not, are left out.
enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

constexpr int kMaxVarintBytes = 10;
constexpr int kMaxVarint32Bytes = 5;  // of tags and lengths, as the generated code has it

constexpr uint32_t TagOf(uint32_t field, WireType type) { return field << 3 | type; }

// The tag of a field with a length: bytes, strings, messages.
constexpr uint32_t BytesTag(uint32_t field) { return TagOf(field, kLengthDelimited); }

// Of a field with a length whose tag is of one byte.
inline size_t FieldBytes(size_t payload) {
  return 1 + google::protobuf::io::CodedOutputStream::VarintSize64(payload) + payload;
}

inline void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// What is before the payload of a field with a length.
inline void AppendStart(uint32_t tag, size_t payload_bytes, std::string& out) {
  AppendVarint(tag, out);
  AppendVarint(payload_bytes, out);
}

inline void AppendMessage(uint32_t tag, const google::protobuf::MessageLite& message,
                          std::string& out) {
  AppendStart(tag, message.ByteSizeLong(), out);
  message.AppendToString(&out);
}

}  // namespace opserve::server
