#include "client/cli/formats/tensor_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/strings.h"
#include "core/tensor/element.h"
#include "core/tensor/shape.h"

namespace opserve::cli {
namespace {

constexpr char kGap[] = "…";  // one column, three bytes

class TensorWriter {
 public:
  TensorWriter(DType dtype, std::span<const int64_t> shape, std::span<const std::byte> bytes,
               const TensorTextOptions& options)
      : dtype_(dtype),
        shape_(shape),
        strides_(DenseStrides(shape)),
        bytes_(bytes),
        options_(options) {
    shortened_ = NumElements(shape).value_or(0) > options.max_elements;
  }

  std::string Write() && {
    Measure(0, 0);
    WriteDimension(0, 0);
    return std::move(text_);
  }

 private:
  bool LeavesOut(int64_t extent) const { return shortened_ && extent > 2 * options_.edge; }

  // Calls visit(i) for each index that is shown, gap() where some are left out.
  template <typename Visit, typename Gap>
  void ForEachShown(size_t dimension, Visit visit, Gap gap) const {
    const int64_t extent = shape_[dimension];
    for (int64_t i = 0; i < extent; ++i) {
      if (LeavesOut(extent) && i == options_.edge) {
        gap();
        i = extent - options_.edge;
      }
      visit(i);
    }
  }

  std::string Element(int64_t index) const {
    return ElementToString(dtype_, bytes_.data() + static_cast<size_t>(index) * DTypeSize(dtype_));
  }

  void Measure(size_t dimension, int64_t offset) {
    if (dimension == shape_.size()) {
      element_width_ = std::max(element_width_, Element(offset).size());
      return;
    }
    ForEachShown(
        dimension, [&](int64_t i) { Measure(dimension + 1, offset + i * strides_[dimension]); },
        [] {});
  }

  void WriteDimension(size_t dimension, int64_t offset) {
    if (dimension == shape_.size()) return WriteCell(Element(offset), element_width_);
    text_.push_back('[');
    if (dimension + 1 == shape_.size()) {
      WriteRow(offset);
    } else {
      const std::string separator =
          std::string(shape_.size() - dimension - 1, '\n') + std::string(dimension + 1, ' ');
      bool first = true;
      const auto separate = [&] {
        if (!first) text_.append(separator);
        first = false;
      };
      ForEachShown(
          dimension,
          [&](int64_t i) {
            separate();
            WriteDimension(dimension + 1, offset + i * strides_[dimension]);
          },
          [&] {
            separate();
            text_.append(kGap);
          });
    }
    text_.push_back(']');
  }

  // The innermost dimension, broken into lines.
  void WriteRow(int64_t offset) {
    const size_t indent = shape_.size();
    size_t column = indent;
    const auto write = [&](const std::string& cell, size_t columns) {
      if (column > indent && column + 1 + columns > options_.width) {
        text_.append("\n").append(indent, ' ');
        column = indent;
      } else if (column > indent) {
        text_.push_back(' ');
        ++column;
      }
      WriteCell(cell, columns);
      column += columns;
    };
    ForEachShown(
        shape_.size() - 1, [&](int64_t i) { write(Element(offset + i), element_width_); },
        [&] { write(kGap, 1); });
  }

  void WriteCell(const std::string& cell, size_t columns) {
    const size_t shown = cell == kGap ? 1 : cell.size();
    text_.append(columns - std::min(columns, shown), ' ').append(cell);
  }

  const DType dtype_;
  const std::span<const int64_t> shape_;
  const Dims strides_;
  const std::span<const std::byte> bytes_;
  const TensorTextOptions& options_;
  bool shortened_ = false;
  size_t element_width_ = 0;
  std::string text_;
};

}  // namespace

std::string TypeText(DType dtype, std::span<const int64_t> shape) {
  return absl::StrCat(ToAbsl(DTypeShortName(dtype)), "[", absl::StrJoin(shape, ","), "]");
}

std::string TensorText(DType dtype, std::span<const int64_t> shape,
                       std::span<const std::byte> bytes, const TensorTextOptions& options) {
  if (NumElements(shape) == 0) return "[]";
  return TensorWriter(dtype, shape, bytes, options).Write();
}

}  // namespace opserve::cli
