// The client's shared memory, with a socket that means harm.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <opserve/shared_memory.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/strings.h"
#include "core/base/unique_fd.h"
#include "opserve/v1/shared_memory.pb.h"
#include "tests/client/hostile/hostile_socket.h"

namespace opserve::client {
namespace {

using ::testing::HasSubstr;

size_t OpenFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

// What the client says of such an answer; it leaves no file open.
absl::Status StatusOf(const std::string& bytes, const std::vector<int>& files,
                      int64_t size = kSize) {
  absl::Status status;
  const size_t before = OpenFiles();
  {
    const HostileSocket socket([&](int client) { Send(client, bytes, files); });
    status = SharedMemory::Create(socket.path(), size, absl::Seconds(20)).status();
  }
  EXPECT_EQ(OpenFiles(), before);
  return status;
}

std::string Complaint(const std::string& bytes, const std::vector<int>& files) {
  const absl::Status status = StatusOf(bytes, files);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  return std::string(ToStd(status.message()));
}

TEST(HostileMemoryTest, SoundMemoryIsTaken) {
  const UniqueFd file = Memory(kSize, kSeals);
  EXPECT_EQ(StatusOf(Region(), {file.get()}), absl::OkStatus());
  const UniqueFd larger = Memory(2 * kSize, kSeals);
  EXPECT_EQ(StatusOf(Region(), {larger.get()}), absl::OkStatus());
}

TEST(HostileMemoryTest, MemoryThatMayGoIsRefused) {
  const UniqueFd unsealed = Memory(kSize, 0);
  EXPECT_THAT(Complaint(Region(), {unsealed.get()}), HasSubstr("want a memfd that cannot shrink"));
  const UniqueFd growing = Memory(kSize, F_SEAL_GROW);
  EXPECT_THAT(Complaint(Region(), {growing.get()}), HasSubstr("want a memfd that cannot shrink"));
  const UniqueFd small = Memory(kSize - 1, kSeals);
  EXPECT_THAT(Complaint(Region(), {small.get()}),
              HasSubstr("its file: want at least 8192 bytes, got 8191"));
}

TEST(HostileMemoryTest, MemoryThatCannotBeWrittenIsRefused) {
  const UniqueFd file = Memory(kSize, kSeals | F_SEAL_WRITE);
  EXPECT_EQ(StatusOf(Region(), {file.get()}).code(), absl::StatusCode::kResourceExhausted);
}

TEST(HostileMemoryTest, OtherFilesAreRefused) {
  const std::string path = absl::StrCat("/tmp/opserve-hostile-file-", getpid());
  const UniqueFd regular(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(ftruncate(regular.get(), kSize), 0);
  std::filesystem::remove(path);
  const UniqueFd directory(open("/tmp", O_RDONLY | O_CLOEXEC));
  const UniqueFd zeros(open("/dev/zero", O_RDWR | O_CLOEXEC));
  const UniqueFd unconnected(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  for (const UniqueFd* file : {&regular, &directory, &zeros, &unconnected}) {
    EXPECT_THAT(Complaint(Region(), {file->get()}), HasSubstr("want a memfd that cannot shrink"));
  }
}

TEST(HostileMemoryTest, OneFileComes) {
  const UniqueFd file = Memory(kSize, kSeals);
  EXPECT_THAT(Complaint(Region(), {}), HasSubstr("its files: want one, got 0"));
  EXPECT_THAT(Complaint(Region(), {file.get(), file.get()}), HasSubstr("want one, got 2"));
  EXPECT_THAT(Complaint(Region(), std::vector<int>(253, file.get())),
              HasSubstr("want one, got 253"));
}

TEST(HostileMemoryTest, FilesOfBadAnswersAreClosed) {
  const UniqueFd file = Memory(kSize, kSeals);
  EXPECT_THAT(Complaint("\xff", {file.get()}), HasSubstr("malformed bytes"));
  EXPECT_THAT(Complaint(std::string(20000, 'x'), {file.get()}),
              HasSubstr("its packet: want at most 8192 bytes"));
  v1::SharedMemoryResponse fails;
  fails.mutable_error()->set_code(3);
  fails.mutable_error()->set_message("no\x1b[2J");
  EXPECT_EQ(StatusOf(fails.SerializeAsString(), {file.get(), file.get()}),
            absl::InvalidArgumentError("no\\x1b[2J"));
  fails.mutable_error()->set_code(0);
  EXPECT_THAT(Complaint(fails.SerializeAsString(), {file.get()}),
              HasSubstr("want a code of an error"));
}

TEST(HostileMemoryTest, WhatComesIsWhatWasAskedFor) {
  const UniqueFd file = Memory(kSize, kSeals);
  EXPECT_THAT(Complaint(Region(15), {file.get()}), HasSubstr("id: want 16 bytes, got 15"));
  EXPECT_THAT(Complaint(Region(0), {file.get()}), HasSubstr("id: want 16 bytes, got 0"));
  EXPECT_THAT(Complaint(Region(16, kSize + 1), {file.get()}),
              HasSubstr("size_bytes: want 8192, as was asked for, got 8193"));
  v1::SharedMemoryResponse released;
  released.mutable_released();
  EXPECT_THAT(Complaint(released.SerializeAsString(), {file.get()}),
              HasSubstr("id: want 16 bytes"));
  for (const int64_t size : {int64_t{0}, int64_t{-1}, int64_t{1} << 62})
    EXPECT_FALSE(StatusOf(Region(16, size), {file.get()}, size).ok()) << size;
}

TEST(HostileMemoryTest, SilenceIsTimedOut) {
  const absl::Time start = absl::Now();
  const HostileSocket socket([](int) {});
  EXPECT_EQ(SharedMemory::Create(socket.path(), kSize, absl::Milliseconds(50)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  EXPECT_EQ(SharedMemory::Create(socket.path(), kSize, -absl::Seconds(1)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(HostileMemoryTest, PathsAreChecked) {
  for (const std::string& path :
       {std::string(), std::string(200, 'x'), std::string("\0abstract", 9)})
    EXPECT_EQ(SharedMemory::Create(path, kSize).status().code(),
              absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace opserve::client
