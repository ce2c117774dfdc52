// JSON (RFC 8259), read in place from front to back, without a tree: who reads says what should
// come next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/tensor/element.h"

namespace opserve::server {

// Every method is false once the text was found wrong, and at the end of what it is in. Work is
// linear in the text; memory is what the caller keeps.
class JsonReader {
 public:
  // Objects and arrays inside each other.
  static constexpr size_t kMaxDepth = 80;
  // Of all strings that are read, names of members included, together.
  static constexpr size_t kMaxStringBytes = size_t{2} << 20;

  // `first_byte` is where the text begins in what the client sent, for errors.
  explicit JsonReader(std::string_view text, size_t first_byte = 0)
      : text_(text), first_byte_(first_byte) {}

  enum class Kind : uint8_t { kObject, kArray, kString, kNumber, kBool, kNull, kNone };
  // Of the value that comes next; kNone where there is none.
  Kind Peek();

  bool BeginObject();
  // To the next member's value; false after the last. In between its value must be read. A name has
  // at most kMaxNameBytes of call_codec.h.
  bool NextMember(std::string& name);
  bool BeginArray();
  // Likewise, to the next item.
  bool NextItem();

  bool ReadString(std::string& out);
  bool ReadBool(bool& out);
  // An integer where it is written as one and fits, or else a float. Strings "NaN", "Infinity" and
  // "-Infinity", as protobuf writes them, are numbers here.
  bool ReadNumber(Number& out);
  // Moves over a value and shows its text: brackets and quotation marks match, the rest may be
  // wrong yet. `start` is where it begins, as `first_byte` counts.
  bool SkipUnread(std::string_view& text, size_t& start);

  // Nothing may follow but white space.
  bool End();

  bool failed() const { return failed_; }
  // 161002 (MALFORMED_MESSAGE) with the byte, once something was wrong.
  absl::Status status() const;

 private:
  bool Fail(std::string_view want);
  void SkipSpace();
  bool Take(char c);
  bool Begin(char bracket);
  // Whether another one follows in the innermost object or array.
  bool Next(char bracket);
  bool ReadEscape(std::string& out);
  bool ReadHex(uint32_t& out);
  bool ReadUtf8(std::string& out);
  bool ReadText(size_t most, std::string_view too_long, std::string& out);
  bool ReadLiteral(std::string_view literal);
  bool ReadNamedNumber(double& out);
  std::string_view NumberText() const;

  std::string_view text_;
  const size_t first_byte_;
  size_t at_ = 0;
  size_t depth_ = 0;
  std::array<bool, kMaxDepth> has_items_ = {};
  size_t left_bytes_ = kMaxStringBytes;
  bool failed_ = false;
  std::string_view want_;  // of the failure
};

// The text as a JSON string; what is no UTF-8 becomes U+FFFD.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace opserve::server
