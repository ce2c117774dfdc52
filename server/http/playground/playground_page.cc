#include "server/http/playground/playground_page.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/strings.h"
#include "server/http/playground/call_text.h"
#include "server/http/playground/plot.h"
#include "server/http/views/html.h"
#include "server/http/views/page_parts.h"

namespace opserve::server {
namespace {

std::string FieldNumber(double number) { return absl::StrFormat("%.9g", number); }

std::string Option(std::string_view value, bool is_chosen) {
  const std::string text = HtmlText(value);
  return absl::StrCat("<option value=\"", text, "\"", is_chosen ? " selected" : "", ">", text,
                      "</option>");
}

std::string Field(std::string_view label, std::string_view help, std::string_view control) {
  return absl::StrCat("<label title=\"", HtmlText(help), "\"><span class=\"name\">",
                      HtmlText(label), "</span>", ToAbsl(control), "</label>\n");
}

std::string Select(std::string_view name, std::string_view options) {
  return absl::StrCat("<select name=\"", HtmlText(name), "\">", ToAbsl(options), "</select>");
}

// `low` and `high` bound the slider that the script puts beside it, not the number.
std::string NumberInput(std::string_view name, std::string_view value, double low, double high) {
  return absl::StrCat("<input type=\"number\" step=\"any\" name=\"", HtmlText(name), "\" value=\"",
                      HtmlText(value), "\" data-low=\"", FieldNumber(low), "\" data-high=\"",
                      FieldNumber(high), "\">");
}

class FormWriter {
 public:
  explicit FormWriter(const PlaygroundPage& page) : page_(page), setting_(page.setting) {}

  std::string Write() const {
    std::string form = Field("operator", "what is computed", Select("op", Operators()));
    absl::StrAppend(&form, Attributes(), Swept(), Inputs(), Ends());
    return absl::StrCat("<form method=\"get\" action=\"/playground\">\n", form,
                        "<button>Draw</button></form>\n");
  }

 private:
  std::string Operators() const {
    std::string options;
    for (const Operator* op : page_.operators)
      absl::StrAppend(&options, Option(op->name, op == setting_.op));
    return options;
  }

  std::string Attributes() const {
    std::string html;
    for (const AttributeField& field : page_.fields) {
      const AttributeParam& attribute = setting_.op->attributes[field.attribute];
      absl::StrAppend(&html, Field(attribute.name, attribute.summary, AttributeControl(field)));
    }
    return html;
  }

  std::string AttributeControl(const AttributeField& field) const {
    const AttributeParam& attribute = setting_.op->attributes[field.attribute];
    const AttributeValue& value = setting_.attributes[field.attribute];
    const std::string name = absl::StrCat("a.", ToAbsl(attribute.name));
    if (!field.choices.empty()) {
      std::string options;
      for (const AttributeChoice* choice : field.choices)
        absl::StrAppend(&options, Option(choice->name, AttributeValue(choice->value) == value));
      return Select(name, options);
    }
    if (const bool* flag = std::get_if<bool>(&value))
      return Select(name, absl::StrCat(Option("false", !*flag), Option("true", *flag)));
    const auto* integer = std::get_if<int64_t>(&value);
    const double number =
        integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
    const AttributeRange range = attribute.range.value_or(AttributeRange());
    const double low = std::max(range.minimum.value_or(-5), -1e3);
    const double high = std::min(range.maximum.value_or(std::max(low + 5, 5.0)), 1e3);
    return NumberInput(name, FieldNumber(number), low, high);
  }

  std::string Swept() const {
    std::string options;
    for (size_t i = 0; i < setting_.op->inputs.size(); ++i)
      absl::StrAppend(&options, Option(setting_.op->inputs[i].name, i == setting_.swept));
    return Field("over", "the input that goes over the range", Select("sweep", options));
  }

  std::string Inputs() const {
    std::string html;
    for (size_t i = 0; i < setting_.op->inputs.size(); ++i) {
      if (i == setting_.swept) continue;
      const TensorParam& input = setting_.op->inputs[i];
      const std::optional<double>& value = setting_.inputs[i];
      const std::string text = value.has_value() ? FieldNumber(*value) : "";
      absl::StrAppend(&html, Field(input.name, input.summary,
                                   NumberInput(absl::StrCat("i.", ToAbsl(input.name)), text,
                                               setting_.from, setting_.to)));
    }
    return html;
  }

