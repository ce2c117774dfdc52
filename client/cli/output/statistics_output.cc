#include "client/cli/output/statistics_output.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace opserve::cli {
namespace {

constexpr char kOk[] = "OK";

// Of a counter that grew in `seconds`.
struct Rate {
  double seconds;

  double operator()(int64_t before, int64_t after) const {
    return static_cast<double>(after - before) / seconds;
  }
};

std::string Bytes(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  const int digits = unit == 0 || bytes >= 100 ? 0 : 1;
  return absl::StrFormat("%.*f %s", digits, bytes, kUnits[unit]);
}

std::string Bytes(int64_t bytes) { return Bytes(static_cast<double>(bytes)); }

// To three digits: 12.3us, 1h2m.
std::string Time(absl::Duration time) {
  absl::Duration digit = absl::Nanoseconds(1);
  while (time >= 1000 * digit) digit *= 10;
  return absl::FormatDuration(absl::Trunc(time, digit));
}

std::string Mean(absl::Duration sum, int64_t count) { return count <= 0 ? "-" : Time(sum / count); }

int64_t Ended(const client::MethodStatistics& method) {
  int64_t calls = 0;
  for (const auto& [name, count] : method.ended) calls = client::SumOfCounts(calls, count);
  return calls;
}

int64_t Failed(const client::MethodStatistics& method) {
  const auto ok = method.ended.find(kOk);
  return Ended(method) - (ok == method.ended.end() ? 0 : ok->second);
}

bool IsShown(const client::MethodStatistics& method, ShownMethods shown) {
  return shown == ShownMethods::kAll || method.in_flight > 0 || Ended(method) > 0;
}

int64_t Runs(const client::EngineStatistics& engine) {
  return client::SumOfCounts(engine.inline_calls, engine.queued_calls);
}

std::string DevicesText(const client::Statistics& now) {
  std::string text = "\n";
  for (const client::DeviceStatistics& device : now.devices) {
    absl::StrAppendFormat(&text, "%-18s %s used, %s cached, of %s; %d hits, %d misses\n",
                          device.device, Bytes(device.memory_used_bytes),
                          Bytes(device.memory_cached_bytes), Bytes(device.memory_limit_bytes),
                          device.memory_hits, device.memory_misses);
  }
  return text;
}

std::string SharedMemoryText(const client::SharedMemoryStatistics& shared) {
  if (shared.limit_bytes == 0) return "";
  return absl::StrFormat("shared memory      %s of %s in %d regions; %d allocated, %d refused\n",
                         Bytes(shared.bytes), Bytes(shared.limit_bytes), shared.regions,
                         shared.allocated, shared.refused);
}

std::string SessionsText(const client::SessionStatistics& sessions) {
  return absl::StrFormat(
      "\nsessions           %d open, %d opened, %d refused; %d commands (%d failed), %d answers\n"
      "                   %s in, %s out\n",
      sessions.open, sessions.opened, sessions.refused, sessions.commands, sessions.failed_commands,
      sessions.answers, Bytes(sessions.request_bytes), Bytes(sessions.response_bytes));
}

// Of queued calls. The engine's sum has what long batches waited, too, whose calls are not queued.
absl::Duration QueueWait(const client::Statistics& statistics) {
  absl::Duration wait;
  for (const client::OperatorStatistics& op : statistics.operators) wait += op.queue_wait;
  return wait;
}

std::string EngineText(const client::Statistics& statistics) {
  const client::EngineStatistics& engine = statistics.engine;
  return absl::StrFormat(
      "engine             %d calls at once, %d queued, %d failed; %d in flight (%s)\n"
      "                   refused: %d by calls, %d by bytes, %d by wait, %d by deadline\n"
      "                   dropped: %d expired, %d cancelled\n"
      "                   mean wait %s, mean execution %s; expected wait %s\n",
      engine.inline_calls, engine.queued_calls, engine.failed_calls, engine.calls_in_flight,
      Bytes(engine.bytes_in_flight), engine.refused_calls, engine.refused_bytes,
      engine.refused_wait, engine.refused_deadline, engine.expired_calls, engine.cancelled_calls,
      Mean(QueueWait(statistics), engine.queued_calls), Mean(engine.execution, Runs(engine)),
      Time(engine.expected_wait));
}

std::string OperatorsHeader() {
  return absl::StrFormat("\n%-22s %12s %12s %10s %10s %12s %12s\n", "operator", "calls", "failed",
                         "wait", "execution", "in", "out");
}

std::string OperatorsText(const client::Statistics& now) {
  std::string text = now.operators.empty() ? "" : OperatorsHeader();
  for (const client::OperatorStatistics& op : now.operators) {
    absl::StrAppendFormat(&text, "%-22s %12d %12d %10s %10s %12s %12s\n", op.op, op.calls,
                          op.failed_calls, Mean(op.queue_wait, op.calls),
                          Mean(op.execution, op.calls), Bytes(op.input_bytes),
                          Bytes(op.output_bytes));
  }
  return text;
}

const client::MethodStatistics* Find(const client::Statistics& statistics,
                                     const std::string& method) {
  for (const client::MethodStatistics& candidate : statistics.methods)
    if (candidate.method == method) return &candidate;
  return nullptr;
}

std::string OperatorRates(const client::Statistics& from, const client::Statistics& now,
                          Rate rate) {
  std::string text = now.operators.empty() ? "" : OperatorsHeader();
  std::map<std::string, client::OperatorStatistics> earlier;
  for (const client::OperatorStatistics& op : from.operators) earlier[op.op] = op;
  for (const client::OperatorStatistics& op : now.operators) {
    const client::OperatorStatistics& before = earlier[op.op];
    const int64_t calls = op.calls - before.calls;
    absl::StrAppendFormat(&text, "%-22s %12.1f %12.1f %10s %10s %10s/s %10s/s\n", op.op,
                          rate(before.calls, op.calls), rate(before.failed_calls, op.failed_calls),
                          Mean(op.queue_wait - before.queue_wait, calls),
                          Mean(op.execution - before.execution, calls),
                          Bytes(rate(before.input_bytes, op.input_bytes)),
                          Bytes(rate(before.output_bytes, op.output_bytes)));
  }
  return text;
}

// What was refused, and the errors of reasons that occurred.
std::string ErrorRates(const client::Statistics& from, const client::Statistics& now, Rate rate) {
  const client::EngineStatistics& before = from.engine;
  const client::EngineStatistics& after = now.engine;
  std::string text = absl::StrFormat(
      "                   refused: %.1f/s by calls, %.1f/s by bytes, %.1f/s by wait, %.1f/s by "
      "deadline\n",
      rate(before.refused_calls, after.refused_calls),
      rate(before.refused_bytes, after.refused_bytes),
      rate(before.refused_wait, after.refused_wait),
      rate(before.refused_deadline, after.refused_deadline));
  for (const auto& [reason, count] : now.errors) {
    const auto earlier = from.errors.find(reason);
    const int64_t known = earlier == from.errors.end() ? 0 : earlier->second;
    if (count > known)
      absl::StrAppendFormat(&text, "error              %.1f/s %s\n", rate(known, count), reason);
  }
  return text;
}

std::string RateLine(const client::MethodStatistics& before, const client::MethodStatistics& now,
                     Rate rate) {
  return absl::StrFormat("%-18s %12.1f %12.1f %6d %10s/s %10s/s\n", now.method,
                         rate(Ended(before), Ended(now)), rate(Failed(before), Failed(now)),
                         now.in_flight, Bytes(rate(before.request_bytes, now.request_bytes)),
                         Bytes(rate(before.response_bytes, now.response_bytes)));
}

}  // namespace

