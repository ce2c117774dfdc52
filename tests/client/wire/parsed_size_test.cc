// How much memory an answer may take when it is parsed.
#include "client/cpp/wire/parsed_size.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "client/cpp/wire/call_messages.h"
#include "client/cpp/wire/read_message.h"
#include "core/base/strings.h"
#include "google/rpc/error_details.pb.h"
#include "opserve/v1/operator_service.pb.h"
#include "opserve/v1/session.pb.h"
#include "opserve/v1/shared_memory.pb.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using ::testing::HasSubstr;

const Message* const kAnswers[] = {&v1::ListOperatorsResponse::default_instance(),
                                   &v1::ListDevicesResponse::default_instance(),
                                   &v1::GetStatisticsResponse::default_instance(),
                                   &v1::GetWorkspaceSizeResponse::default_instance(),
                                   &v1::BatchResult::default_instance(),
                                   &v1::SessionResponse::default_instance(),
                                   &v1::Answer::default_instance(),
                                   &v1::SharedMemoryResponse::default_instance(),
                                   &google::rpc::ErrorInfo::default_instance(),
                                   &v1::Tensor::default_instance(),
                                   &v1::OperatorSchema::default_instance(),
                                   &v1::MethodStatistics::default_instance()};

constexpr int kUnknownField = 1000;

void AppendField(int number, int wire_type, const std::string& content, std::string& bytes) {
  AppendVarint(static_cast<uint64_t>(number) << 3 | static_cast<unsigned>(wire_type), bytes);
  if (wire_type == 2) AppendVarint(content.size(), bytes);
  bytes.append(content);
}

// What `bytes`, over and over, make of a message is no more than was said.
void ExpectBounded(const Message& type, const std::string& bytes, const std::string& what) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many.append(bytes);
  const std::optional<size_t> bound = ParsedSize(many, *type.GetDescriptor());
  const std::unique_ptr<Message> message(type.New());
  if (!message->ParseFromString(many)) return;
  ASSERT_TRUE(bound.has_value()) << type.GetTypeName() << ": " << what;
  EXPECT_LE(message->SpaceUsedLong(), *bound) << type.GetTypeName() << ": " << what;
}

TEST(ParsedSizeTest, IsABoundForEveryField) {
  for (const Message* type : kAnswers) {
    const Descriptor& descriptor = *type->GetDescriptor();
    for (int i = 0; i < descriptor.field_count(); ++i) {
      const int number = descriptor.field(i)->number();
      for (const std::string& content : {std::string(), std::string("x"), std::string(8, '\x01'),
                                         std::string("\x0a\0\x0a\0", 4)}) {
        std::string bytes;
        AppendField(number, 2, content, bytes);
        ExpectBounded(*type, bytes, descriptor.field(i)->name());
      }
      std::string number_bytes;
      AppendField(number, 0, "\x01", number_bytes);
      ExpectBounded(*type, number_bytes, descriptor.field(i)->name());
    }
    for (const auto& [wire_type, content] :
         {std::pair<int, std::string>(0, "\x01"), {2, ""}, {5, "four"}, {1, "8 bytes."}}) {
      std::string bytes;
      AppendField(kUnknownField, wire_type, content, bytes);
      ExpectBounded(*type, bytes, "an unknown field");
    }
  }
}

TEST(ParsedSizeTest, IsNoneForWhatIsNoMessage) {
  // A message that may hold itself, which none of ours does.
  using Nested = google::protobuf::DescriptorProto;
  const Descriptor& type = *Nested::descriptor();
  EXPECT_FALSE(ParsedSize("\xff", type).has_value());
  EXPECT_FALSE(ParsedSize("\x0b\x0c", type).has_value()) << "a group";
  std::string nested;
  for (int i = 0; i < 15; ++i) {
    EXPECT_TRUE(ParsedSize(nested, type).has_value()) << i;
    std::string outer;
    AppendField(Nested::kNestedTypeFieldNumber, 2, nested, outer);
    nested = outer;
  }
  std::string deeper;
  AppendField(Nested::kNestedTypeFieldNumber, 2, nested, deeper);
  EXPECT_FALSE(ParsedSize(deeper, type).has_value()) << "deeper than any message";
}

TEST(ReadMessageTest, RefusesWhatWouldTakeMuchMore) {
  std::string empty_devices;
  while (empty_devices.size() < kMaxHeaderBytes / 2) empty_devices.append("\x0a\0", 2);
  v1::ListDevicesResponse message;
  EXPECT_THAT(ToStd(ReadMessage(empty_devices, message).message()), HasSubstr("when parsed"));
  EXPECT_EQ(message.devices_size(), 0) << "it was not parsed";
  const std::string long_text(kMaxHeaderBytes + 1, 'x');
  EXPECT_THAT(ToStd(ReadMessage(long_text, message).message()),
              HasSubstr("its bytes: want at most"));
}

TEST(CheckCountsTest, WantsNumbersFromZeroOn) {
  v1::GetStatisticsResponse message;
  EXPECT_THAT(CheckCounts(message), testing::IsOk());
  message.add_methods()->add_ended()->set_calls(-1);
  EXPECT_THAT(ToStd(CheckCounts(message).message()),
              HasSubstr("GetStatisticsResponse: calls: want a number >= 0, got -1"));
  v1::GetWorkspaceSizeResponse plan;
  plan.mutable_cost()->set_expected_ns(-7);
  EXPECT_THAT(ToStd(CheckCounts(plan).message()),
              HasSubstr("expected_ns: want a number >= 0, got -7"));
  plan.mutable_cost()->set_expected_ns(5);
  EXPECT_THAT(CheckCounts(plan), testing::IsOk());
}

}  // namespace
}  // namespace opserve::client
