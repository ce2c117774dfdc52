// What the page is made of. All that is text is given as text, and escaped here.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opserve::server {

// Of one cell.
class Cell {
 public:
  // Text, as it is.
  static Cell Text(std::string_view text);
  // A name of something: in a fixed-width font.
  static Cell Name(std::string_view text);
  // Aligned to the right, with its unit. Muted when it is "0" or "–".
  static Cell Number(std::string_view text);
  // Likewise, and red unless it is 0.
  static Cell Errors(int64_t count);
  // A curve of numbers >= 0, with the last of them as text.
  static Cell Curve(std::span<const double> numbers, std::string_view last);
  // How much of `most` is in use, as a bar.
  static Cell Share(double used, double most, std::string_view text);

  const std::string& html() const { return html_; }

 private:
  explicit Cell(std::string html) : html_(std::move(html)) {}
  std::string html_;  // with its <td>
};

// A table under a heading; `columns` that hold numbers begin with '>'.
std::string TableHtml(std::string_view heading, std::string_view note,
                      std::initializer_list<std::string_view> columns,
                      std::span<const std::vector<Cell>> rows);

// A number that is told by itself, above a curve; no curve where there are no numbers.
std::string CardHtml(std::string_view label, std::string_view number,
                     std::span<const double> curve = {});

// Everything of a page but its body.
std::string DocumentHtml(std::string_view title, std::string_view head, std::string_view body);

}  // namespace opserve::server
