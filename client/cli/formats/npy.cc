#include "client/cli/formats/npy.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/cli/formats/number_text.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::cli {
namespace {

constexpr size_t kShownBytes = 40;  // characters of a text that an error repeats

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeaderBytes = size_t{64} << 10;
constexpr size_t kMaxDimensions = 64;  // NumPy's own bound
constexpr size_t kAlignment = 64;

struct Descr {
  std::string_view text;  // without its byte order
  DType dtype;
};

constexpr Descr kDescrs[] = {
    {"f4", DType::kFloat32}, {"f2", DType::kFloat16}, {"V2", DType::kBFloat16},
    {"f8", DType::kFloat64}, {"i1", DType::kInt8},    {"i2", DType::kInt16},
    {"i4", DType::kInt32},   {"i8", DType::kInt64},   {"u1", DType::kUint8},
    {"u2", DType::kUint16},  {"u4", DType::kUint32},  {"u8", DType::kUint64},
    {"b1", DType::kBool},
};

absl::Status WantFile(std::string_view want, std::string_view got) {
  return InvalidParameter("", absl::StrCat("a .npy file with ", ToAbsl(want)), got);
}

std::string Shown(std::string_view text) {
  std::string shown = "'";
  for (const char c : text.substr(0, kShownBytes)) shown.push_back(c >= ' ' && c <= '~' ? c : '?');
  return shown + (text.size() > kShownBytes ? "…'" : "'");
}

// Reads the header's dictionary literal.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  // Skips blanks; true and past it when `c` comes next.
  bool Take(char c) {
    SkipBlanks();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool AtEnd() {
    SkipBlanks();
    return text_.empty();
  }

  // A string in quotes of either kind, without escapes.
  std::optional<std::string_view> TakeString() {
    SkipBlanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view taken = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    if (taken.find('\\') != std::string_view::npos) return std::nullopt;
    return taken;
  }

  // "True", "12", "12L": letters and digits.
  std::string_view TakeWord() {
    SkipBlanks();
    size_t end =
        text_.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (end == std::string_view::npos) end = text_.size();
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    return word;
  }

  std::string_view rest() const { return text_; }

 private:
  void SkipBlanks() {
    const size_t start = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(start == std::string_view::npos ? text_.size() : start);
  }

  std::string_view text_;
};

struct Header {
  std::optional<DType> dtype;
  std::optional<bool> fortran_order;
  std::optional<Dims> shape;
};

absl::StatusOr<DType> ParseDescr(std::string_view descr) {
  const std::string_view type = descr.substr(std::min<size_t>(1, descr.size()));
  for (const Descr& known : kDescrs) {
    if (type != known.text) continue;
    switch (descr[0]) {
      case '<':
      case '=':
      case '|':
        return known.dtype;
      case '>':
        if (DTypeSize(known.dtype) == 1) return known.dtype;
        return WantFile("little-endian elements",
                        absl::StrCat("big-endian ", Shown(descr), ": convert it with .astype('<",
                                     ToAbsl(type), "')"));
      default:
        break;
    }
  }
  return WantFile("descr one of <f4 <f2 <V2 <f8 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 |b1", Shown(descr));
}

absl::StatusOr<Dims> ParseShape(DictReader& reader) {
  Dims shape;
  if (!reader.Take('(')) return WantFile("a tuple as shape", Shown(reader.rest()));
  bool comma = true;
  while (!reader.Take(')')) {
    if (!comma) return WantFile("',' between extents", Shown(reader.rest()));
    std::string_view word = reader.TakeWord();
    if (word.size() > 1 && word.ends_with('L')) word.remove_suffix(1);  // Python 2
    const std::optional<int64_t> extent = ParseInt64(word);
    if (!extent.has_value())
      return WantFile("whole numbers below 2^63 as extents",
                      Shown(word.empty() ? reader.rest() : word));
    if (shape.size() == kMaxDimensions)
      return WantFile(absl::StrCat("at most ", kMaxDimensions, " dimensions"), "more");
    shape.push_back(*extent);
    comma = reader.Take(',');
    if (shape.size() == 1 && !comma) return WantFile("a tuple as shape", "one extent without ','");
  }
  return shape;
}

absl::Status ParseEntry(std::string_view key, DictReader& reader, Header& header) {
  if (key == "descr" && !header.dtype.has_value()) {
    const std::optional<std::string_view> descr = reader.TakeString();
    if (!descr.has_value())
      return WantFile("a plain dtype", absl::StrCat("descr ", Shown(reader.rest())));
    OPSERVE_ASSIGN_OR_RETURN(header.dtype, ParseDescr(*descr));
    return absl::OkStatus();
  }
  if (key == "fortran_order" && !header.fortran_order.has_value()) {
    const std::string_view word = reader.TakeWord();
    if (word != "True" && word != "False")
      return WantFile("fortran_order True or False", Shown(word));
    header.fortran_order = word == "True";
    return absl::OkStatus();
  }
  if (key == "shape" && !header.shape.has_value()) {
    OPSERVE_ASSIGN_OR_RETURN(header.shape, ParseShape(reader));
    return absl::OkStatus();
  }
  return WantFile("the keys descr, fortran_order and shape, each once", Shown(key));
}

Dims FortranStrides(const Dims& shape) {
  Dims reversed(shape.rbegin(), shape.rend());
  Dims strides = DenseStrides(reversed);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

absl::StatusOr<TensorDesc> ParseHeader(std::string_view text) {
  Header header;
  DictReader reader(text);
  if (!reader.Take('{')) return WantFile("a dictionary as header", Shown(reader.rest()));
  bool comma = true;
  while (!reader.Take('}')) {
    const std::optional<std::string_view> key = comma ? reader.TakeString() : std::nullopt;
    if (!key.has_value() || !reader.Take(':'))
      return WantFile("a dictionary as header", Shown(reader.rest()));
    OPSERVE_RETURN_IF_ERROR(ParseEntry(*key, reader, header));
    comma = reader.Take(',');
  }
  if (!reader.AtEnd())
    return WantFile("nothing behind the header's dictionary", Shown(reader.rest()));
  if (!header.dtype.has_value() || !header.fortran_order.has_value() || !header.shape.has_value()) {
    return WantFile("the keys descr, fortran_order and shape, each once", "fewer");
  }
  TensorDesc desc = TensorDesc::Dense(*header.dtype, *header.shape);
  OPSERVE_RETURN_IF_ERROR(CheckDesc(desc, ""));
  if (*header.fortran_order) desc.strides = FortranStrides(desc.shape);
  return desc;
}

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Takes magic, version, length and header off `file`.
absl::StatusOr<std::string_view> TakeHeader(std::string_view& file) {
  if (!file.starts_with(kMagic)) return WantFile("NumPy's signature", "other bytes");
  const auto byte = [&file](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(file[i]));
  };
  if (file.size() < kMagic.size() + 2) return WantFile("a version", "the end");
  const size_t version = byte(kMagic.size());
  if (version < 1 || version > 3 || byte(kMagic.size() + 1) != 0) {
    return WantFile("version 1.0, 2.0 or 3.0", absl::StrCat(version, ".", byte(kMagic.size() + 1)));
  }
  const size_t length_at = kMagic.size() + 2;
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (file.size() < length_at + length_bytes) return WantFile("a header length", "the end");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte(length_at + i) << (8 * i);
  file.remove_prefix(length_at + length_bytes);
  if (length > kMaxHeaderBytes)
    return WantFile(absl::StrCat("a header of at most ", kMaxHeaderBytes, " bytes"),
                    absl::StrCat(length));
  if (length > file.size())
    return WantFile(absl::StrCat("a header of ", length, " bytes"),
                    absl::StrCat(file.size(), " bytes"));
  const std::string_view header = file.substr(0, length);
  file.remove_prefix(length);
  return header;
}

}  // namespace

