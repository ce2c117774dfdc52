#include "server/http/views/open_metrics.h"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;

// Of a help text or a label's value.
std::string EscapedText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped.push_back('\\');
    if (c == '\n') {
      escaped.append("\\n");
    } else {
      escaped.push_back(c);
    }
  }
  return escaped;
}

// With as many digits as tell it from every other number.
std::string NumberText(double value) {
  std::array<char, 32> text = {};
  const auto [end, error] = std::to_chars(text.begin(), text.end(), value);
  return {text.begin(), end};
}

// A bound of a bucket. A label is a text: each bound has one that all writers of the format agree
// on.
std::string BoundText(double bound) {
  if (std::isinf(bound)) return "+Inf";
  std::string text = absl::StrCat(bound);
  if (text.find_first_of(".e") == std::string::npos) text.append(".0");
  return text;
}

// `{a="1",b="2"}`, of the labels and, where it is not empty, `le`; nothing without any.
std::string LabelsText(const std::vector<ClientMetric::Label>& labels, const std::string& le) {
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view value) {
    absl::StrAppend(&text, text.empty() ? "{" : ",", ToAbsl(name), "=\"", EscapedText(value), "\"");
  };
  for (const ClientMetric::Label& label : labels) add(label.name, label.value);
  if (!le.empty()) add("le", le);
  return text.empty() ? text : text.append("}");
}

bool IsZero(const std::array<uint8_t, 8>& id) {
  return std::all_of(id.begin(), id.end(), [](uint8_t byte) { return byte == 0; });
}

// ` # {trace_id="…",span_id="…"} 0.0012 1700000000.123`. Whole nanoseconds, so that it is never
// above its bucket's bound.
std::string ExemplarText(const Exemplar& exemplar) {
  std::string text = absl::StrCat(" # {trace_id=\"", HexOf(exemplar.trace.trace_id), "\"");
  if (!IsZero(exemplar.trace.parent_id))
    absl::StrAppend(&text, ",span_id=\"", HexOf(exemplar.trace.parent_id), "\"");
  const double seconds = static_cast<double>(absl::ToInt64Nanoseconds(exemplar.value)) / 1e9;
  const double time = static_cast<double>(absl::ToUnixMillis(exemplar.time)) / 1e3;
  return absl::StrCat(text, "} ", NumberText(seconds), " ", absl::StrFormat("%.3f", time));
}

void AppendSample(std::string_view name, const std::string& labels, double value,
                  std::string& text) {
  absl::StrAppend(&text, ToAbsl(name), labels, " ", NumberText(value), "\n");
}

void AppendHistogram(const std::string& name, const ClientMetric& series, std::string& text,
                     ExemplarOf exemplar_of) {
  const ClientMetric::Histogram& histogram = series.histogram;
  for (size_t i = 0; i < histogram.bucket.size(); ++i) {
    const ClientMetric::Bucket& bucket = histogram.bucket[i];
    absl::StrAppend(&text, name, "_bucket", LabelsText(series.label, BoundText(bucket.upper_bound)),
                    " ", bucket.cumulative_count);
    if (const Exemplar* exemplar = exemplar_of(series, i)) text.append(ExemplarText(*exemplar));
    text.append("\n");
  }
  const std::string labels = LabelsText(series.label, "");
  absl::StrAppend(&text, name, "_count", labels, " ", histogram.sample_count, "\n");
  AppendSample(name + "_sum", labels, histogram.sample_sum, text);
}

// The name without what the type alone says, and the type.
struct Kind {
  absl::string_view name;
  const char* type = nullptr;
};

Kind KindOf(const MetricFamily& family) {
  absl::string_view name = family.name;
  if (family.type == prometheus::MetricType::Histogram) return {name, "histogram"};
  if (absl::ConsumeSuffix(&name, "_total")) return {name, "counter"};
  if (absl::ConsumeSuffix(&name, "_info")) return {name, "info"};
  return {name, "gauge"};
}

void AppendHead(const MetricFamily& family, std::string& text) {
  const Kind kind = KindOf(family);
  absl::StrAppend(&text, "# TYPE ", kind.name, " ", kind.type, "\n");
  for (const char* unit : {"seconds", "bytes"}) {
    if (absl::EndsWith(kind.name, absl::StrCat("_", unit)))
      absl::StrAppend(&text, "# UNIT ", kind.name, " ", unit, "\n");
  }
  absl::StrAppend(&text, "# HELP ", kind.name, " ", EscapedText(family.help), "\n");
}

// How much a client wants what one part of its Accept headers names: 0 to 1.
double WeightOf(const std::vector<absl::string_view>& parameters) {
  for (const absl::string_view parameter : parameters) {
    absl::string_view value = absl::StripAsciiWhitespace(parameter);
    double weight = 0;
    if (!absl::ConsumePrefix(&value, "q=") && !absl::ConsumePrefix(&value, "Q=")) continue;
    return absl::SimpleAtod(value, &weight) && weight >= 0 && weight <= 1 ? weight : 0;
  }
  return 1;
}

// Of a version that is not this one. 0.0.1 was a draft of it.
bool IsOtherVersion(absl::string_view parameter) {
  parameter = absl::StripAsciiWhitespace(parameter);
  return absl::ConsumePrefix(&parameter, "version=") && parameter != "1.0.0" &&
         parameter != "0.0.1" && parameter != "\"1.0.0\"";
}

}  // namespace

void AppendOpenMetrics(const MetricFamily& family, std::string& text, ExemplarOf exemplar_of) {
  AppendHead(family, text);
  for (const ClientMetric& series : family.metric) {
    if (family.type == prometheus::MetricType::Histogram) {
      AppendHistogram(family.name, series, text, exemplar_of);
    } else {
      AppendSample(family.name, LabelsText(series.label, ""),
                   family.type == prometheus::MetricType::Counter ? series.counter.value
                                                                  : series.gauge.value,
                   text);
    }
  }
}

bool PrefersOpenMetrics(std::string_view accept) {
  double open = 0;
  double plain = 0;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(accept), ',')) {
    std::vector<absl::string_view> parameters = absl::StrSplit(part, ';');
    const absl::string_view type = absl::StripAsciiWhitespace(parameters.front());
    parameters.erase(parameters.begin());
    if (absl::EqualsIgnoreCase(type, "text/plain")) plain = std::max(plain, WeightOf(parameters));
    if (absl::EqualsIgnoreCase(type, "application/openmetrics-text") &&
        std::none_of(parameters.begin(), parameters.end(), &IsOtherVersion))
      open = std::max(open, WeightOf(parameters));
  }
  return open > 0 && open >= plain;
}

}  // namespace opserve::server
