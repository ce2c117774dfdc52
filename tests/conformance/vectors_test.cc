// A server and the vectors of proto/conformance, which client libraries replay as well.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <google/protobuf/util/json_util.h>

#include "nlohmann/json.hpp"
#include "tests/server/session_client.h"
#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using nlohmann::json;

json CasesOf(const std::string& file) {
  return json::parse(std::ifstream("proto/conformance/" + file)).at("cases");
}

std::vector<std::string> NamesIn(const std::string& file) {
  std::vector<std::string> names;
  for (const json& row : CasesOf(file)) names.push_back(row.at("name"));
  return names;
}

json CaseNamed(const std::string& file, const std::string& name) {
  for (json& row : CasesOf(file))
    if (row.at("name") == name) return row;
  return {};
}

template <typename Message>
Message MessageOf(const json& value) {
  Message message;
  const auto status = google::protobuf::util::JsonStringToMessage(value.dump(), &message);
  EXPECT_THAT(status, IsOk()) << value;
  return message;
}

// With the fields that have their default, but for those of a oneof.
json JsonOf(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  EXPECT_THAT(status, IsOk()) << message.ShortDebugString();
  return json::parse(text);
}

// As the README beside the vectors says.
bool Matches(const json& want, const json& got) {
  if (want.is_number() && got.is_number()) return want == got;
  if (want.type() != got.type()) return false;
  if (want.is_object()) {
    for (const auto& [key, value] : want.items())
      if (!got.contains(key) || !Matches(value, got.at(key))) return false;
    return true;
  }
  if (!want.is_array()) return want == got;
  if (want.size() != got.size()) return false;
  for (size_t i = 0; i < want.size(); ++i)
    if (!Matches(want[i], got[i])) return false;
  return true;
}

void ExpectMatch(const json& want, const json& got, const std::string& what) {
  EXPECT_TRUE(Matches(want, got)) << what << "\nwant " << want.dump(1) << "\ngot " << got.dump(1);
}

void ExpectEnd(const json& want, const Outcome& outcome) {
  EXPECT_EQ(outcome.code, want.value("code", "OK")) << outcome.message;
  if (!want.contains("reason")) return;
  EXPECT_EQ(outcome.info.reason(), want.at("reason")) << outcome.message;
  const json metadata = want.value("metadata", json::object());
  for (const auto& [key, value] : metadata.items()) {
    const auto found = outcome.info.metadata().find(key);
    ASSERT_NE(found, outcome.info.metadata().end()) << key;
    EXPECT_EQ(found->second, value) << key;
  }
}

class VectorTest : public ServerTest, public ::testing::WithParamInterface<std::string> {};

class UnaryVectorTest : public VectorTest {
 protected:
  template <typename Response>
  static void Check(const json& want, const Answer<Response>& answer) {
    ExpectEnd(want.value("error", json::object()), answer);
    if (want.contains("response"))
      ExpectMatch(want.at("response"), JsonOf(answer.response), want.at("name"));
  }
};

INSTANTIATE_TEST_SUITE_P(Vectors, UnaryVectorTest, ::testing::ValuesIn(NamesIn("unary.json")),
                         [](const auto& param) { return std::to_string(param.index); });

TEST_P(UnaryVectorTest, IsAnsweredAsItSays) {
  const json vector = CaseNamed("unary.json", GetParam());
  const std::string method = vector.at("method");
  const json& request = vector.at("request");
  if (method == "Execute") {
    Check(vector, tcp().Execute(MessageOf<v1::ExecuteRequest>(request)));
  } else if (method == "ExecuteBatch") {
    Check(vector, tcp().ExecuteBatch(MessageOf<v1::ExecuteBatchRequest>(request)));
  } else if (method == "GetServerInfo") {
    Check(vector, tcp().GetServerInfo());
  } else if (method == "GetStatistics") {
    Check(vector, tcp().GetStatistics());
  } else if (method == "ListDevices") {
    Check(vector, tcp().ListDevices());
  } else if (method == "ListOperators") {
    Check(vector, tcp().ListOperators(MessageOf<v1::ListOperatorsRequest>(request)));
  } else {
    ASSERT_EQ(method, "GetWorkspaceSize");
    Check(vector, tcp().GetWorkspaceSize(MessageOf<v1::GetWorkspaceSizeRequest>(request)));
  }
}

class SessionVectorTest : public VectorTest {
 protected:
  // By command; each answer's raw entries are its own.
  static std::map<std::string, json> AnswersTo(SessionClient& client) {
    std::map<std::string, json> answers;
    while (std::optional<v1::Answer> answer = client.Receive()) {
      v1::SessionResponse alone;
      for (const std::string& entry : client.raw()) alone.add_raw(entry);
      if (answer->has_chunk()) answer->mutable_chunk()->set_raw_index(0);
      uint32_t index = 0;
      if (answer->has_outputs()) {
        for (v1::Tensor& tensor : *answer->mutable_outputs()->mutable_outputs())
          if (tensor.has_raw_index()) tensor.set_raw_index(index++);
      }
      json value = JsonOf(*answer);
      if (!client.raw().empty()) value["raw"] = JsonOf(alone).at("raw");
      json& list = answers[std::to_string(answer->id())];
      if (list.is_null()) list = json::array();
      list.push_back(std::move(value));
    }
    return answers;
  }
};

INSTANTIATE_TEST_SUITE_P(Vectors, SessionVectorTest, ::testing::ValuesIn(NamesIn("session.json")),
                         [](const auto& param) { return std::to_string(param.index); });

TEST_P(SessionVectorTest, IsAnsweredAsItSays) {
  const json vector = CaseNamed("session.json", GetParam());
  SessionClient client(server().addresses()[0]);
  for (const json& message : vector.at("messages"))
    client.SendBytes(MessageOf<v1::SessionRequest>(message).SerializeAsString());
  client.HalfClose();
  std::map<std::string, json> answers = AnswersTo(client);
  ExpectEnd(vector.value("end", json::object()), client.End());
  ASSERT_TRUE(answers.contains("0"));
  EXPECT_TRUE(answers.at("0").at(0).contains("info"));
  answers.erase("0");
  for (const auto& [id, want] : vector.at("answers").items()) {
    ASSERT_TRUE(answers.contains(id)) << GetParam() << ": command " << id;
    const json got = answers.at(id);
    ExpectMatch(want, got, GetParam() + ": command " + id);
    for (size_t i = 0; i < want.size() && i < got.size(); ++i) {
      EXPECT_EQ(got[i].contains("error"), want[i].contains("error")) << got[i];
      EXPECT_EQ(got[i].contains("raw"), want[i].contains("raw")) << got[i];
    }
    answers.erase(id);
  }
  EXPECT_TRUE(answers.empty()) << json(answers);
}

}  // namespace
}  // namespace opserve::testing
