#include "client/cli/formats/literal.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/formats/number_text.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

constexpr size_t kShown = 40;  // characters of a text that an error repeats

absl::Status Want(std::string_view want, std::string_view got) {
  return InvalidParameter("", want, got);
}

std::string Excerpt(std::string_view text) {
  return absl::StrCat("'", ToAbsl(text.substr(0, kShown)), text.size() > kShown ? "…'" : "'");
}

// Takes "…" out of `text` up to `close`, which goes too; nullopt when there is none.
std::optional<std::string_view> TakeUntil(std::string_view& text, char close) {
  const size_t end = text.find(close);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end + 1);
  return taken;
}

// Calls visit(item) for each item of "a, b, c"; none when the list is blank.
template <typename Visit>
absl::Status ForEachItem(std::string_view list, Visit visit) {
  if (Trim(list).empty()) return absl::OkStatus();
  while (true) {
    const size_t comma = list.find(',');
    OPSERVE_RETURN_IF_ERROR(visit(Trim(list.substr(0, comma))));
    if (comma == std::string_view::npos) return absl::OkStatus();
    list.remove_prefix(comma + 1);
  }
}

absl::StatusOr<Dims> ParseDims(std::string_view list, std::string_view what) {
  Dims dims;
  OPSERVE_RETURN_IF_ERROR(ForEachItem(list, [&](std::string_view item) -> absl::Status {
    const std::optional<int64_t> value = ParseInt64(item);
    if (!value.has_value())
      return Want(absl::StrCat(ToAbsl(what), " of whole numbers"), Excerpt(item));
    dims.push_back(*value);
    return absl::OkStatus();
  }));
  return dims;
}

size_t WordLength(std::string_view text) {
  const auto ends = [](char c) {
    return !absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_';
  };
  return static_cast<size_t>(std::find_if(text.begin(), text.end(), ends) - text.begin());
}

absl::StatusOr<DType> TakeDType(std::string_view& text) {
  const std::string_view word = text.substr(0, WordLength(text));
  text.remove_prefix(word.size());
  return ReadDType(word, "");
}

absl::Status AppendElement(std::string_view item, Literal& literal) {
  const std::optional<Number> number = ParseNumber(item, literal.dtype);
  if (!number.has_value()) return Want("a number", Excerpt(item));
  const size_t size = DTypeSize(literal.dtype);
  literal.elements.resize(literal.elements.size() + size);
  return StoreElement(literal.dtype, *number,
                      literal.elements.data() + literal.elements.size() - size);
}

absl::Status TakeElements(std::string_view& text, Literal& literal) {
  text.remove_prefix(1);
  const std::optional<std::string_view> list = TakeUntil(text, '}');
  if (!list.has_value()) return Want("'}' after the elements", "none");
  literal.data = Literal::Data::kList;
  return ForEachItem(*list, [&](std::string_view item) { return AppendElement(item, literal); });
}

// ".strides(1,4)" or ".offset(2)".
absl::Status TakeViewPart(std::string_view& text, bool& has_strides, bool& has_offset,
                          Literal& literal) {
  text.remove_prefix(1);
  const std::string_view word = text.substr(0, WordLength(text));
  const bool strides = word == "strides";
  if (!strides && word != "offset")
    return Want(".strides(…) or .offset(…)", Excerpt(absl::StrCat(".", ToAbsl(word))));
  bool& seen = strides ? has_strides : has_offset;
  if (seen) return Want(absl::StrCat(".", ToAbsl(word), "(…) once"), "it twice");
  seen = true;
  text.remove_prefix(word.size());
  if (!text.starts_with('(')) return Want(absl::StrCat("'(' after .", ToAbsl(word)), Excerpt(text));
  text.remove_prefix(1);
  const std::optional<std::string_view> list = TakeUntil(text, ')');
  if (!list.has_value()) return Want(absl::StrCat("')' after .", ToAbsl(word), "(…"), "none");
  if (!strides) {
    const std::optional<int64_t> offset = ParseInt64(*list);
    if (!offset.has_value()) return Want("a whole number in .offset(…)", Excerpt(*list));
    literal.storage_offset = *offset;
    return absl::OkStatus();
  }
  OPSERVE_ASSIGN_OR_RETURN(literal.strides, ParseDims(*list, "strides"));
  return absl::OkStatus();
}

