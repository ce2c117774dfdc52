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
  absl::StatusOr<IncomingCommands> incoming = ReadCommands(BufferOf(request));
  ASSERT_TRUE(incoming.ok()) << incoming.status();
  EXPECT_FALSE(incoming->grouped);
  ASSERT_EQ(incoming->commands.size(), 1u);
  const Command command = std::move(incoming->commands[0]);
  incoming = IncomingCommands();
  EXPECT_EQ(command.header.upload().stream(), 3u);
  EXPECT_EQ(BytesOf(command.raw[0]), "bytes");
}

TEST_F(SessionMessagesTest, ACommandOfAGroupKeepsItsBytesAlone) {
  v1::SessionRequest group;
  for (uint64_t id = 1; id <= 3; ++id) {
    v1::SessionRequest& command = *group.add_commands();
    command.set_id(id);
    command.mutable_upload();
    for (uint64_t i = 1; i < id; ++i) command.add_raw(absl::StrCat("bytes ", id, ".", i));
  }
  absl::StatusOr<IncomingCommands> incoming = ReadCommands(BufferOf(group));
  ASSERT_TRUE(incoming.ok()) << incoming.status();
  EXPECT_TRUE(incoming->grouped);
  ASSERT_EQ(incoming->commands.size(), 3u);
  EXPECT_TRUE(incoming->commands[0].raw.empty());
  const std::weak_ptr<const void> second = incoming->commands[1].owner;
  const Command third = std::move(incoming->commands[2]);
  incoming = IncomingCommands();
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(third.header.id(), 3u);
  EXPECT_EQ(third.header.raw_size(), 0);
  ASSERT_EQ(third.raw.size(), 2u);
  EXPECT_EQ(BytesOf(third.raw[1]), "bytes 3.2");
}

TEST_F(SessionMessagesTest, NothingGoesBesideAGroup) {
  v1::SessionRequest group;
  group.add_commands()->set_id(1);
  group.set_id(1);
  const absl::Status status = ReadCommands(BufferOf(group)).status();
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