  std::string Ends() const {
    std::string html;
    for (const auto& [name, value] :
         {std::pair("from", setting_.from), std::pair("to", setting_.to)}) {
      absl::StrAppend(&html, Field(name, "end of the range",
                                   absl::StrCat("<input type=\"number\" step=\"any\" name=\"", name,
                                                "\" value=\"", FieldNumber(value), "\">")));
    }
    return html;
  }

  const PlaygroundPage& page_;
  const Setting& setting_;
};

std::string CodeHtml(std::string_view title, std::string_view code, bool is_open) {
  return absl::StrCat("<details", is_open ? " open" : "", "><summary>", HtmlText(title),
                      "</summary><pre>", HtmlText(code), "</pre></details>\n");
}

std::string CallsHtml(const PlayedCall& call, std::string_view address) {
  return absl::StrCat(
      "<section class=\"calls\"><div class=\"head\"><h2>", HtmlText(call.op->name),
      "</h2><span class=\"note\">the same call, at three of its points</span></div>",
      CodeHtml("Python", PythonText(call, address), true),
      CodeHtml("Go", GoText(call, address), false),
      CodeHtml("Command line", CommandText(call, address), false),
      CodeHtml("grpcurl", GrpcurlText(call, address), false), "</section>\n");
}

std::string Drawn(const PlaygroundPage& page) {
  if (!page.curves.ok()) {
    return absl::StrCat("<ul class=\"reasons\"><li>",
                        HtmlText(ToStd(page.curves.status().message())), "</li></ul>");
  }
  const Curves& curves = *page.curves;
  return absl::StrCat(PlotHtml(page.setting.op->name, curves.x, curves.outputs),
                      PlotHtml(page.setting.op->gradient.op, curves.x, curves.gradients),
                      CallsHtml(curves.backward, page.address),
                      CallsHtml(curves.forward, page.address));
}

}  // namespace

std::string WritePlayground(const PlaygroundPage& page) {
  const std::string header = absl::StrCat(
      "<header><h1>opserve</h1><span class=\"muted\">playground</span><a href=\"/\">server</a>"
      "</header>\n");
  return DocumentHtml(
      "opserve playground", "<script src=\"/playground.js\" defer></script>\n",
      absl::StrCat(header, "<div class=\"play\"><aside>", FormWriter(page).Write(),
                   "<p class=\"note\">", HtmlText(page.setting.op->summary),
                   "</p></aside><div id=\"drawn\">", Drawn(page), "</div></div>\n"));
}

constexpr std::string_view kPlaygroundScript = R"js("use strict";
const form = document.querySelector("form");
const pause = 150;
let timer = 0, running = false, again = false;

function addSlider(number) {
  const slider = document.createElement("input");
  slider.type = "range";
  slider.min = number.dataset.low;
  slider.max = number.dataset.high;
  slider.step = (slider.max - slider.min) / 200 || "any";
  slider.value = number.value;
  slider.setAttribute("aria-label", number.name);
  slider.addEventListener("input", () => { number.value = slider.value; });
  number.addEventListener("input", () => { slider.value = number.value; });
  number.before(slider);
}

async function draw() {
  if (running) { again = true; return; }
  running = true;
  const url = "/playground?" + new URLSearchParams(new FormData(form));
  try {
    const answer = await fetch(url);
    if (answer.status === 429) {
      again = true;
      await new Promise(resume => setTimeout(resume, 1000));
    } else if (answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const drawn = page.getElementById("drawn");
      const open = [...document.querySelectorAll("#drawn details")].map(each => each.open);
      [...drawn.querySelectorAll("details")].forEach((each, i) => { if (i in open) each.open = open[i]; });
      document.getElementById("drawn").replaceWith(drawn);
      history.replaceState(null, "", url);
    }
  } catch (error) {
    console.warn(error);
  }
  running = false;
  if (again) { again = false; drawSoon(); }
}

function drawSoon() {
  clearTimeout(timer);
  timer = setTimeout(draw, pause);
}

form.querySelectorAll("[data-low]").forEach(addSlider);
form.classList.add("live");
form.addEventListener("input", event => {
  if (["op", "sweep"].includes(event.target.name)) form.submit();
  else drawSoon();
});
)js";

}  // namespace opserve::server
