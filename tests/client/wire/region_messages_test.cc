#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/cpp/wire/messages.h"
#include "core/base/op_error.h"
#include "core/base/strings.h"
#include "opserve/v1/shared_memory.pb.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSize = 4096;

// What the answer that `fill` makes is read as.
template <typename Fill>
absl::StatusOr<std::string> ReadAnswer(Fill fill) {
  v1::SharedMemoryResponse response;
  fill(response);
  return ReadRegionId(response.SerializeAsString(), kSize);
}

TEST(RegionMessagesTest, ARequestSaysItsSize) {
  v1::SharedMemoryRequest request;
  ASSERT_TRUE(request.ParseFromString(MakeAllocateRegionRequest(kSize)));
  EXPECT_EQ(request.allocate().size_bytes(), kSize);
}

TEST(RegionMessagesTest, AnIdIsRead) {
  const std::string id(16, 'x');
  const absl::StatusOr<std::string> read = ReadAnswer([&id](v1::SharedMemoryResponse& response) {
    response.mutable_region()->set_id(id);
    response.mutable_region()->set_size_bytes(kSize);
  });
  ASSERT_THAT(read, testing::IsOk());
  EXPECT_EQ(*read, id);
}

TEST(RegionMessagesTest, AnErrorIsTheServers) {
  const absl::Status status = ReadAnswer([](v1::SharedMemoryResponse& response) {
                                response.mutable_error()->set_code(8);
                                response.mutable_error()->set_message("no more of it");
                              }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ToStd(status.message()), "no more of it");
}

TEST(RegionMessagesTest, ARegionThatNobodyAskedForIsRefused) {
  const absl::Status short_id = ReadAnswer([](v1::SharedMemoryResponse& response) {
                                  response.mutable_region()->set_id("short");
                                  response.mutable_region()->set_size_bytes(kSize);
                                }).status();
  EXPECT_EQ(short_id.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(ToStd(short_id.message())), HasSubstr("id: want 16 bytes, got 5"));
  const absl::Status larger = ReadAnswer([](v1::SharedMemoryResponse& response) {
                                response.mutable_region()->set_id(std::string(16, 'x'));
                                response.mutable_region()->set_size_bytes(kSize + 1);
                              }).status();
  EXPECT_EQ(larger.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(ToStd(larger.message())), HasSubstr("size_bytes: want 4096"));
}

}  // namespace
}  // namespace opserve::client