absl::StatusOr<NpyTensor> ParseNpy(std::span<const std::byte> file) {
  std::string_view rest = AsText(file);
  OPSERVE_ASSIGN_OR_RETURN(const std::string_view text, TakeHeader(rest));
  NpyTensor tensor;
  OPSERVE_ASSIGN_OR_RETURN(tensor.desc, ParseHeader(text));
  const auto wanted = static_cast<size_t>(tensor.desc.size_bytes());
  if (rest.size() != wanted) {
    return WantFile(
        absl::StrCat(wanted, " bytes of data for ", ToAbsl(DTypeName(tensor.desc.dtype)),
                     ShapeToString(tensor.desc.shape)),
        rest.size() > wanted ? "more" : absl::StrCat(rest.size()));
  }
  tensor.data = file.last(wanted);
  return tensor;
}

absl::StatusOr<size_t> NpyFileBytes(std::span<const std::byte> start) {
  std::string_view rest = AsText(start);
  OPSERVE_ASSIGN_OR_RETURN(const std::string_view text, TakeHeader(rest));
  OPSERVE_ASSIGN_OR_RETURN(const TensorDesc desc, ParseHeader(text));
  return start.size() - rest.size() + static_cast<size_t>(desc.size_bytes());
}

std::string NpyPreamble(DType dtype, std::span<const int64_t> shape) {
  std::string_view type;
  for (const Descr& known : kDescrs) {
    if (known.dtype == dtype) type = known.text;
  }
  const char* order = DTypeSize(dtype) == 1 ? "|" : "<";
  std::string header =
      absl::StrCat("{'descr': '", order, ToAbsl(type), "', 'fortran_order': False, 'shape': (");
  for (const int64_t extent : shape)
    absl::StrAppend(&header, extent, shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) header.resize(header.size() - 2);
  header.append("), }");

  const auto padded = [&header](size_t prefix) {
    return (prefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - prefix;
  };
  const bool first_version = padded(10) <= UINT16_MAX;
  const size_t length_bytes = first_version ? 2 : 4;
  const size_t length = padded(kMagic.size() + 2 + length_bytes);
  std::string preamble(kMagic);
  preamble.push_back(first_version ? 1 : 2);
  preamble.push_back(0);
  for (size_t i = 0; i < length_bytes; ++i)
    preamble.push_back(static_cast<char>((length >> (8 * i)) & 0xff));
  header.resize(length - 1, ' ');
  return preamble + header + '\n';
}

}  // namespace opserve::cli
