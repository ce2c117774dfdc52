#include "client/loadtest/scenario/scenario.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"

namespace opserve::loadtest {
namespace {

constexpr size_t kMaxNamed = 64;
constexpr size_t kMaxTextBytes = 64 << 10;
constexpr size_t kMaxTargets = 64;

int64_t LineOf(const YAML::Mark& mark) { return std::max<int64_t>(1, int64_t{mark.line} + 1); }

// Reads nodes; its errors say where in the file.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  absl::Status Bad(const YAML::Node& at, std::string_view key, std::string_view want,
                   std::string_view got) const {
    return At(LineOf(at.Mark()), InvalidParameter(key, want, got));
  }

  // `status` with the place in front.
  absl::Status At(int64_t line, const absl::Status& status) const {
    std::optional<ErrorDetail> detail = GetErrorDetail(status);
    if (!detail.has_value()) return status;
    detail->op = absl::StrCat(path_, ":", line);
    return MakeError(*detail);
  }

  // A scalar; a list of them is joined by commas.
  absl::StatusOr<std::string> Text(const YAML::Node& node, std::string_view key) const {
    std::string text;
    if (node.IsScalar()) {
      text = node.Scalar();
    } else if (node.IsSequence() && node.size() <= kMaxTextBytes) {
      for (const YAML::Node& item : node) {
        if (!item.IsScalar() || text.size() > kMaxTextBytes)
          return Bad(item, key, "a list of numbers or words", "something else");
        absl::StrAppend(&text, text.empty() ? "" : ",", item.Scalar());
      }
    } else {
      return Bad(node, key, "a number, a word or a list of them",
                 node.IsMap() ? "a map" : "nothing");
    }
    if (text.size() <= kMaxTextBytes) return text;
    return Bad(node, key, absl::StrCat("at most ", kMaxTextBytes, " bytes"), "more");
  }

  // Calls visit(key, value) for each entry of a map whose keys are words, each there once.
  template <typename Visit>
  absl::Status ForEach(const YAML::Node& map, std::string_view what, Visit visit) const {
    if (!map.IsMap()) return Bad(map, what, "a map, as in 'name: value'", "something else");
    std::set<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) return Bad(entry.first, what, "keys that are words", "another");
      const std::string& key = entry.first.Scalar();
      if (!seen.insert(key).second) return Bad(entry.first, key, "it once", "it twice");
      if (seen.size() > kMaxNamed)
        return Bad(entry.first, what, absl::StrCat("at most ", kMaxNamed, " keys"), "more");
      OPSERVE_RETURN_IF_ERROR(visit(key, entry.second));
    }
    return absl::OkStatus();
  }

  absl::Status Named(const YAML::Node& map, std::string_view what, NamedTexts& named) const {
    return ForEach(map, what, [&](const std::string& key, const YAML::Node& value) -> absl::Status {
      OPSERVE_ASSIGN_OR_RETURN(std::string text, Text(value, key));
      named.emplace_back(key, std::move(text));
      return absl::OkStatus();
    });
  }

  absl::Status Unknown(const YAML::Node& at, const std::string& key,
                       const std::vector<std::string_view>& known) const {
    return At(LineOf(at.Mark()),
              UnknownParameter(key, "a key that scenarios have" + DidYouMean(key, known, '\''),
                               "an unknown one"));
  }

 private:
  const std::string& path_;
};

const std::vector<std::string_view>& OperatorKeys() {
  static const auto& keys =
      *new std::vector<std::string_view>{"op",         "name",   "weight",  "shape",  "dtype",
                                         "attributes", "inputs", "outputs", "device", "timeout"};
  return keys;
}

absl::Status SetWeight(const Reader& reader, const YAML::Node& value, const std::string& text,
                       double& weight) {
  constexpr double kLargest = 1e6;
  if (absl::SimpleAtod(text, &weight) && weight > 0 && weight <= kLargest) return absl::OkStatus();
  return reader.Bad(value, "weight", "a number above 0, at most 1000000", Quoted(text));
}

absl::Status SetOperatorKey(const Reader& reader, const std::string& key, const YAML::Node& value,
                            OperatorEntry& entry) {
  if (key == "attributes") return reader.Named(value, key, entry.attributes);
  if (key == "inputs") return reader.Named(value, key, entry.inputs);
  if (key == "outputs") return reader.Named(value, key, entry.dtypes);
  const auto& keys = OperatorKeys();
  if (std::find(keys.begin(), keys.end(), key) == keys.end())
    return reader.Unknown(value, key, keys);
  OPSERVE_ASSIGN_OR_RETURN(const std::string text, reader.Text(value, key));
  if (key == "weight") return SetWeight(reader, value, text, entry.weight);
  if (key == "timeout") {
    const absl::StatusOr<absl::Duration> timeout = ParseTime(key, text);
    if (!timeout.ok()) return reader.At(LineOf(value.Mark()), timeout.status());
    if (*timeout == absl::ZeroDuration())
      return reader.Bad(value, key, "more than 0", Quoted(text));
    entry.timeout = *timeout;
  } else if (key == "shape") {
    entry.shape = text;
  } else {
    std::string& place = key == "op"      ? entry.op
                         : key == "name"  ? entry.name
                         : key == "dtype" ? entry.dtype
                                          : entry.device;
    place = text;
  }
  return absl::OkStatus();
}

