// Fields of messages, written by hand where a message is put together from parts that are ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "google/protobuf/io/coded_stream.h"

namespace opserve::loadtest {

inline void AppendVarints(uint32_t tag, uint64_t value, std::string& bytes) {
  using google::protobuf::io::CodedOutputStream;
  uint8_t field[20];
  uint8_t* end = CodedOutputStream::WriteTagToArray(tag, field);
  end = CodedOutputStream::WriteVarint64ToArray(value, end);
  bytes.append(reinterpret_cast<const char*>(field), static_cast<size_t>(end - field));
}

inline void AppendVarintField(int number, uint64_t value, std::string& bytes) {
  AppendVarints(static_cast<uint32_t>(number) << 3, value, bytes);
}

// The tag and the length of a field of bytes.
inline void AppendFieldStart(int number, size_t length, std::string& bytes) {
  AppendVarints(static_cast<uint32_t>(number) << 3 | 2, length, bytes);
}

inline void AppendField(int number, std::string_view content, std::string& bytes) {
  AppendFieldStart(number, content.size(), bytes);
  bytes.append(content);
}

}  // namespace opserve::loadtest
