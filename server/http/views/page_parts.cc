#include "server/http/views/page_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/strings.h"
#include "server/http/views/html.h"
#include "server/http/views/number_text.h"

namespace opserve::server {
namespace {

constexpr char kStyle[] = R"(
:root{color-scheme:light dark;--page:#f5f6f8;--card:#fff;--text:#1b2330;--muted:#667085;--line:#e4e7ec;--curve:#2f6fed;
--fill:#2f6fed1f;--good:#067647;--good-back:#dcfae6;--bad:#b42318;--bad-back:#fee4e2}
@media(prefers-color-scheme:dark){:root{--page:#0f141b;--card:#171d27;--text:#e4e8ef;--muted:#95a0b3;--line:#273142;
--curve:#7aa7ff;--fill:#7aa7ff26;--good:#75e0a7;--good-back:#0b3b27;--bad:#fda29b;--bad-back:#4a1712}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.45 system-ui,sans-serif}
main{max-width:1180px;margin:0 auto;padding:20px 16px 40px}
header{display:flex;flex-wrap:wrap;align-items:baseline;gap:6px 12px;margin-bottom:16px}
h1{font-size:22px;margin:0}h2{font-size:15px;margin:0}
.state{border-radius:999px;padding:2px 10px;font-size:13px;font-weight:600}
.good{color:var(--good);background:var(--good-back)}.bad{color:var(--bad);background:var(--bad-back)}
.muted,.note,footer{color:var(--muted)}.note{font-size:13px}
.reasons{background:var(--bad-back);color:var(--bad);border-radius:10px;padding:10px 14px;margin:0 0 16px;list-style:none}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px}
.card,section{background:var(--card);border:1px solid var(--line);border-radius:10px}
.card{padding:10px 14px;min-height:92px;overflow:hidden}.card .label{font-size:13px;color:var(--muted)}
.card .number{font-size:21px;font-weight:600;font-variant-numeric:tabular-nums}
.card svg{width:100%;height:30px}
section{margin-top:14px;overflow:hidden}
section>div.head{display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline;padding:11px 14px 7px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th{font-weight:500;color:var(--muted);font-size:12.5px;text-align:left;white-space:nowrap}
th,td{padding:5px 14px;border-top:1px solid var(--line);vertical-align:middle}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.name{font-family:ui-monospace,monospace;font-size:13px;overflow-wrap:anywhere}
td.name{min-width:13em}.text{unicode-bidi:isolate;overflow-wrap:anywhere;min-width:10em}
.failed{color:var(--bad);font-weight:600}
svg{display:block}polyline{fill:none;stroke:var(--curve);stroke-width:1.5;vector-effect:non-scaling-stroke}
polygon{fill:var(--fill)}
td .curve{display:flex;align-items:center;gap:10px;justify-content:flex-end}
td .curve svg{width:84px;height:20px;flex:none}td .curve span{min-width:4.2em}
.bar{display:block;height:6px;border-radius:3px;background:var(--line);margin-top:3px;overflow:hidden;min-width:90px}
.bar i{display:block;height:100%;background:var(--curve)}
details{margin-top:14px}summary{cursor:pointer;padding:2px 14px;font-weight:600;font-size:15px}
.play{display:grid;grid-template-columns:minmax(220px,280px) minmax(0,1fr);gap:14px;align-items:start}
@media(max-width:760px){.play{grid-template-columns:minmax(0,1fr)}}
aside{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px;margin-top:14px}
form{display:grid;gap:10px}form label{display:grid;gap:3px}form.live button{display:none}
input,select,button{font:inherit;color:inherit;background:var(--page);border:1px solid var(--line);border-radius:6px;
padding:4px 8px;width:100%;min-width:0}
input[type=range]{padding:0;accent-color:var(--curve)}button{cursor:pointer;font-weight:600}
.plot svg{width:100%;height:auto;padding:0 8px 8px}.plot text{fill:var(--muted);font-size:11px}
.plot path{fill:none;stroke-width:2;stroke-linejoin:round}
@media(max-width:760px){.plot text{font-size:19px}}.plot .grid{stroke:var(--line);stroke-width:1}.plot .axis{stroke:var(--muted);stroke-width:1}
.line0{stroke:var(--curve)}.line1{stroke:#d97706}.line2{stroke:#0d9488}.line3{stroke:#c026d3}
.key{font-size:13px}.key::before{content:"";display:inline-block;width:14px;height:3px;border-radius:2px;margin:0 6px 3px 0}
.key0::before{background:var(--curve)}.key1::before{background:#d97706}.key2::before{background:#0d9488}
.key3::before{background:#c026d3}
.calls details{margin:0;border-top:1px solid var(--line);padding:6px 0}.calls summary{font-size:13.5px}
pre{margin:6px 14px;padding:10px 12px;background:var(--page);border-radius:8px;overflow-x:auto;font:12.5px/1.5 ui-monospace,monospace}
a{color:var(--curve)}footer{margin-top:18px;font-size:13px;display:flex;flex-wrap:wrap;gap:4px 16px}
)";

std::string CurveSvg(std::span<const double> numbers) {
  if (numbers.size() < 2) return "<svg aria-hidden=\"true\"></svg>";
  const double most = std::max(*std::max_element(numbers.begin(), numbers.end()), 1e-9);
  std::string points;
  for (size_t i = 0; i < numbers.size(); ++i) {
    absl::StrAppendFormat(&points, "%.1f,%.1f ",
                          100.0 * static_cast<double>(i) / static_cast<double>(numbers.size() - 1),
                          23 - 22 * std::max(numbers[i], 0.0) / most);
  }
  return absl::StrCat(
      "<svg viewBox=\"0 0 100 24\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><polygon "
      "points=\"0,24 ",
      points, "100,24\"/><polyline points=\"", points, "\"/></svg>");
}

std::string Escaped(std::string_view text) { return HtmlText(text); }

}  // namespace

Cell Cell::Text(std::string_view text) {
  return Cell(absl::StrCat("<td class=\"text\">", Escaped(text), "</td>"));
}

Cell Cell::Name(std::string_view text) {
  return Cell(absl::StrCat("<td class=\"name\">", Escaped(text), "</td>"));
}

Cell Cell::Number(std::string_view text) {
  const bool is_nothing = text == "0" || text == "–";
  return Cell(
      absl::StrCat("<td class=\"n", is_nothing ? " muted" : "", "\">", Escaped(text), "</td>"));
}

Cell Cell::Errors(int64_t count) {
  if (count == 0) return Number("0");
  return Cell(
      absl::StrCat("<td class=\"n failed\">", CountText(static_cast<double>(count)), "</td>"));
}

Cell Cell::Curve(std::span<const double> numbers, std::string_view last) {
  return Cell(absl::StrCat("<td class=\"n\"><span class=\"curve\">", CurveSvg(numbers), "<span>",
                           Escaped(last), "</span></span></td>"));
}

Cell Cell::Share(double used, double most, std::string_view text) {
  const double percent = most > 0 ? std::clamp(100 * used / most, 0.0, 100.0) : 0;
  return Cell(absl::StrCat("<td class=\"n\">", Escaped(text),
                           "<span class=\"bar\"><i style=\"width:",
                           absl::StrFormat("%.1f", percent), "%\"></i></span></td>"));
}

std::string TableHtml(std::string_view heading, std::string_view note,
                      std::initializer_list<std::string_view> columns,
                      std::span<const std::vector<Cell>> rows) {
  std::string html = absl::StrCat("<section><div class=\"head\"><h2>", Escaped(heading),
                                  "</h2><span class=\"note\">", Escaped(note),
                                  "</span></div><div class=\"scroll\"><table><thead><tr>");
  for (const std::string_view column : columns) {
    const bool is_number = column.starts_with('>');
    absl::StrAppend(&html, is_number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">",
                    Escaped(column.substr(is_number ? 1 : 0)), "</th>");
  }
  absl::StrAppend(&html, "</tr></thead><tbody>\n");
  for (const std::vector<Cell>& row : rows) {
    absl::StrAppend(&html, "<tr>");
    for (const Cell& cell : row) absl::StrAppend(&html, cell.html());
    absl::StrAppend(&html, "</tr>\n");
  }
  if (rows.empty()) {
    absl::StrAppend(&html, "<tr><td class=\"muted\" colspan=\"", columns.size(),
                    "\">none yet</td></tr>\n");
  }
  return absl::StrCat(html, "</tbody></table></div></section>\n");
}

std::string CardHtml(std::string_view label, std::string_view number,
                     std::span<const double> curve) {
  return absl::StrCat("<div class=\"card\"><div class=\"label\">", Escaped(label),
                      "</div><div class=\"number\">", Escaped(number), "</div>",
                      curve.empty() ? "" : CurveSvg(curve), "</div>\n");
}

std::string DocumentHtml(std::string_view title, std::string_view head, std::string_view body) {
  return absl::StrCat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<title>",
      Escaped(title), "</title>\n", ToAbsl(head), "<style>", kStyle,
      "</style></head>\n<body><main>\n", ToAbsl(body), "</main></body></html>\n");
}

}  // namespace opserve::server
