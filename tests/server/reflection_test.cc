// Server reflection, as grpcurl and its like ask it.
#include <algorithm>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "tests/server/test_server.h"

namespace opserve::testing {
namespace {

using google::protobuf::FileDescriptorProto;
using google::protobuf::UnknownFieldSet;

constexpr char kPath[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
constexpr char kService[] = "opserve.v1.OperatorService";

// Fields of ServerReflectionRequest.
constexpr int kFileByFilename = 3;
constexpr int kFileContainingSymbol = 4;
constexpr int kListServices = 7;
// Fields of ServerReflectionResponse.
constexpr int kFileDescriptorResponse = 4;
constexpr int kListServicesResponse = 6;

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
  // The values of field 1 of the answer's field `kind`.
  std::vector<std::string> Ask(int question, const std::string& about, int kind) {
    UnknownFieldSet request;
    request.AddLengthDelimited(question, about);
    std::string bytes;
    EXPECT_TRUE(request.SerializeToString(&bytes));
    const Answer<std::string> answer = tcp().Send(kPath, bytes);
    EXPECT_TRUE(answer.ok()) << answer.code << ": " << answer.message;
    const std::vector<std::string> parts = BytesOfField(answer.response, kind);
    return parts.size() == 1 ? BytesOfField(parts[0], 1) : std::vector<std::string>();
  }
};

TEST_F(ReflectionTest, ListsTheServices) {
  std::vector<std::string> names;
  for (const std::string& service : Ask(kListServices, "", kListServicesResponse)) {
    for (const std::string& name : BytesOfField(service, 1)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"grpc.health.v1.Health",
                                             "grpc.reflection.v1alpha.ServerReflection", kService,
                                             "opserve.v1.SessionService"}));
}

TEST_F(ReflectionTest, FilesAreThoseOfTheApi) {
  const auto* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(kService);
  ASSERT_NE(service, nullptr);
  FileDescriptorProto want;
  service->file()->CopyTo(&want);
  bool found = false;
  for (const std::string& file : Ask(kFileContainingSymbol, kService, kFileDescriptorResponse)) {
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
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(kService);
  ASSERT_NE(service, nullptr);
  ASSERT_GT(service->file()->dependency_count(), 0);
  for (int i = 0; i < service->file()->dependency_count(); ++i) {
    const std::string& name = service->file()->dependency(i)->name();
    EXPECT_FALSE(Ask(kFileByFilename, name, kFileDescriptorResponse).empty()) << name;
  }
}

TEST_F(ReflectionTest, UnknownSymbolsHaveNoFile) {
  EXPECT_TRUE(Ask(kFileContainingSymbol, "opserve.v1.Nothing", kFileDescriptorResponse).empty());
}

}  // namespace
}  // namespace opserve::testing
