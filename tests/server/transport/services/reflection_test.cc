// Server reflection, as grpcurl and its like ask it.
#include <algorithm>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "tests/server/test_server.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

using google::protobuf::FileDescriptorProto;
using google::protobuf::UnknownFieldSet;

constexpr char kPath[] = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
// What clients from before version 1 ask.
constexpr char kOldPath[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
constexpr char kOperatorService[] = "opserve.v1.OperatorService";

// Fields of ServerReflectionRequest.
constexpr int kFileByFilename = 3;
constexpr int kFileContainingSymbol = 4;
constexpr int kFileContainingExtension = 5;
constexpr int kAllExtensionNumbersOfType = 6;
constexpr int kListServices = 7;
// Fields of ServerReflectionResponse.
constexpr int kOriginalRequest = 2;
constexpr int kFileDescriptorResponse = 4;
constexpr int kAllExtensionNumbersResponse = 5;
constexpr int kListServicesResponse = 6;
constexpr int kErrorResponse = 7;

// The values of field `number`, which has bytes, in a message.
std::vector<std::string> BytesOfField(const std::string& message, int number) {
  UnknownFieldSet fields;
  EXPECT_TRUE(fields.ParseFromString(message));
  std::vector<std::string> values;
  for (int i = 0; i < fields.field_count(); ++i) {
    if (fields.field(i).number() != number) continue;
    EXPECT_EQ(fields.field(i).type(), google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED);
    values.push_back(fields.field(i).length_delimited());
  }
  return values;
}

class ReflectionTest : public ServerTest {
 protected:
  static std::string Question(int question, const std::string& about) {
    UnknownFieldSet request;
    request.AddLengthDelimited(question, about);
    std::string bytes;
    EXPECT_TRUE(request.SerializeToString(&bytes));
    return bytes;
  }

  // The answer's field `kind`; nothing where it has none.
  std::string AskFor(int question, const std::string& about, int kind) {
    const Answer<std::string> answer = tcp().Send(kPath, Question(question, about));
    EXPECT_THAT(answer, IsOk());
    EXPECT_EQ(tcp().Send(kOldPath, Question(question, about)).response, answer.response);
    EXPECT_EQ(BytesOfField(answer.response, kOriginalRequest),
              std::vector<std::string>{Question(question, about)});
    const std::vector<std::string> parts = BytesOfField(answer.response, kind);
    return parts.size() == 1 ? parts[0] : std::string();
  }

  // The values of its field 1.
  std::vector<std::string> Ask(int question, const std::string& about, int kind) {
    return BytesOfField(AskFor(question, about, kind), 1);
  }

  // "5: there is no …"
  std::string AskInVain(int question, const std::string& about) {
    UnknownFieldSet error;
    EXPECT_TRUE(error.ParseFromString(AskFor(question, about, kErrorResponse)));
    if (error.field_count() != 2) return "no error";
    return std::to_string(error.field(0).varint()) + ": " + error.field(1).length_delimited();
  }
};

TEST_F(ReflectionTest, ListsTheServices) {
  std::vector<std::string> names;
  for (const std::string& service : Ask(kListServices, "", kListServicesResponse)) {
    for (const std::string& name : BytesOfField(service, 1)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{
                       "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                       "grpc.reflection.v1alpha.ServerReflection", "inference.GRPCInferenceService",
                       kOperatorService, "opserve.v1.SessionService"}));
}

TEST_F(ReflectionTest, FilesAreThoseOfTheApi) {
  const auto* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(kOperatorService);
  ASSERT_NE(service, nullptr);
  FileDescriptorProto want;
  service->file()->CopyTo(&want);
  bool found = false;
  for (const std::string& file :
       Ask(kFileContainingSymbol, kOperatorService, kFileDescriptorResponse)) {
    FileDescriptorProto got;
    ASSERT_TRUE(got.ParseFromString(file));
    if (got.name() != want.name()) continue;
    found = true;
    EXPECT_EQ(got.SerializeAsString(), want.SerializeAsString());
  }
  EXPECT_TRUE(found);
}

TEST_F(ReflectionTest, EveryImportIsServed) {
  const auto* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(kOperatorService);
  ASSERT_NE(service, nullptr);
  ASSERT_GT(service->file()->dependency_count(), 0);
  for (int i = 0; i < service->file()->dependency_count(); ++i) {
    const std::string& name = service->file()->dependency(i)->name();
    EXPECT_FALSE(Ask(kFileByFilename, name, kFileDescriptorResponse).empty()) << name;
  }
}

TEST_F(ReflectionTest, HealthChecksAndReflectionAreServedToo) {
  for (const char* symbol :
       {"grpc.health.v1.Health.Check", "grpc.health.v1.HealthCheckRequest",
        "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"})
    EXPECT_EQ(Ask(kFileContainingSymbol, symbol, kFileDescriptorResponse).size(), 1u) << symbol;
}

TEST_F(ReflectionTest, DetailsOfErrorsAreServed) {
  for (const char* symbol : {"google.rpc.ErrorInfo", "google.rpc.RetryInfo"})
    EXPECT_EQ(Ask(kFileContainingSymbol, symbol, kFileDescriptorResponse).size(), 2u) << symbol;
}

TEST_F(ReflectionTest, WhatIsUnknownIsSaidToBe) {
  EXPECT_EQ(AskInVain(kFileContainingSymbol, "opserve.v1.Nothing"),
            "5: there is no symbol opserve.v1.Nothing");
  EXPECT_EQ(AskInVain(kFileByFilename, "opserve.proto"), "5: there is no file opserve.proto");
  EXPECT_EQ(AskInVain(kFileContainingExtension, "\x0a\x01x\x10\x07"),
            "5: there is no extension of x numbered 7");
  EXPECT_EQ(AskInVain(kAllExtensionNumbersOfType, "x"), "5: there is no message x");
  EXPECT_EQ(AskInVain(1, "localhost"), "3: message_request: want one of its fields, got none");
}

TEST_F(ReflectionTest, MessagesHaveNoExtensions) {
  EXPECT_EQ(AskFor(kAllExtensionNumbersOfType, "opserve.v1.Tensor", kAllExtensionNumbersResponse),
            Question(1, "opserve.v1.Tensor"));
}

TEST_F(ReflectionTest, OnlyRequestsEndAStream) {
  const Answer<std::string> longer =
      tcp().Send(kPath, Question(kFileByFilename, std::string(4096, 'x')));
  EXPECT_EQ(longer.code, "RESOURCE_EXHAUSTED");
  EXPECT_EQ(longer.message, "message: want at most 4096 bytes, got 4099");
  EXPECT_EQ(tcp().Send(kPath, "\xff").code, "INVALID_ARGUMENT");
  EXPECT_EQ(AskInVain(kFileByFilename, std::string(4000, 'x')).size(), 4000 + 20);
}

}  // namespace
}  // namespace opserve::testing
