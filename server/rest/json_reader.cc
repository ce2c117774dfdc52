#include "server/rest/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "server/codec/call_codec.h"

namespace opserve::server {
namespace {

constexpr std::string_view kTooManyBytes = "no more than 2 MiB of strings";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(uint32_t code, std::string& out) {
  const auto byte = [&out](uint32_t value) { out.push_back(static_cast<char>(value)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xe0 | code >> 12);
    } else {
      byte(0xf0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3f));
    }
    byte(0x80 | (code >> 6 & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

// The bytes of the character that `text` begins with; 0 where that is no UTF-8.
size_t Utf8Length(std::string_view text) {
  const auto at = [text](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0U; };
  const uint32_t first = at(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  const bool is_overlong = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
  const bool is_no_character = (first == 0xed && at(1) > 0x9f) || (first == 0xf4 && at(1) > 0x8f);
  return is_overlong || is_no_character ? 0 : length;
}

// As the grammar has it: no sign but '-', no zero before another digit, digits around the point.
bool IsNumber(std::string_view text, bool& is_integer) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t start = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at > start;
  };
  const auto take = [&](char c) { return at < text.size() && text[at] == c && ++at > 0; };
  (void)take('-');
  if (!take('0') && !digits()) return false;
  is_integer = at == text.size();
  if (take('.') && !digits()) return false;
  if (take('e') || take('E')) {
    if (!take('+')) (void)take('-');
    if (!digits()) return false;
  }
  return at == text.size();
}

template <typename T>
bool Parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// What is too small is zero or next to it; what is too large is refused.
bool ParseFloat(std::string_view text, double& value) {
  if (Parse(text, value)) return true;
  value = std::strtod(std::string(text).c_str(), nullptr);
  return value > -HUGE_VAL && value < HUGE_VAL;
}

}  // namespace

bool JsonReader::Fail(std::string_view want) {
  if (!failed_) want_ = want;
  failed_ = true;
  return false;
}

absl::Status JsonReader::status() const {
  if (!failed_) return absl::OkStatus();
  return MalformedMessage(absl::StrCat("JSON with ", ToAbsl(want_), " at byte ", first_byte_ + at_),
                          at_ < text_.size() ? "something else" : "its end");
}

void JsonReader::SkipSpace() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
    ++at_;
}

bool JsonReader::Take(char c) {
  SkipSpace();
  if (failed_ || at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

JsonReader::Kind JsonReader::Peek() {
  SkipSpace();
  if (failed_ || at_ == text_.size()) return Kind::kNone;
  switch (text_[at_]) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
    case 'f':
      return Kind::kBool;
    case 'n':
      return Kind::kNull;
    default:
      return text_[at_] == '-' || IsDigit(text_[at_]) ? Kind::kNumber : Kind::kNone;
  }
}

bool JsonReader::Begin(char bracket) {
  if (failed_) return false;
  if (depth_ == kMaxDepth) return Fail("less inside each other");
  if (!Take(bracket)) return Fail(bracket == '{' ? "an object" : "an array");
  has_items_[depth_++] = false;
  return true;
}

bool JsonReader::Next(char bracket) {
  if (failed_ || depth_ == 0) return false;
  if (Take(bracket)) {
    --depth_;
    return false;
  }
  if (has_items_[depth_ - 1] && !Take(',')) return Fail("a comma or the closing bracket");
  has_items_[depth_ - 1] = true;
  return true;
}

bool JsonReader::BeginObject() { return Begin('{'); }
bool JsonReader::BeginArray() { return Begin('['); }
bool JsonReader::NextItem() { return Next(']'); }

bool JsonReader::NextMember(std::string& name) {
  static_assert(kMaxNameBytes == 256);
  const bool is_bound_by_name = kMaxNameBytes < left_bytes_;
  return Next('}') &&
         ReadText(std::min(kMaxNameBytes, left_bytes_),
                  is_bound_by_name ? "no name of more than 256 bytes" : kTooManyBytes, name) &&
         (Take(':') || Fail("a colon"));
}

bool JsonReader::ReadHex(uint32_t& out) {
  if (text_.size() - at_ < 4) return Fail("four hexadecimal digits");
  const std::string_view digits = text_.substr(at_, 4);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + 4, out, 16);
  if (error != std::errc() || end != digits.data() + 4) return Fail("four hexadecimal digits");
  at_ += 4;
  return true;
}

bool JsonReader::ReadEscape(std::string& out) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  if (at_ == text_.size()) return Fail("an escape");
  const char name = text_[at_++];
  if (const size_t known = kNames.find(name); known != std::string_view::npos) {
    out.push_back(kMeant[known]);
    return true;
  }
  uint32_t code = 0;
  if (name != 'u') return Fail("an escape");
  if (!ReadHex(code)) return false;
  if (code >= 0xd800 && code < 0xdc00) {
    uint32_t low = 0;
    if (text_.substr(at_, 2) != "\\u") return Fail("the other half of a character");
    at_ += 2;
    if (!ReadHex(low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return Fail("the other half of a character");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code <= 0xdfff) {
    return Fail("the first half of a character");
  }
  AppendUtf8(code, out);
  return true;
}

bool JsonReader::ReadUtf8(std::string& out) {
  const size_t length = Utf8Length(text_.substr(at_));
  if (length == 0) return Fail("UTF-8");
  out.append(text_.substr(at_, length));
  at_ += length;
  return true;
}

bool JsonReader::ReadString(std::string& out) { return ReadText(left_bytes_, kTooManyBytes, out); }

bool JsonReader::ReadText(size_t most, std::string_view too_long, std::string& out) {
  out.clear();
  if (failed_ || !Take('"')) return Fail("a string");
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      left_bytes_ -= out.size();
      return true;
    }
    if (static_cast<uint8_t>(c) < 0x20) return Fail("no control character in a string");
    if (c == '\\') ++at_;
    if (!(c == '\\' ? ReadEscape(out) : ReadUtf8(out))) return false;
    if (out.size() > most) return Fail(too_long);
  }
  return Fail("the end of a string");
}

