#include "server/transport/messages/session_messages.h"

#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/op_error.h"
#include "core/device/memory_pool.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

grpc::ByteBuffer BufferOf(const v1::SessionRequest& request) {
  const grpc::Slice slice(request.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

v1::SessionResponse ResponseIn(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_THAT(buffer.DumpToSingleSlice(&slice), testing::IsOk());
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
  // With one chunk.
  Answer AnswerOf(uint64_t id, const std::string& bytes) {
    Answer answer;
    answer.header.set_id(id);
    answer.header.mutable_chunk();
    PooledBuffer buffer = *pool_.Acquire(bytes.size());
    if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
    answer.raw.push_back(std::move(buffer));
    return answer;
  }

  MemoryPool pool_{int64_t{64} << 20, MemorySource::Host(), Clock::Real()};
};

// An upload of raw entry `raw_index`.
void AddUpload(v1::SessionRequest& message, uint64_t id, uint32_t raw_index) {
  v1::Command& command = *message.add_commands();
  command.set_id(id);
  command.mutable_upload()->set_stream(3);
  command.mutable_upload()->set_raw_index(raw_index);
}

std::string ParameterOf(const absl::Status& status) {
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  EXPECT_TRUE(detail.has_value()) << status;
  return detail.has_value() ? detail->parameter : "";
}

TEST_F(SessionMessagesTest, OneCommand) {
  v1::SessionRequest message;
  AddUpload(message, 7, 0);
  message.add_raw("bytes");
  absl::StatusOr<CommandReader> reader = CommandReader::Open(BufferOf(message));
  ASSERT_THAT(reader, testing::IsOk());
  EXPECT_EQ(reader->size(), 1u);
  const absl::StatusOr<Command> command = reader->Next();
  ASSERT_THAT(command, testing::IsOk());
  EXPECT_EQ(reader->size(), 0u);
  reader = CommandReader();
  EXPECT_EQ(command->header.upload().stream(), 3u);
  EXPECT_EQ(BytesOf(command->raw[0]), "bytes");
}

TEST_F(SessionMessagesTest, AMessageOfOneLargeCommandIsNotCopied) {
  const std::string bytes(1 << 20, 'b');
  v1::SessionRequest message;
  AddUpload(message, 7, 0);
  message.add_raw(bytes);
  const grpc::ByteBuffer buffer = BufferOf(message);
  absl::StatusOr<CommandReader> reader = CommandReader::Open(buffer);
  ASSERT_THAT(reader, testing::IsOk());
  const absl::StatusOr<Command> command = reader->Next();
  reader = CommandReader();
  ASSERT_THAT(command, testing::IsOk());
  EXPECT_EQ(BytesOf(command->raw[0]), bytes);
  // It is charged for all that it keeps.
  EXPECT_EQ(static_cast<size_t>(command->spare_bytes), buffer.Length() - bytes.size());
  std::vector<grpc::Slice> slices;
  ASSERT_THAT(buffer.Dump(&slices), testing::IsOk());
  ASSERT_EQ(slices.size(), 1u);
  const auto* at = reinterpret_cast<const uint8_t*>(command->raw[0].pieces()[0].data());
  EXPECT_TRUE(at >= slices[0].begin() && at < slices[0].end());
}

TEST_F(SessionMessagesTest, ACommandAmongOthersKeepsItsBytesAlone) {
  v1::SessionRequest message;
  for (uint64_t id = 1; id <= 3; ++id) {
    AddUpload(message, id, static_cast<uint32_t>(3 - id));
    message.add_raw(std::string(5000, static_cast<char>('a' + id)));
  }
  absl::StatusOr<CommandReader> opened = CommandReader::Open(BufferOf(message));
  ASSERT_THAT(opened, testing::IsOk());
  EXPECT_EQ(opened->size(), 3u);
  EXPECT_EQ(BytesOf(opened->Next()->raw[0]), message.raw(2));
  CommandReader reader = *std::move(opened);  // moving it changes nothing
  absl::StatusOr<Command> second = reader.Next();
  ASSERT_THAT(second, testing::IsOk());
  EXPECT_EQ(second->header.upload().raw_index(), 0u);
  const absl::StatusOr<Command> third = reader.Next();
  ASSERT_THAT(third, testing::IsOk());
  EXPECT_EQ(reader.size(), 0u);
  const std::weak_ptr<const void> bytes_of_second = second->owner;
  second = absl::CancelledError();
  reader = CommandReader();
  EXPECT_TRUE(bytes_of_second.expired());
  EXPECT_EQ(third->header.id(), 3u);
  ASSERT_EQ(third->raw.size(), 1u);
  EXPECT_EQ(BytesOf(third->raw[0]), message.raw(0));
  EXPECT_EQ(third->spare_bytes, 0);
}

TEST_F(SessionMessagesTest, EntriesAreSharedAmongTensorsAndCommands) {
  v1::SessionRequest message;
  for (const std::vector<uint32_t>& indices : {std::vector<uint32_t>{1, 0, 1}, {1, 7}}) {
    v1::Call& call = *message.add_commands()->mutable_execute()->mutable_call();
    for (const uint32_t index : indices) call.add_inputs()->set_raw_index(index);
    call.add_inputs()->mutable_values();
  }
  message.add_raw("first");
  message.add_raw("second");
  absl::StatusOr<CommandReader> reader = CommandReader::Open(BufferOf(message));
  ASSERT_THAT(reader, testing::IsOk());
  const absl::StatusOr<Command> one = reader->Next();
  ASSERT_THAT(one, testing::IsOk());
  ASSERT_EQ(one->raw.size(), 2u);
  EXPECT_EQ(BytesOf(one->raw[0]), "second");
  EXPECT_EQ(one->header.execute().call().inputs(1).raw_index(), 1u);
  EXPECT_EQ(one->header.execute().call().inputs(2).raw_index(), 0u);
  const absl::StatusOr<Command> two = reader->Next();
  ASSERT_THAT(two, testing::IsOk());
  ASSERT_EQ(two->raw.size(), 1u);
  // One that is not there stays out of range.
  EXPECT_EQ(two->header.execute().call().inputs(1).raw_index(), 7u);
}

// However many pieces the transport made of it, and however many commands name it.
TEST_F(SessionMessagesTest, ALargeEntryIsCopiedOnceForAllThatUseIt) {
  v1::SessionRequest message;
  for (uint64_t id = 1; id <= 3; ++id) AddUpload(message, id, 0);
  message.add_raw(std::string(100000, 'b'));
  const std::string bytes = message.SerializeAsString();
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += 10) slices.emplace_back(bytes.substr(at, 10));
  absl::StatusOr<CommandReader> reader =
      CommandReader::Open(grpc::ByteBuffer(slices.data(), slices.size()));
  ASSERT_THAT(reader, testing::IsOk());
  const absl::StatusOr<Command> first = reader->Next();
  const absl::StatusOr<Command> second = reader->Next();
  absl::StatusOr<Command> third = reader->Next();
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  ASSERT_EQ(first->raw[0].pieces().size(), 1u);
  EXPECT_EQ(second->raw[0].pieces()[0].data(), first->raw[0].pieces()[0].data());
  EXPECT_EQ(BytesOf(third->raw[0]), message.raw(0));
  EXPECT_EQ(third->spare_bytes, 0);
}

TEST_F(SessionMessagesTest, ManyEntriesAreTakenOnce) {
  v1::SessionRequest message;
  v1::Call& call = *message.add_commands()->mutable_execute()->mutable_call();
  for (uint32_t i = 0; i < 100; ++i) {
    call.add_inputs()->set_raw_index(i * 7 % 20);
    if (i < 20) message.add_raw(std::string(i, 'x'));
  }
  absl::StatusOr<CommandReader> reader = CommandReader::Open(BufferOf(message));
  ASSERT_THAT(reader, testing::IsOk());
  const absl::StatusOr<Command> command = reader->Next();
  ASSERT_THAT(command, testing::IsOk());
  ASSERT_EQ(command->raw.size(), 20u);
  for (int i = 0; i < 100; ++i) {
    const uint32_t index = command->header.execute().call().inputs(i).raw_index();
    ASSERT_LT(index, 20u);
    EXPECT_EQ(command->raw[index].size_bytes(), static_cast<size_t>(i * 7 % 20));
  }
}

TEST_F(SessionMessagesTest, EntriesThatNoCommandUsesAreTheLastOnes) {
  v1::SessionRequest message;
  message.add_raw("bytes");
  EXPECT_EQ(ParameterOf(CommandReader::Open(BufferOf(message)).status()), "commands");
  AddUpload(message, 1, 1);
  AddUpload(message, 2, 2);
  message.add_raw("more");
  absl::StatusOr<CommandReader> reader = CommandReader::Open(BufferOf(message));
  ASSERT_THAT(reader, testing::IsOk());
  EXPECT_EQ(reader->Next()->raw.size(), 1u);
  const absl::StatusOr<Command> last = reader->Next();
  ASSERT_THAT(last, testing::IsOk());
  EXPECT_EQ(last->header.upload().raw_index(), 2u);
  ASSERT_EQ(last->raw.size(), 1u);
  EXPECT_EQ(BytesOf(last->raw[0]), "bytes");
}

TEST_F(SessionMessagesTest, RefusesMoreCommandsThanItKeeps) {
  v1::SessionRequest message;
  for (size_t i = 0; i < CommandReader::kMaxCommands; ++i) message.add_commands();
  EXPECT_THAT(CommandReader::Open(BufferOf(message)), testing::IsOk());
  message.add_commands();
  EXPECT_EQ(ParameterOf(CommandReader::Open(BufferOf(message)).status()), "message");
}

TEST_F(SessionMessagesTest, WritesWhatGeneratedCodeReads) {
  for (const size_t count : {1, 2, 50}) {
    std::vector<Answer> answers;
    v1::SessionResponse want;
    for (size_t i = 0; i < count; ++i) {
      const std::string bytes(i * 97, 'x');
      answers.push_back(AnswerOf(i + 1, bytes));
      v1::Answer& answer = *want.add_answers();
      answer.set_id(i + 1);
      answer.mutable_chunk()->set_raw_index(static_cast<uint32_t>(i));
      want.add_raw(bytes);
    }
    const v1::SessionResponse got = ResponseIn(WriteAnswers(std::move(answers)));
    EXPECT_EQ(got.SerializeAsString(), want.SerializeAsString()) << count;
  }
  EXPECT_EQ(pool_.stats().used_bytes, 0);
}

}  // namespace
}  // namespace opserve::server
