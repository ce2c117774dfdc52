#include "server/http/views/page.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/strings.h"
#include "core/op/profile.h"
#include "server/http/views/html.h"
#include "server/http/views/number_text.h"
#include "server/http/views/page_parts.h"

namespace opserve::server {
namespace {

using Rows = std::vector<std::vector<Cell>>;

template <size_t kCount>
std::array<int64_t, kCount> Growth(const std::array<int64_t, kCount>& now,
                                   const std::array<int64_t, kCount>& before) {
  std::array<int64_t, kCount> growth = {};
  for (size_t i = 0; i < kCount; ++i) growth[i] = now[i] - before[i];
  return growth;
}

template <size_t kCodes>
int64_t ErrorsOf(const std::array<int64_t, kCodes>& ended) {
  return std::accumulate(ended.begin() + 1, ended.end(), int64_t{0});
}

template <size_t kCodes>
int64_t AllOf(const std::array<int64_t, kCodes>& ended) {
  return ended[0] + ErrorsOf(ended);
}

std::string QuantileText(const DurationCounts& counts, double quantile) {
  return AllOf(counts) == 0 ? "–" : TimeText(QuantileOf(counts, quantile));
}

std::string PerSecond(double rate) { return absl::StrCat(CountText(rate), "/s"); }

double LastOf(const std::vector<double>& rates) { return rates.empty() ? 0 : rates.back(); }

int64_t EndedRpcs(const ServerCounts& counts) {
  int64_t ended = 0;
  for (const ServerCounts::OfMethod& method : counts.methods) ended += AllOf(method.ended);
  return ended;
}

int64_t AllErrors(const ServerCounts& counts) {
  return std::accumulate(counts.errors.begin(), counts.errors.end(), int64_t{0});
}

class PageWriter {
 public:
  PageWriter(const ServerView& view, const History& history, const PageOptions& options)
      : view_(view), history_(history), options_(options) {
    if (!history.moments().empty()) before_ = &history.moments().front();
    note_ = before_ == nullptr
                ? ""
                : absl::StrCat("times of the last ",
                               LongTimeText(std::max(view.time - before_->time, absl::Seconds(1))));
  }

  std::string Write(absl::Duration refresh) {
    std::string body = Header();
    absl::StrAppend(&body, Cards(), Operators(), Methods(), Devices(), Bounds(), Errors(), Flags(),
                    Footer(refresh));
    std::string head;
    if (refresh > absl::ZeroDuration()) {
      head = absl::StrCat("<meta http-equiv=\"refresh\" content=\"", absl::ToInt64Seconds(refresh),
                          "\">\n");
    }
    return DocumentHtml("opserve", head, body);
  }

 private:
  std::string Header() const {
    const bool is_ready = view_.not_ready.empty();
    std::string html = absl::StrCat(
        "<header><h1>opserve</h1><span class=\"muted\">" OPSERVE_VERSION
        "</span><span class=\"state ",
        is_ready ? "good\">ready" : "bad\">not ready", "</span><span class=\"muted\">up ",
        LongTimeText(view_.uptime), "</span><span class=\"muted name\">",
        HtmlText(absl::StrJoin(options_.addresses, " ")), "</span></header>\n");
    if (is_ready) return html;
    absl::StrAppend(&html, "<ul class=\"reasons\">");
    for (const std::string& reason : view_.not_ready)
      absl::StrAppend(&html, "<li>", HtmlText(reason), "</li>");
    return absl::StrCat(html, "</ul>\n");
  }

  std::string Cards() const {
    const std::vector<double> rpcs =
        history_.Rates([](const History::Moment& moment) { return EndedRpcs(moment.counts); });
    const std::vector<double> calls = history_.Rates([](const History::Moment& moment) {
      return moment.engine.inline_calls + moment.engine.queued_calls;
    });
    const std::vector<double> errors =
        history_.Rates([](const History::Moment& moment) { return AllErrors(moment.counts); });
    std::vector<double> waits;
    for (const History::Moment& moment : history_.moments())
      waits.push_back(absl::ToDoubleSeconds(moment.engine.expected_wait));
    return absl::StrCat("<div class=\"cards\">", CardHtml("RPCs", PerSecond(LastOf(rpcs)), rpcs),
                        CardHtml("operator calls", PerSecond(LastOf(calls)), calls),
                        CardHtml("errors", PerSecond(LastOf(errors)), errors),
                        CardHtml("expected wait", TimeText(view_.engine.expected_wait), waits),
                        Levels(), "</div>\n");
  }