// What comes after the elements.
absl::Status TakeView(std::string_view text, bool has_shape, Literal& literal) {
  bool has_strides = false;
  bool has_offset = false;
  text = Trim(text);
  while (text.starts_with('.')) {
    OPSERVE_RETURN_IF_ERROR(TakeViewPart(text, has_strides, has_offset, literal));
    text = Trim(text);
  }
  if (!text.empty()) return Want("nothing more", Excerpt(text));
  const int64_t count = static_cast<int64_t>(literal.elements.size() / DTypeSize(literal.dtype));
  if (has_strides || has_offset) {
    if (!has_shape) return Want("a shape, as in f32[2]{…}.strides(2)", "a view without one");
    // A view from element 0 on is one, too: its storage may hold more.
    if (!has_strides) literal.strides = DenseStrides(literal.shape);
    if (literal.strides.size() != literal.shape.size()) {
      return Want(
          absl::StrCat("a stride for each of the shape's ", literal.shape.size(), " extents"),
          absl::StrCat(literal.strides.size()));
    }
    return absl::OkStatus();
  }
  if (!has_shape) {
    literal.shape = {count};
    return absl::OkStatus();
  }
  const bool negative = std::any_of(literal.shape.begin(), literal.shape.end(),
                                    [](int64_t extent) { return extent < 0; });
  if (!negative && NumElements(literal.shape) == count) return absl::OkStatus();
  return Want(absl::StrCat("as many elements as the shape ", ShapeToString(literal.shape), " has"),
              absl::StrCat(count, count == 1 ? " element" : " elements"));
}

absl::StatusOr<Literal> ParseScalar(const Number& number) {
  Literal literal;
  literal.dtype = DType::kFloat32;
  literal.data = Literal::Data::kList;
  literal.elements.resize(DTypeSize(literal.dtype));
  OPSERVE_RETURN_IF_ERROR(StoreElement(literal.dtype, number, literal.elements.data()));
  return literal;
}

}  // namespace

absl::StatusOr<DType> ReadDType(std::string_view word, std::string_view parameter) {
  if (const std::optional<DType> dtype = ParseDType(word)) return *dtype;
  std::vector<std::string_view> names;
  for (int i = 1; i < kNumDTypes; ++i) names.push_back(DTypeShortName(static_cast<DType>(i)));
  for (int i = 1; i < kNumDTypes; ++i) names.push_back(DTypeName(static_cast<DType>(i)));
  const std::string want = "a dtype such as f32, bf16 or int64" + DidYouMean(word, names, '\'');
  return InvalidParameter(parameter, want, Excerpt(word));
}

bool LooksLikeLiteral(std::string_view text) {
  text = Trim(text);
  if (ParseNumber(text, DType::kFloat32).has_value()) return true;
  const size_t word = WordLength(text);
  return word > 0 && word < text.size() && (text[word] == '[' || text[word] == '{');
}

absl::StatusOr<Literal> ParseLiteral(std::string_view text) {
  text = Trim(text);
  if (const std::optional<Number> number = ParseNumber(text, DType::kFloat32); number.has_value())
    return ParseScalar(*number);
  Literal literal;
  OPSERVE_ASSIGN_OR_RETURN(literal.dtype, TakeDType(text));
  const bool has_shape = text.starts_with('[');
  if (has_shape) {
    text.remove_prefix(1);
    const std::optional<std::string_view> list = TakeUntil(text, ']');
    if (!list.has_value()) return Want("']' after the shape", "none");
    OPSERVE_ASSIGN_OR_RETURN(literal.shape, ParseDims(*list, "a shape"));
  }
  if (text.starts_with('{')) {
    OPSERVE_RETURN_IF_ERROR(TakeElements(text, literal));
    OPSERVE_RETURN_IF_ERROR(TakeView(text, has_shape, literal));
    return literal;
  }
  if (!has_shape)
    return Want("[shape] or {elements} after the dtype", text.empty() ? "nothing" : Excerpt(text));
  if (text.starts_with('=')) {
    literal.data = Literal::Data::kFill;
    OPSERVE_RETURN_IF_ERROR(AppendElement(text.substr(1), literal));
    return literal;
  }
  if (!text.empty()) return Want("{elements} or =VALUE after the shape", Excerpt(text));
  return literal;
}

absl::StatusOr<std::vector<std::byte>> LiteralBytes(const Literal& literal, int64_t max_bytes) {
  if (literal.data == Literal::Data::kNone) {
    return Want("data: {elements} or =VALUE after the shape", "a shape alone");
  }
  if (literal.data == Literal::Data::kList) return literal.elements;
  const auto negative = [](int64_t extent) { return extent < 0; };
  if (std::any_of(literal.shape.begin(), literal.shape.end(), negative)) {
    return Want("extents >= 0", ShapeToString(literal.shape));
  }
  const auto size = static_cast<int64_t>(literal.elements.size());
  const std::optional<int64_t> count = NumElements(literal.shape);
  if (!count.has_value() || *count > max_bytes / size) {
    return Want(absl::StrCat("at most ", max_bytes, " bytes of data"),
                absl::StrCat("shape ", ShapeToString(literal.shape)));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(*count * size));
  for (size_t i = 0; i < bytes.size(); i += literal.elements.size()) {
    std::memcpy(bytes.data() + i, literal.elements.data(), literal.elements.size());
  }
  return bytes;
}

}  // namespace opserve::cli
