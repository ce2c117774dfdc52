#include "server/services/session_messages.h"

#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "core/device/memory_pool.h"

namespace opserve::server {
namespace {

grpc::ByteBuffer BufferOf(const v1::SessionRequest& request) {
  const grpc::Slice slice(request.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

v1::SessionResponse ResponseIn(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_TRUE(buffer.DumpToSingleSlice(&slice).ok());
  v1::SessionResponse response;
  EXPECT_TRUE(response.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
  return response;
}

std::string BytesOf(const Fragments& entry) {
  std::string bytes(entry.size_bytes(), '\0');
  entry.CopyTo(reinterpret_cast<std::byte*>(bytes.data()), 0, bytes.size());
  return bytes;
}

class SessionMessagesTest : public ::testing::Test {
 protected:
  Answer AnswerOf(uint64_t id, const std::vector<std::string>& raw) {
    Answer answer;
    answer.header.set_id(id);
    for (const std::string& entry : raw) {
      PooledBuffer buffer = *pool_.Acquire(entry.size());
      if (!entry.empty()) std::memcpy(buffer.data(), entry.data(), entry.size());
      answer.raw.push_back(std::move(buffer));
    }
    return answer;
  }

  MemoryPool pool_{int64_t{64} << 20, MemorySource::Host(), Clock::Real()};
};

TEST_F(SessionMessagesTest, OneCommand) {
  v1::SessionRequest request;
  request.set_id(7);
  request.mutable_upload()->set_stream(3);
  request.add_raw("bytes");
  absl::StatusOr<CommandReader> reader = CommandReader::Open(BufferOf(request));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_FALSE(reader->is_grouped());
  EXPECT_EQ(reader->size(), 1u);
  const absl::StatusOr<Command> command = reader->Next();
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(reader->size(), 0u);
  reader = CommandReader();
  EXPECT_EQ(command->header.upload().stream(), 3u);
  EXPECT_EQ(BytesOf(command->raw[0]), "bytes");
}

TEST_F(SessionMessagesTest, ALargeCommandKeepsItsMessage) {
  const std::string bytes(1 << 20, 'b');
  v1::SessionRequest request;
  request.set_id(7);
  request.mutable_upload();
  request.add_raw(bytes);
  absl::StatusOr<CommandReader> reader = CommandReader::Open(BufferOf(request));
  ASSERT_TRUE(reader.ok()) << reader.status();
  const absl::StatusOr<Command> command = reader->Next();
  reader = CommandReader();
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(BytesOf(command->raw[0]), bytes);
}

TEST_F(SessionMessagesTest, ACommandOfAGroupKeepsItsBytesAlone) {
  v1::SessionRequest group;
  for (uint64_t id = 1; id <= 3; ++id) {
    v1::SessionRequest& command = *group.add_commands();
    command.set_id(id);
    command.mutable_upload();
    for (uint64_t i = 1; i < id; ++i) command.add_raw(absl::StrCat("bytes ", id, ".", i));
  }
  absl::StatusOr<CommandReader> opened = CommandReader::Open(BufferOf(group));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE(opened->is_grouped());
  EXPECT_EQ(opened->size(), 3u);
  EXPECT_TRUE(opened->Next()->raw.empty());
  CommandReader reader = *std::move(opened);  // moving it changes nothing
  absl::StatusOr<Command> second = reader.Next();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(reader.size(), 1u);
  const absl::StatusOr<Command> third = reader.Next();
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(reader.size(), 0u);
  const std::weak_ptr<const void> bytes_of_second = second->owner;
  second = absl::CancelledError();
  reader = CommandReader();
  EXPECT_TRUE(bytes_of_second.expired());
  EXPECT_EQ(third->header.id(), 3u);
  EXPECT_EQ(third->header.raw_size(), 0);
  ASSERT_EQ(third->raw.size(), 2u);
  EXPECT_EQ(BytesOf(third->raw[1]), "bytes 3.2");
}

TEST_F(SessionMessagesTest, RefusesMoreCommandsThanItKeeps) {
  v1::SessionRequest group;
  for (size_t i = 0; i < CommandReader::kMaxCommands; ++i) group.add_commands();
  EXPECT_TRUE(CommandReader::Open(BufferOf(group)).ok());
  group.add_commands();
  const absl::Status status = CommandReader::Open(BufferOf(group)).status();
  ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
  EXPECT_EQ(GetErrorDetail(status)->parameter, "message");
}

TEST_F(SessionMessagesTest, RefusesCommandsInCommands) {
  v1::SessionRequest group;
  group.add_commands()->set_id(1);
  group.add_commands()->add_commands()->set_id(2);
  absl::StatusOr<CommandReader> reader = CommandReader::Open(BufferOf(group));
  if (reader.ok()) {
    ASSERT_TRUE(reader->Next().ok());
  }
  const absl::Status status = reader.ok() ? reader->Next().status() : reader.status();
  ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
  EXPECT_EQ(GetErrorDetail(status)->parameter, "commands");
}

TEST_F(SessionMessagesTest, NothingGoesBesideAGroup) {
  v1::SessionRequest group;
  group.add_commands()->set_id(1);
  group.set_id(1);
  absl::StatusOr<CommandReader> reader = CommandReader::Open(BufferOf(group));
  const absl::Status status = reader.ok() ? reader->Next().status() : reader.status();
  ASSERT_TRUE(GetErrorDetail(status).has_value()) << status;
  EXPECT_EQ(GetErrorDetail(status)->parameter, "commands");
}

TEST_F(SessionMessagesTest, WritesWhatGeneratedCodeReads) {
  for (const size_t count : {1, 2, 50}) {
    std::vector<Answer> answers;
    v1::SessionResponse want;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<std::string> raw(i % 3, std::string(i * 37, 'x'));
      answers.push_back(AnswerOf(i + 1, raw));
      v1::SessionResponse& member = count == 1 ? want : *want.add_answers();
      member.set_id(i + 1);
      for (const std::string& entry : raw) member.add_raw(entry);
    }
    const v1::SessionResponse got = ResponseIn(WriteAnswers(std::move(answers)));
    EXPECT_EQ(got.SerializeAsString(), want.SerializeAsString()) << count;
  }
  EXPECT_EQ(pool_.stats().used_bytes, 0);
}

}  // namespace
}  // namespace opserve::server
