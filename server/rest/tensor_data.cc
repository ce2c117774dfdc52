#include "server/rest/tensor_data.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/tensor/element.h"
#include "core/tensor/shape.h"
#include "server/rest/json_reader.h"

namespace opserve::server {
namespace {

class DataReader {
 public:
  DataReader(JsonReader& json, DType dtype, std::span<const int64_t> shape, std::string_view name,
             std::vector<std::byte>& out)
      : json_(json), dtype_(dtype), shape_(shape), name_(name), out_(out) {}

  absl::Status Read() {
    elements_ = *NumElements(shape_);
    OPSERVE_RETURN_IF_ERROR(ReadList(0));
    if (!json_.End()) return json_.status();
    if (stored_ != elements_) return WrongCount(absl::StrCat(stored_));
    return absl::OkStatus();
  }

 private:
  // A list that is inside of so many others.
  absl::Status ReadList(size_t depth) {
    int64_t items = 0;
    bool has_lists = false;
    if (!json_.BeginArray()) return json_.status();
    for (; json_.NextItem(); ++items) {
      const bool is_list = json_.Peek() == JsonReader::Kind::kArray;
      if (items > 0 && is_list != has_lists) return WrongNesting();
      has_lists = is_list;
      if (!is_list) {
        if (depth > 0 && depth + 1 != shape_.size()) return WrongNesting();
        OPSERVE_RETURN_IF_ERROR(ReadElement());
      } else if (depth + 1 >= shape_.size()) {
        return WrongNesting();
      } else {
        OPSERVE_RETURN_IF_ERROR(ReadList(depth + 1));
      }
    }
    if (json_.failed()) return json_.status();
    const bool is_flat = depth == 0 && !has_lists;
    return is_flat || items == shape_[depth] ? absl::OkStatus() : WrongNesting();
  }

  absl::Status ReadElement() {
    Number number;
    if (dtype_ == DType::kBool && json_.Peek() == JsonReader::Kind::kBool) {
      bool truth = false;
      (void)json_.ReadBool(truth);
      number = truth;
    } else {
      (void)json_.ReadNumber(number);
    }
    if (json_.failed()) return WithName(json_.status());
    if (stored_ == elements_) return WrongCount("more");
    ++stored_;
    const size_t at = out_.size();
    out_.resize(at + DTypeSize(dtype_));
    return WithName(StoreElement(dtype_, number, out_.data() + at));
  }

  absl::Status WithName(absl::Status status) const {
    std::optional<ErrorDetail> detail = GetErrorDetail(status);
    if (!detail.has_value() || !detail->parameter.empty()) return status;
    detail->parameter = std::string(name_);
    return MakeError(*detail);
  }

  absl::Status WrongCount(std::string_view got) const {
    return InvalidParameter(
        name_, absl::StrCat("data of ", elements_, " elements, as its shape has"), got);
  }
  absl::Status WrongNesting() const {
    return InvalidParameter(name_, "data in one list, or in lists of lists as its shape has them",
                            "other lists");
  }

  JsonReader& json_;
  const DType dtype_;
  const std::span<const int64_t> shape_;
  const std::string_view name_;
  std::vector<std::byte>& out_;
  int64_t elements_ = 0;
  int64_t stored_ = 0;
};

}  // namespace

absl::StatusOr<int64_t> TensorBytes(DType dtype, std::span<const int64_t> shape,
                                    std::string_view name, int64_t max_bytes) {
  if (std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; }))
    return OutOfRange(name, "a shape of extents >= 0", "a negative one");
  const std::optional<int64_t> elements = NumElements(shape);
  const auto size = static_cast<int64_t>(DTypeSize(dtype));
  if (!elements.has_value() || *elements > max_bytes / size) {
    return OutOfRange(name, absl::StrCat("a tensor of at most ", max_bytes, " bytes"),
                      "a shape of more");
  }
  return *elements * size;
}

absl::StatusOr<std::vector<std::byte>> ReadTensorData(std::string_view text, size_t start,
                                                      DType dtype, std::span<const int64_t> shape,
                                                      std::string_view name) {
  std::vector<std::byte> out;
  // An element takes two bytes of text, so the shape alone makes nothing large.
  const size_t elements =
      std::min(static_cast<size_t>(NumElements(shape).value_or(0)), text.size() / 2 + 1);
  out.reserve(elements * DTypeSize(dtype));
  JsonReader json(text, start);
  OPSERVE_RETURN_IF_ERROR(DataReader(json, dtype, shape, name, out).Read());
  return out;
}

void AppendTensorData(DType dtype, std::span<const std::byte> elements, std::string& out) {
  out.push_back('[');
  const size_t size = DTypeSize(dtype);
  for (size_t at = 0; at + size <= elements.size(); at += size) {
    if (at > 0) out.push_back(',');
    const std::byte* element = elements.data() + at;
    const Number number = LoadElement(dtype, element);
    const auto* real = std::get_if<double>(&number);
    if (real == nullptr || std::isfinite(*real)) {
      out.append(ElementToString(dtype, element));
    } else {
      out.append(std::isnan(*real) ? "\"NaN\"" : *real > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    }
  }
  out.push_back(']');
}

size_t MaxTensorDataBytes(DType dtype, int64_t elements) {
  // "-2.2250738585072014e-308,"; "-1.17549435e-38,"; the names of numbers take twelve with a comma.
  const size_t each = DTypeSize(dtype) == 8 ? 25 : 16;
  return 2 + static_cast<size_t>(elements) * each;
}

}  // namespace opserve::server