std::string StatisticsText(const client::Statistics& now, ShownMethods shown) {
  std::string text =
      absl::StrFormat("uptime             %s\n\n%-18s %12s %12s %6s %12s %12s\n", Time(now.uptime),
                      "method", "ok", "failed", "now", "in", "out");
  for (const client::MethodStatistics& method : now.methods) {
    if (!IsShown(method, shown)) continue;
    absl::StrAppendFormat(&text, "%-18s %12d %12d %6d %12s %12s\n", method.method,
                          Ended(method) - Failed(method), Failed(method), method.in_flight,
                          Bytes(method.request_bytes), Bytes(method.response_bytes));
  }
  absl::StrAppendFormat(&text, "%-18s %12d %12d\n", "(calls in batches)",
                        now.batch_calls - now.batch_failed_calls, now.batch_failed_calls);
  absl::StrAppend(&text, SessionsText(now.sessions), EngineText(now));
  for (const auto& [reason, count] : now.errors)
    absl::StrAppendFormat(&text, "error              %d %s\n", count, reason);
  return text + OperatorsText(now) + DevicesText(now) + SharedMemoryText(now.shared_memory);
}

std::string RatesText(const client::Statistics& before, const client::Statistics& now,
                      ShownMethods shown) {
  const client::Statistics nothing;
  const client::Statistics& from = before.uptime <= now.uptime ? before : nothing;
  const Rate rate{std::max(absl::ToDoubleSeconds(now.uptime - from.uptime), 1e-9)};
  std::string text = absl::StrFormat("%-18s %12s %12s %6s %12s %12s\n", "a second", "calls",
                                     "failed", "now", "in", "out");
  for (const client::MethodStatistics& method : now.methods) {
    if (!IsShown(method, shown)) continue;
    const client::MethodStatistics* earlier = Find(from, method.method);
    absl::StrAppend(
        &text, RateLine(earlier == nullptr ? client::MethodStatistics() : *earlier, method, rate));
  }
  absl::StrAppendFormat(&text, "%-18s %12.1f %12.1f\n", "(calls in batches)",
                        rate(from.batch_calls, now.batch_calls),
                        rate(from.batch_failed_calls, now.batch_failed_calls));
  absl::StrAppendFormat(&text, "%-18s %12.1f %12.1f %6d\n", "Session commands",
                        rate(from.sessions.commands, now.sessions.commands),
                        rate(from.sessions.failed_commands, now.sessions.failed_commands),
                        now.sessions.open);
  const client::EngineStatistics& engine = now.engine;
  absl::StrAppendFormat(
      &text,
      "\nengine             %d in flight (%s), mean wait %s, mean execution %s, expected wait %s\n",
      engine.calls_in_flight, Bytes(engine.bytes_in_flight),
      Mean(QueueWait(now) - QueueWait(from), engine.queued_calls - from.engine.queued_calls),
      Mean(engine.execution - from.engine.execution, Runs(engine) - Runs(from.engine)),
      Time(engine.expected_wait));
  return text + ErrorRates(from, now, rate) + OperatorRates(from, now, rate) + DevicesText(now) +
         SharedMemoryText(now.shared_memory);
}

}  // namespace opserve::cli
