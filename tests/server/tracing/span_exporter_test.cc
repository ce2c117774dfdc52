#include "server/tracing/span_exporter.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "server/tracing/call_observer.h"
#include "server/tracing/otlp_json.h"

namespace opserve::server {
namespace {

using Kind = CollectorAnswer::Kind;
using nlohmann::json;

constexpr char kParent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

CallRecord TracedCall() {
  CallRecord call;
  call.method = "Execute";
  call.op = "L1Loss";
  call.peer = "ipv4:127.0.0.1:40000";
  call.request_bytes = 100;
  call.trace = ParseTraceParent(kParent);
  call.is_sampled = true;
  const absl::Time begun = absl::FromUnixSeconds(1000);
  call.phases = {.begun = begun,
                 .handed_over = begun + absl::Nanoseconds(10),
                 .queued = absl::Nanoseconds(20),
                 .executed = absl::Nanoseconds(30),
                 .answered = begun + absl::Nanoseconds(70),
                 .ended = begun + absl::Nanoseconds(100)};
  call.ended_at = absl::FromUnixNanos(1'700'000'000'000'000'100);
  return call;
}

json AttributesOf(const json& span) {
  json attributes;
  for (const json& attribute : span["attributes"]) {
    EXPECT_FALSE(attributes.contains(attribute["key"])) << attribute;
    attributes[attribute["key"].get<std::string>()] = attribute["value"];
  }
  return attributes;
}

TEST(OtlpJsonTest, ACallIsASpanWithItsPhasesBelow) {
  const CallRecord call = TracedCall();
  uint64_t next = 0;
  const json request = json::parse(OtlpJson({&call, 1}, "1.2.3", [&] { return next++; }));
  const json& resource = request["resourceSpans"][0];
  EXPECT_EQ(resource["resource"]["attributes"][0],
            json::parse(R"({"key": "service.name", "value": {"stringValue": "opserve"}})"));
  EXPECT_EQ(resource["scopeSpans"][0]["scope"]["version"], "1.2.3");
  const json& spans = resource["scopeSpans"][0]["spans"];
  ASSERT_EQ(spans.size(), 5u);
  const json& span = spans[0];
  EXPECT_EQ(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span["spanId"], "0000000000000001") << "zeros are no id";
  EXPECT_EQ(span["parentSpanId"], "00f067aa0ba902b7");
  EXPECT_EQ(span["name"], "opserve.v1.OperatorService/Execute");
  EXPECT_EQ(span["kind"], 2);
  EXPECT_EQ(span["startTimeUnixNano"], "1700000000000000000");
  EXPECT_EQ(span["endTimeUnixNano"], "1700000000000000100");
  EXPECT_FALSE(span.contains("status"));
  const json attributes = AttributesOf(span);
  EXPECT_EQ(attributes["rpc.system"]["stringValue"], "grpc");
  EXPECT_EQ(attributes["rpc.grpc.status_code"]["intValue"], "0");
  EXPECT_EQ(attributes["opserve.operator"]["stringValue"], "L1Loss");
  EXPECT_EQ(attributes["opserve.request_bytes"]["intValue"], "100");
  const std::vector<std::string> ends = {"1700000000000000010", "1700000000000000030",
                                         "1700000000000000060", "1700000000000000100"};
  for (size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(spans[i + 1]["parentSpanId"], span["spanId"]);
    EXPECT_EQ(spans[i + 1]["kind"], 1);
    EXPECT_EQ(spans[i + 1]["endTimeUnixNano"], ends[i]);
  }
}

TEST(OtlpJsonTest, ASpanNamesTheServiceThatHasTheMethod) {
  CallRecord call = TracedCall();
  call.method = "ModelInfer";
  call.is_inference = true;
  const json request = json::parse(OtlpJson({&call, 1}, "1.2.3", [] { return 1; }));
  const json& span = request["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
  EXPECT_EQ(span["name"], "inference.GRPCInferenceService/ModelInfer");
}

TEST(OtlpJsonTest, OnlyAServersErrorIsAnError) {
  CallRecord call = TracedCall();
  const auto span = [&] {
    const json request = json::parse(OtlpJson({&call, 1}, "1", [] { return 7; }));
    return request["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
  };
  TakeStatus(OutOfRange("beta", ">= 0", "-1"), call);
  EXPECT_FALSE(span().contains("status"));
  EXPECT_EQ(AttributesOf(span())["opserve.reason"]["stringValue"], "OUT_OF_RANGE");
  TakeStatus(absl::InternalError("broken"), call);
  EXPECT_EQ(span()["status"]["code"], 2);
  call.trace->parent_id = {};
  EXPECT_FALSE(span().contains("parentSpanId")) << "a root";
}

// Answers as it is told, and counts the spans that came.
class FakeCollector final : public Collector {
 public:
  struct State {
    Mutex mutex;
    CondVar changed;
    std::vector<Kind> answers ABSL_GUARDED_BY(mutex);  // then kTaken
    int tries ABSL_GUARDED_BY(mutex) = 0;
    int64_t calls ABSL_GUARDED_BY(mutex) = 0;
    bool is_stuck ABSL_GUARDED_BY(mutex) = false;
    bool is_aborted ABSL_GUARDED_BY(mutex) = false;
  };
  explicit FakeCollector(State& state) : state_(state) {}

  CollectorAnswer Send(const std::string& body) override {
    const json request = json::parse(body);
    const MutexLock lock(state_.mutex);
    const size_t index = static_cast<size_t>(state_.tries++);
    state_.changed.NotifyAll();
    while (state_.is_stuck && !state_.is_aborted) state_.changed.Wait(state_.mutex);
    if (state_.is_aborted) return {Kind::kTryAgain, "aborted"};
    if (index < state_.answers.size()) return {state_.answers[index], "as told"};
    state_.calls +=
        static_cast<int64_t>(request["resourceSpans"][0]["scopeSpans"][0]["spans"].size() / 5);
    state_.changed.NotifyAll();
    return {};
  }
  void Abort() override {
    const MutexLock lock(state_.mutex);
    state_.is_aborted = true;
    state_.changed.NotifyAll();
  }

 private:
  State& state_;
};

class SpanExporterTest : public ::testing::Test {
 protected:
  std::unique_ptr<SpanExporter> Exporter() {
    return std::make_unique<SpanExporter>(std::make_unique<FakeCollector>(state_),
                                          absl::Milliseconds(1));
  }
  void Answer(std::vector<Kind> answers) {
    const MutexLock lock(state_.mutex);
    state_.answers = std::move(answers);
  }
  void AwaitTries(int tries) {
    const MutexLock lock(state_.mutex);
    while (state_.tries < tries) state_.changed.Wait(state_.mutex);
  }
  void AwaitCalls(int64_t calls) {
    const MutexLock lock(state_.mutex);
    while (state_.calls < calls) state_.changed.Wait(state_.mutex);
  }
  int64_t calls() {
    const MutexLock lock(state_.mutex);
    return state_.calls;
  }

  FakeCollector::State state_;
};

TEST_F(SpanExporterTest, SendsWhatItIsGiven) {
  const auto exporter = Exporter();
  for (size_t i = 0; i < 3 * SpanExporter::kMostTogether; ++i) exporter->Offer(TracedCall());
  AwaitCalls(3 * SpanExporter::kMostTogether);
  exporter->Stop();
  EXPECT_EQ(exporter->counts().exported, 3 * SpanExporter::kMostTogether);
  EXPECT_EQ(exporter->counts().dropped, 0);
  exporter->Offer(TracedCall());
  EXPECT_EQ(exporter->counts().dropped, 1) << "it was stopped";
}

TEST_F(SpanExporterTest, TriesAgainWhatIsNotTakenForTheMoment) {
  Answer({Kind::kTryAgain, Kind::kTryAgain});
  const auto exporter = Exporter();
  exporter->Offer(TracedCall());
  AwaitTries(3);
  exporter->Stop();
  EXPECT_EQ(calls(), 1);
  EXPECT_EQ(exporter->counts().dropped, 0);
}

TEST_F(SpanExporterTest, GivesUpAndCounts) {
  Answer(std::vector<Kind>(SpanExporter::kMostTries, Kind::kTryAgain));
  const auto exporter = Exporter();
  exporter->Offer(TracedCall());
  AwaitTries(SpanExporter::kMostTries);
  exporter->Offer(TracedCall());
  exporter->Stop();
  EXPECT_EQ(calls(), 1);
  EXPECT_EQ(exporter->counts().dropped, 1);
}

TEST_F(SpanExporterTest, WhatIsRefusedIsNotTriedAgain) {
  Answer({Kind::kRefused});
  const auto exporter = Exporter();
  exporter->Offer(TracedCall());
  AwaitTries(1);
  exporter->Offer(TracedCall());
  exporter->Stop();
  EXPECT_EQ(exporter->counts().dropped, 1);
  EXPECT_EQ(exporter->counts().exported, 1);
}

TEST_F(SpanExporterTest, ACollectorThatStandsStillCostsNoMoreThanTheQueue) {
  {
    const MutexLock lock(state_.mutex);
    state_.is_stuck = true;
  }
  const auto exporter = Exporter();
  exporter->Offer(TracedCall());
  AwaitTries(1);
  for (size_t i = 0; i < SpanExporter::kMostWaiting + 10; ++i) exporter->Offer(TracedCall());
  EXPECT_EQ(exporter->counts().dropped, 10);
  exporter->Stop();  // ends although the collector answers nothing
  EXPECT_EQ(exporter->counts().dropped, 1 + SpanExporter::kMostWaiting + 10);
  EXPECT_EQ(exporter->counts().exported, 0);
}

TEST_F(SpanExporterTest, TheClientsWordAndTheFlagDecideWhatIsSampled) {
  std::optional<TraceContext> sampled = ParseTraceParent(kParent);
  std::optional<TraceContext> not_sampled = sampled;
  not_sampled->flags = 0;
  std::optional<TraceContext> none;
  const CallObserver off;
  EXPECT_FALSE(off.IsWatching());
  EXPECT_FALSE(off.Samples(sampled));
  for (const double part : {0.0, 1.0}) {
    ObserverOptions options;
    options.exporter = Exporter();
    options.sampled_part = part;
    const CallObserver observer(std::move(options));
    EXPECT_TRUE(observer.IsWatching());
    EXPECT_TRUE(observer.Samples(sampled));
    EXPECT_FALSE(observer.Samples(not_sampled));
    EXPECT_EQ(observer.Samples(none), part > 0);
    EXPECT_EQ(none.has_value(), part > 0) << "a trace of its own";
  }
  EXPECT_TRUE(none->is_sampled());
  EXPECT_EQ(HexOf(none->parent_id), "0000000000000000");
  std::set<std::string> ids;
  ObserverOptions options;
  options.exporter = Exporter();
  options.sampled_part = 1;
  const CallObserver observer(std::move(options));
  for (int i = 0; i < 100; ++i) {
    none.reset();
    EXPECT_TRUE(observer.Samples(none));
    ids.insert(HexOf(none->trace_id));
  }
  EXPECT_EQ(ids.size(), 100u);
}

TEST(CollectorTest, UrlsAreReadStrictly) {
  const auto local = ParseCollectorUrl("http://localhost:4318");
  ASSERT_TRUE(local.ok());
  EXPECT_EQ(local->origin, "http://localhost:4318");
  EXPECT_EQ(local->path, "/v1/traces");
  const auto with_path = ParseCollectorUrl("https://[::1]:443/otlp/v1/traces");
  ASSERT_TRUE(with_path.ok());
  EXPECT_EQ(with_path->origin, "https://[::1]:443");
  EXPECT_EQ(with_path->path, "/otlp/v1/traces");
  EXPECT_TRUE(ParseCollectorUrl("http://collector/").ok());
  for (const char* text : {"", "localhost:4318", "http://", "http:///v1", "http://:4318",
                           "http://host:0", "http://host:65536", "http://host:port", "ftp://host",
                           "http://user@host", "http://host/a?b", "http://host /", "http://ho\nst",
                           "http://host:4318:1", "http://[::1", "http://ho[st"}) {
    const auto url = ParseCollectorUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(GetErrorDetail(url.status())->parameter, "--trace-endpoint");
  }
}

TEST(CollectorTest, AnswersAreRead) {
  EXPECT_EQ(ReadCollectorAnswer(200, "{}").kind, Kind::kTaken);
  EXPECT_EQ(ReadCollectorAnswer(200, R"({"partialSuccess":{"rejectedSpans":"3"}})").rejected_spans,
            3);
  EXPECT_EQ(ReadCollectorAnswer(200, R"({"partialSuccess":{"rejectedSpans":4}})").rejected_spans,
            4);
  for (const char* body : {"", "no JSON", "[]", "{\"partialSuccess\":3}",
                           "{\"partialSuccess\":{\"rejectedSpans\":\"many\"}}",
                           "{\"partialSuccess\":{\"rejectedSpans\":-3}}"}) {
    const CollectorAnswer answer = ReadCollectorAnswer(200, body);
    EXPECT_EQ(answer.kind, Kind::kTaken) << body;
    EXPECT_EQ(answer.rejected_spans, 0) << body;
  }
  for (const int status : {429, 502, 503, 504})
    EXPECT_EQ(ReadCollectorAnswer(status, "").kind, Kind::kTryAgain) << status;
  const CollectorAnswer refused = ReadCollectorAnswer(400, "no such field");
  EXPECT_EQ(refused.kind, Kind::kRefused);
  EXPECT_EQ(refused.why, "HTTP status 400: no such field");
}

}  // namespace
}  // namespace opserve::server