// A name alone, or a map.
absl::StatusOr<OperatorEntry> ReadOperator(const Reader& reader, const YAML::Node& node) {
  OperatorEntry entry;
  entry.line = LineOf(node.Mark());
  if (node.IsScalar()) {
    entry.op = node.Scalar();
  } else {
    OPSERVE_RETURN_IF_ERROR(
        reader.ForEach(node, "operators", [&](const std::string& key, const YAML::Node& value) {
          return SetOperatorKey(reader, key, value, entry);
        }));
  }
  if (entry.op.empty()) return reader.Bad(node, "op", "the name of an operator", "none");
  if (entry.name.empty()) entry.name = entry.op;
  return entry;
}

absl::Status ReadOperators(const Reader& reader, const YAML::Node& node, Scenario& scenario) {
  if (!node.IsSequence()) return reader.Bad(node, "operators", "a list", "something else");
  for (const YAML::Node& item : node) {
    if (scenario.operators.size() == kMaxOperators)
      return reader.Bad(item, "operators", absl::StrCat("at most ", kMaxOperators), "more");
    OPSERVE_ASSIGN_OR_RETURN(OperatorEntry entry, ReadOperator(reader, item));
    scenario.operators.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

absl::Status ReadTargets(const Reader& reader, const YAML::Node& node, Scenario& scenario) {
  if (node.IsScalar()) scenario.targets.push_back(node.Scalar());
  if (node.IsScalar()) return absl::OkStatus();
  if (!node.IsSequence() || node.size() > kMaxTargets)
    return reader.Bad(node, "targets", absl::StrCat("at most ", kMaxTargets, " of host:port"),
                      "something else");
  for (const YAML::Node& item : node) {
    if (!item.IsScalar()) return reader.Bad(item, "targets", "host:port", "something else");
    scenario.targets.push_back(item.Scalar());
  }
  return absl::OkStatus();
}

absl::Status SetKey(const Reader& reader, const std::string& key, const YAML::Node& value,
                    Scenario& scenario) {
  if (key == "operators") return ReadOperators(reader, value, scenario);
  if (key == "targets" || key == "target") return ReadTargets(reader, value, scenario);
  OPSERVE_ASSIGN_OR_RETURN(const std::string text, reader.Text(value, key));
  if (key == "title") {
    scenario.title = text;
    return absl::OkStatus();
  }
  std::vector<std::string_view> known = {"title", "targets", "operators"};
  for (const SettingInfo& setting : AllSettings()) known.emplace_back(setting.name);
  const std::string flag = absl::StrReplaceAll(key, {{"_", "-"}});
  if (std::find(known.begin(), known.end(), flag) == known.end())
    return reader.Unknown(value, key, known);
  const absl::Status set = Set(flag, text, scenario.settings);
  return set.ok() ? set : reader.At(LineOf(value.Mark()), set);
}

absl::StatusOr<Scenario> ReadDocument(const Reader& reader, const YAML::Node& document) {
  Scenario scenario;
  OPSERVE_RETURN_IF_ERROR(
      reader.ForEach(document, "scenario", [&](const std::string& key, const YAML::Node& value) {
        return SetKey(reader, key, value, scenario);
      }));
  if (scenario.operators.empty())
    return reader.Bad(document, "operators", "at least one operator", "none");
  const absl::Status together = CheckTogether(scenario.settings);
  if (!together.ok()) return reader.At(LineOf(document.Mark()), together);
  return scenario;
}

}  // namespace

// yaml-cpp tells of mistakes by exceptions.
absl::StatusOr<Scenario> ReadScenario(const std::string& path, std::string_view text) {
  const Reader reader(path);
  if (text.size() > kMaxScenarioBytes)
    return reader.At(
        1, InvalidParameter("scenario", absl::StrCat("at most ", kMaxScenarioBytes, " bytes"),
                            absl::StrCat(text.size())));
  try {
    return ReadDocument(reader, YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    return reader.At(LineOf(error.mark), InvalidParameter("scenario", "YAML", error.msg));
  }
}

}  // namespace opserve::loadtest
