// Commands that are put together into one message.
#include "client/cpp/wire/outgoing_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace opserve::client {
namespace {

using ::testing::ElementsAre;

RawEntry Entry(std::string_view bytes) {
  return {std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr};
}

OutgoingMessage Upload(uint64_t id, std::string_view bytes) {
  v1::Command command;
  command.mutable_upload()->set_stream(7);
  OutgoingMessage message(std::move(command), {Entry(bytes)});
  message.SetId(id);
  return message;
}

// Of three inputs that have two entries.
v1::Call CallOfTwoEntries() {
  v1::Call call;
  for (const uint32_t index : {0U, 1U, 0U}) call.add_inputs()->set_raw_index(index);
  return call;
}

// One that is executed, or whose call goes in chunks, with an input that does.
OutgoingMessage Execute(uint64_t id, bool in_chunks) {
  v1::Command command;
  v1::Call& call = in_chunks ? *command.mutable_execute_chunked()->mutable_call()
                             : *command.mutable_execute()->mutable_call();
  call = CallOfTwoEntries();
  call.add_inputs()->mutable_chunked();
  OutgoingMessage message(std::move(command), {Entry("a"), Entry("b")});
  message.SetId(id);
  return message;
}

std::string Bytes(const Request& request) {
  std::string bytes;
  for (const Request::Piece& piece : request.pieces()) {
    bytes += piece.own;
    bytes.append(reinterpret_cast<const char*>(piece.view.data()), piece.view.size());
  }
  return bytes;
}

v1::SessionRequest Written(OutgoingMessage message) {
  const size_t size = message.size_bytes();
  const std::string bytes = Bytes(message.Take());
  EXPECT_LE(bytes.size(), size);
  v1::SessionRequest request;
  EXPECT_TRUE(request.ParseFromString(bytes));
  return request;
}

std::vector<uint32_t> Indices(const v1::Call& call) {
  std::vector<uint32_t> indices;
  for (const v1::Tensor& input : call.inputs())
    if (input.has_raw_index()) indices.push_back(input.raw_index());
  return indices;
}

TEST(OutgoingMessageTest, CommandsCountTheirEntriesBehindTheOthers) {
  OutgoingMessage message = Upload(1, "first");
  message.Append(Execute(2, /*in_chunks=*/false));
  v1::Command synchronize;
  synchronize.mutable_synchronize()->set_stream(7);
  message.Append(OutgoingMessage(std::move(synchronize), {}));
  message.Append(Execute(4, /*in_chunks=*/true));
  v1::Command chunk;
  chunk.mutable_input_chunk()->set_command(4);
  message.Append(OutgoingMessage(std::move(chunk), {Entry("")}));
  message.Append(Upload(6, "last"));
  EXPECT_EQ(message.commands(), 6u);
  EXPECT_TRUE(message.is_copied());
  const v1::SessionRequest request = Written(std::move(message));
  EXPECT_THAT(request.raw(), ElementsAre("first", "a", "b", "a", "b", "", "last"));
  EXPECT_EQ(request.commands(0).id(), 1u);
  EXPECT_EQ(request.commands(0).upload().raw_index(), 0u);
  EXPECT_THAT(Indices(request.commands(1).execute().call()), ElementsAre(1U, 2U, 1U));
  EXPECT_EQ(request.commands(2).synchronize().stream(), 7u);
  EXPECT_THAT(Indices(request.commands(3).execute_chunked().call()), ElementsAre(3U, 4U, 3U));
  EXPECT_EQ(request.commands(4).input_chunk().raw_index(), 5u);
  EXPECT_EQ(request.commands(5).upload().raw_index(), 6u);
  EXPECT_EQ(request.commands(5).id(), 6u);
}

TEST(OutgoingMessageTest, LargeEntriesAreNotCopied) {
  const std::string large(1 << 20, 'x');
  OutgoingMessage message = Upload(~uint64_t{0}, large);
  EXPECT_FALSE(message.is_copied());
  EXPECT_LE(Bytes(OutgoingMessage(message).Take()).size(), message.size_bytes());
  const Request request = message.Take();
  ASSERT_EQ(request.pieces().size(), 2u);
  EXPECT_EQ(reinterpret_cast<const char*>(request.pieces()[1].view.data()), large.data());
  v1::SessionRequest parsed;
  ASSERT_TRUE(parsed.ParseFromString(Bytes(request)));
  EXPECT_THAT(parsed.raw(), ElementsAre(large));
}

}  // namespace
}  // namespace opserve::client