  std::string Levels() const {
    const ServerCounts& counts = view_.counts;
    const auto sessions =
        static_cast<double>(std::max<int64_t>(counts.sessions_opened - counts.sessions_closed, 0));
    return absl::StrCat(
        CardHtml("queued or running",
                 absl::StrCat(view_.engine.calls_in_flight, " (",
                              BytesText(static_cast<double>(view_.engine.bytes_in_flight)), ")")),
        CardHtml("sessions / connections",
                 absl::StrCat(CountText(sessions), " / ",
                              CountText(static_cast<double>(view_.connections)))));
  }

  std::vector<Cell> OperatorRow(const OperatorStatistics& now) const {
    const OperatorStatistics before =
        before_ == nullptr ? OperatorStatistics() : StatisticsOf(before_->engine, now.op);
    const std::vector<double> rates = history_.Rates([&now](const History::Moment& moment) {
      return StatisticsOf(moment.engine, now.op).calls;
    });
    const DurationCounts executed = Growth(now.executed, before.executed);
    const DurationCounts queued = Growth(now.queued, before.queued);
    return {Cell::Name(now.op),
            Cell::Curve(rates, PerSecond(LastOf(rates))),
            Cell::Number(QuantileText(executed, 0.5)),
            Cell::Number(QuantileText(executed, 0.99)),
            Cell::Number(QuantileText(queued, 0.99)),
            Cell::Errors(ErrorsOf(now.ended)),
            Cell::Number(CountText(static_cast<double>(now.calls)))};
  }

  std::string Operators() const {
    std::vector<const OperatorStatistics*> operators;
    for (const OperatorStatistics& each : view_.engine.operators) operators.push_back(&each);
    std::stable_sort(operators.begin(), operators.end(),
                     [](const auto* a, const auto* b) { return a->calls > b->calls; });
    Rows rows;
    for (const OperatorStatistics* each : operators) rows.push_back(OperatorRow(*each));
    return TableHtml(
        "Operators", note_,
        {"operator", ">calls", ">runs p50", ">runs p99", ">waits p99", ">errors", ">all calls"},
        rows);
  }

  std::string Methods() const {
    Rows rows;
    for (size_t i = 0; i < kNumMethods; ++i) {
      const ServerCounts::OfMethod& now = view_.counts.methods[i];
      if (now.begun == 0) continue;
      const std::vector<double> rates = history_.Rates(
          [i](const History::Moment& moment) { return AllOf(moment.counts.methods[i].ended); });
      const DurationCounts took =
          before_ == nullptr ? now.took : Growth(now.took, before_->counts.methods[i].took);
      rows.push_back({Cell::Name(MethodName(static_cast<Method>(i))),
                      Cell::Curve(rates, PerSecond(LastOf(rates))),
                      Cell::Number(QuantileText(took, 0.5)), Cell::Number(QuantileText(took, 0.99)),
                      Cell::Number(absl::StrCat(InFlightOf(now))),
                      Cell::Errors(ErrorsOf(now.ended)),
                      Cell::Number(BytesText(static_cast<double>(now.request_bytes))),
                      Cell::Number(BytesText(static_cast<double>(now.response_bytes)))});
    }
    if (view_.counts.sessions_opened > 0) rows.push_back(SessionRow());
    return TableHtml(
        "Methods", note_,
        {"method", ">calls", ">p50", ">p99", ">in flight", ">errors", ">received", ">sent"}, rows);
  }

  // Its calls are commands.
  std::vector<Cell> SessionRow() const {
    const ServerCounts& now = view_.counts;
    const std::vector<double> rates = history_.Rates(
        [](const History::Moment& moment) { return moment.counts.session_commands; });
    return {
        Cell::Name("Session"),
        Cell::Curve(rates, PerSecond(LastOf(rates))),
        Cell::Number("–"),
        Cell::Number("–"),
        Cell::Number(absl::StrCat(std::max<int64_t>(now.sessions_opened - now.sessions_closed, 0))),
        Cell::Errors(now.session_failed_commands),
        Cell::Number(BytesText(static_cast<double>(now.session_request_bytes))),
        Cell::Number(BytesText(static_cast<double>(now.session_response_bytes)))};
  }

  static Cell BytesOf(int64_t used, int64_t most) {
    return Cell::Share(static_cast<double>(used), static_cast<double>(most),
                       absl::StrCat(BytesText(static_cast<double>(used)), " of ",
                                    BytesText(static_cast<double>(most))));
  }