bool JsonReader::ReadLiteral(std::string_view literal) {
  SkipSpace();
  if (failed_ || text_.substr(at_, literal.size()) != literal) return false;
  at_ += literal.size();
  return true;
}

bool JsonReader::ReadBool(bool& out) {
  out = ReadLiteral("true");
  return out || ReadLiteral("false") || Fail("true or false");
}

std::string_view JsonReader::NumberText() const {
  const size_t end = text_.find_first_not_of("0123456789+-.eE", at_);
  return text_.substr(at_, end == std::string_view::npos ? end : end - at_);
}

bool JsonReader::ReadNamedNumber(double& out) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (ReadLiteral("\"NaN\"")) return out = std::numeric_limits<double>::quiet_NaN(), true;
  if (ReadLiteral("\"Infinity\"")) return out = kInfinity, true;
  if (ReadLiteral("\"-Infinity\"")) return out = -kInfinity, true;
  return Fail("a number");
}

bool JsonReader::ReadNumber(Number& out) {
  if (failed_) return false;
  if (Peek() == Kind::kString) {
    double named = 0;
    if (!ReadNamedNumber(named)) return false;
    out = named;
    return true;
  }
  const std::string_view text = NumberText();
  bool is_integer = false;
  if (!IsNumber(text, is_integer)) return Fail("a number");
  int64_t small = 0;
  uint64_t large = 0;
  double real = 0;
  if (is_integer && Parse(text, small)) {
    out = small;
  } else if (is_integer && Parse(text, large)) {
    out = large;
  } else if (ParseFloat(text, real)) {
    out = real;
  } else {
    return Fail("a number that a double holds");
  }
  at_ += text.size();
  return true;
}

bool JsonReader::SkipUnread(std::string_view& text, size_t& start) {
  if (Peek() == Kind::kNone) return Fail("a value");
  const size_t begin = at_;
  size_t depth = 0;
  // Up to what ends the value: a bracket, or what follows a value that has none.
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\' ? 1 : 0;
      if (at_ >= text_.size()) return at_ = text_.size(), Fail("the end of a string");
    }
    depth += c == '[' || c == '{' ? 1 : 0;
    if (c == ']' || c == '}') {
      if (depth == 0) break;
      --depth;
    }
    if (depth == 0 && c == ',') break;
    ++at_;
    if (depth == 0 && (c == '"' || c == ']' || c == '}')) break;
  }
  if (depth > 0) return Fail("a closing bracket");
  text = text_.substr(begin, at_ - begin);
  start = first_byte_ + begin;
  return true;
}

bool JsonReader::End() {
  SkipSpace();
  return !failed_ && (at_ == text_.size() || Fail("nothing more"));
}

void AppendJsonString(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('"');
  while (!text.empty()) {
    const char c = text.front();
    const size_t length = Utf8Length(text);
    if (c == '"' || c == '\\') out.push_back('\\');
    if (static_cast<uint8_t>(c) < 0x20) {
      absl::StrAppend(&out, "\\u00", c < 0x10 ? "0" : "1");
      out.push_back(kHex[static_cast<uint8_t>(c) & 15]);
    } else if (length == 0) {
      out.append("\xef\xbf\xbd");  // U+FFFD
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out.push_back('"');
}

}  // namespace opserve::server
