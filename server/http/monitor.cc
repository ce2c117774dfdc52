#include "server/http/monitor.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/http/playground/playground.h"
#include "server/http/views/history.h"
#include "server/http/views/metrics.h"
#include "server/http/views/open_metrics.h"

namespace opserve::server {
namespace {

constexpr absl::Duration kRefresh = absl::Seconds(5);

HttpResponse AnswerReady(const Readiness& readiness) {
  const std::vector<std::string> reasons = readiness.reasons();
  if (reasons.empty()) return {.body = "ready\n"};
  HttpResponse response{.status = 503};
  for (const std::string& reason : reasons)
    absl::StrAppend(&response.body, "not ready: ", reason, "\n");
  return response;
}

// What the page is made of; the port's thread alone uses it.
class Monitor {
 public:
  Monitor(const ViewSources& sources, PageOptions page)
      : sources_(sources),
        page_(std::move(page)),
        playground_(sources.engine, page_.addresses.empty() ? "" : page_.addresses.front()),
        start_(sources.clock.Now()) {}

  void Tick() { history_.Note(sources_.clock.Now(), sources_.counters, sources_.engine); }

  HttpResponse AnswerMetrics(const HttpRequest& request) const {
    const ServerView view = TakeView(sources_, start_);
    const bool is_open = PrefersOpenMetrics(request.accept);
    return {.content_type = is_open ? kOpenMetricsContentType : kMetricsContentType,
            .body = is_open ? WriteOpenMetrics(view) : WriteMetrics(view),
            .headers = {{"Vary", "Accept"}}};
  }

  HttpResponse AnswerPage(const HttpRequest& request) const {
    const absl::Duration refresh =
        request.Argument("refresh") == "0" ? absl::ZeroDuration() : kRefresh;
    return {.content_type = kPageContentType,
            .body = WritePage(TakeView(sources_, start_), history_, page_, refresh)};
  }

  HttpResponse AnswerPlayground(const HttpRequest& request) const {
    return playground_.Answer(request);
  }

 private:
  const ViewSources sources_;
  const PageOptions page_;
  const Playground playground_;
  const absl::Time start_;
  History history_;
};

std::vector<HttpRoute> RoutesOf(const ViewSources& sources,
                                const std::shared_ptr<const Monitor>& monitor) {
  using Weight = HttpRoute::Weight;
  std::vector<HttpRoute> routes;
  const auto add = [&routes](std::string_view path, Weight weight, auto answer) {
    routes.push_back({.path = path, .weight = weight, .answer = std::move(answer)});
  };
  add("/livez", Weight::kLight, [](const HttpRequest&) { return HttpResponse{.body = "alive\n"}; });
  add("/readyz", Weight::kLight,
      [&readiness = sources.readiness](const HttpRequest&) { return AnswerReady(readiness); });
  add("/metrics", Weight::kHeavy,
      [monitor](const HttpRequest& request) { return monitor->AnswerMetrics(request); });
  add("/", Weight::kHeavy,
      [monitor](const HttpRequest& request) { return monitor->AnswerPage(request); });
  add("/playground", Weight::kHeavy,
      [monitor](const HttpRequest& request) { return monitor->AnswerPlayground(request); });
  add("/playground.js", Weight::kLight, [](const HttpRequest&) {
    return HttpResponse{.content_type = "text/javascript; charset=utf-8",
                        .body = std::string(kPlaygroundScript)};
  });
  return routes;
}

}  // namespace

HttpLimits LimitsWithApi() {
  HttpLimits limits;
  limits.max_connections = 256;
  limits.idle_time = absl::Seconds(50);
  return limits;
}

absl::StatusOr<std::unique_ptr<HttpPort>> StartMonitor(std::vector<Listener> listeners,
                                                       const ViewSources& sources, PageOptions page,
                                                       HttpApi* api) {
  const auto monitor = std::make_shared<Monitor>(sources, std::move(page));
  return HttpPort::Start(
      std::move(listeners), RoutesOf(sources, monitor), [monitor] { monitor->Tick(); },
      api == nullptr ? HttpLimits() : LimitsWithApi(), api);
}

}  // namespace opserve::server