  std::string Devices() const {
    Rows rows;
    for (const DeviceView& device : view_.devices) {
      rows.push_back(
          {Cell::Name(device.info.name),
           Cell::Text(absl::StrCat(device.info.description, ", profile ",
                                   ToAbsl(ProfileName(device.info.profile)))),
           Cell::Text(device.lost.empty() ? "works" : absl::StrCat("lost: ", device.lost)),
           BytesOf(device.memory.used_bytes, device.memory.limit_bytes),
           Cell::Number(BytesText(static_cast<double>(device.memory.cached_bytes)))});
    }
    return TableHtml("Devices", "",
                     {"device", "what it is", "state", ">memory in use", ">kept warm"}, rows);
  }

  std::string Bounds() const {
    Rows rows;
    const EngineStatistics& engine = view_.engine;
    const auto add = [&rows](std::string_view name, Cell cell, int64_t refused) {
      rows.push_back({Cell::Text(name), std::move(cell), Cell::Errors(refused)});
    };
    for (const DeviceView& device : view_.devices) {
      add(absl::StrCat("memory of ", device.info.name),
          BytesOf(device.memory.used_bytes, device.memory.limit_bytes), device.memory.refused);
    }
    add("host memory that clients take",
        BytesOf(view_.host_memory.used_bytes, view_.host_memory.limit_bytes),
        view_.host_memory.refused);
    if (view_.shared_memory.has_value()) {
      add("shared memory", BytesOf(view_.shared_memory->bytes, view_.shared_memory->limit_bytes),
          view_.shared_memory->refused);
    }
    add("calls in flight", Cell::Number(absl::StrCat(engine.calls_in_flight)),
        engine.refused_calls);
    add("their bytes", Cell::Number(BytesText(static_cast<double>(engine.bytes_in_flight))),
        engine.refused_bytes);
    add("expected wait", Cell::Number(TimeText(engine.expected_wait)), engine.refused_wait);
    add("wait beyond the call's deadline", Cell::Number("–"), engine.refused_deadline);
    add("connections", Cell::Number(absl::StrCat(view_.connections)), view_.connections_refused);
    add("sessions opened", Cell::Number(absl::StrCat(view_.counts.sessions_opened)),
        view_.counts.sessions_refused);
    const auto lookups = static_cast<double>(view_.plans.hits + view_.plans.misses);
    add("plans of small calls that are kept",
        Cell::Share(static_cast<double>(view_.plans.hits), lookups,
                    absl::StrCat(view_.plans.entries, ", found for ",
                                 CountText(100 * static_cast<double>(view_.plans.hits) /
                                           std::max(lookups, 1.0)),
                                 " % of calls")),
        0);
    add("memory of the process",
        Cell::Number(BytesText(static_cast<double>(view_.process.resident_bytes))), 0);
    return TableHtml("What is bounded", "", {"", ">now", ">refused"}, rows);
  }

  std::string Errors() const {
    Rows rows;
    for (const RecentError& error : view_.errors) {
      rows.push_back({Cell::Number(absl::StrCat(LongTimeText(view_.time - error.time), " ago")),
                      Cell::Text(error.what), Cell::Name(error.reason), Cell::Text(error.message),
                      Cell::Number(error.left_out > 0 ? absl::StrCat("+", error.left_out) : "")});
    }
    return TableHtml("Latest errors and refusals", "newest first",
                     {">when", "what", "reason", "message", ">before it"}, rows);
  }

  std::string Flags() const {
    Rows given;
    Rows others;
    for (const FlagValue& flag : options_.flags)
      (flag.is_given ? given : others).push_back({Cell::Name(flag.name), Cell::Name(flag.value)});
    std::string html;
    if (!given.empty()) html = TableHtml("Flags that were given", "", {"flag", "value"}, given);
    return absl::StrCat(
        html, "<details><summary>Flags that have their default</summary>",
        TableHtml("", "empty: it follows from other flags", {"flag", "value"}, others),
        "</details>\n");
  }

  static std::string Footer(absl::Duration refresh) {
    const bool refreshes = refresh > absl::ZeroDuration();
    return absl::StrCat(
        "<footer><a href=\"/playground\">playground</a><a href=\"/metrics\">metrics</a><a "
        "href=\"/readyz\">readyz</a><a "
        "href=\"/livez\">livez</a>",
        refreshes ? absl::StrCat("<span>reloads every ", absl::ToInt64Seconds(refresh),
                                 " s · <a href=\"/?refresh=0\">stop that</a></span>")
                  : "<a href=\"/\">reload now and then</a>",
        "</footer>\n");
  }

  const ServerView& view_;
  const History& history_;
  const PageOptions& options_;
  const History::Moment* before_ = nullptr;
  std::string note_;
};

}  // namespace

std::string WritePage(const ServerView& view, const History& history, const PageOptions& options,
                      absl::Duration refresh) {
  return PageWriter(view, history, options).Write(refresh);
}

}  // namespace opserve::server
