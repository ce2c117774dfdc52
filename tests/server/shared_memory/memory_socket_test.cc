// The socket of shared memory, with clients of every kind.
#include "server/shared_memory/memory_socket.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include <opserve/shared_memory.h>

#include "absl/time/clock.h"
#include "core/base/op_error.h"
#include "google/rpc/error_details.pb.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using client::SharedMemory;

class MemorySocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "opserveXXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = (folder_ / "memory").string();
    Listen();
  }
  void TearDown() override {
    socket_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Listen() {
    absl::StatusOr<std::unique_ptr<MemorySocket>> socket =
        MemorySocket::Listen(path_, 0600, table_);
    ASSERT_THAT(socket, testing::IsOk());
    socket_ = *std::move(socket);
  }

  UniqueFd Connect() const {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0)
        << std::strerror(errno);
    return fd;
  }

  static void Send(const UniqueFd& fd, const std::string& bytes) {
    EXPECT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  // nullopt when the server closed it.
  static std::optional<v1::SharedMemoryResponse> Receive(const UniqueFd& fd) {
    std::array<char, 8192> bytes = {};
    const ssize_t size = ::recv(fd.get(), bytes.data(), bytes.size(), 0);
    if (size <= 0) return std::nullopt;
    v1::SharedMemoryResponse response;
    EXPECT_TRUE(response.ParseFromArray(bytes.data(), static_cast<int>(size)));
    return response;
  }

  // Connections end some time after a client has gone.
  void ExpectRegions(int64_t count) const {
    for (int i = 0; i < 20'000 && table_.stats().regions != count; ++i)
      absl::SleepFor(absl::Milliseconds(1));
    EXPECT_EQ(table_.stats().regions, count);
  }

  void ExpectServes() const {
    const absl::StatusOr<SharedMemory> memory = SharedMemory::Create(path_, 4096);
    EXPECT_THAT(memory, testing::IsOk());
  }

  RegionTable table_{1 << 20};
  std::filesystem::path folder_;
  std::string path_;
  std::unique_ptr<MemorySocket> socket_;
};

TEST_F(MemorySocketTest, GivesMemoryThatLivesWithItsConnection) {
  {
    const absl::StatusOr<SharedMemory> memory = SharedMemory::Create(path_, 10'000);
    ASSERT_THAT(memory, testing::IsOk());
    memory->As<float>(4, 2)[1] = 2.5f;
    const std::shared_ptr<SharedRegion> region = table_.Find(memory->id());
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(reinterpret_cast<const float*>(region->bytes().data())[2], 2.5f);
    EXPECT_EQ(region->bytes().size(), 10'000u);
  }
  ExpectRegions(0);
}

TEST_F(MemorySocketTest, ErrorsComeInTheirParts) {
  for (const int64_t size : {int64_t{0}, int64_t{-5}, int64_t{1} << 40}) {
    const absl::Status status = SharedMemory::Create(path_, size).status();
    const std::optional<ErrorDetail> detail = GetErrorDetail(status);
    ASSERT_TRUE(detail.has_value()) << status;
    EXPECT_EQ(detail->parameter, "size_bytes");
  }
  EXPECT_EQ(SharedMemory::Create(path_ + "x", 1).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(SharedMemory::Create(std::string(500, 'x'), 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(MemorySocketTest, OnlyUserAndGroupMayConnect) {
  struct stat file = {};
  ASSERT_EQ(::stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(MemorySocketTest, WhatIsNoRequestEndsItsConnectionAlone) {
  for (const std::string& bytes : {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(60'000, 'x'),
                                   std::string(4097, '\0'), std::string(1, '\0')}) {
    const UniqueFd fd = Connect();
    Send(fd, bytes);
    const auto response = Receive(fd);
    ASSERT_TRUE(response.has_value()) << bytes.size();
    EXPECT_TRUE(response->has_error());
    EXPECT_FALSE(Receive(fd).has_value());
    ExpectServes();
  }
}

TEST_F(MemorySocketTest, SilentAndHalfOpenClientsBlockNobody) {
  std::vector<UniqueFd> silent;
  silent.reserve(20);
  for (int i = 0; i < 20; ++i) silent.push_back(Connect());
  ::shutdown(silent[0].get(), SHUT_WR);
  ::shutdown(silent[1].get(), SHUT_RD);
  ExpectServes();
}

// More answers than a socket holds: the client is cut, and what it had is released.
TEST_F(MemorySocketTest, WhoTakesNoAnswersIsCut) {
  const UniqueFd fd = Connect();
  v1::SharedMemoryRequest request;
  request.mutable_allocate()->set_size_bytes(1);
  const std::string bytes = request.SerializeAsString();
  int sent = 0;
  while (sent < 100'000 && ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) ++sent;
  EXPECT_LT(sent, 100'000);
  ExpectServes();
  ExpectRegions(0);
}

TEST_F(MemorySocketTest, DescriptorsThatClientsSendAreNotKept) {
  const auto count = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const UniqueFd fd = Connect();
  const std::string bytes(1, '\0');
  iovec piece = {.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int own = fd.get();
  std::memcpy(CMSG_DATA(header), &own, sizeof(own));
  const auto before = count();
  ASSERT_EQ(::sendmsg(fd.get(), &message, MSG_NOSIGNAL), 1);
  EXPECT_TRUE(Receive(fd).has_value());
  EXPECT_FALSE(Receive(fd).has_value());
  EXPECT_LE(count(), before);
}

TEST_F(MemorySocketTest, TooManyClientsAreTurnedAway) {
  std::vector<UniqueFd> clients;
  clients.reserve(kMaxMemoryClients);
  for (size_t i = 0; i < kMaxMemoryClients; ++i) clients.push_back(Connect());
  const UniqueFd more = Connect();
  const auto response = Receive(more);
  ASSERT_TRUE(response.has_value());
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(info.ParseFromString(response->error().details(0).value()));
  EXPECT_EQ(info.reason(), "RESOURCE_LIMIT");
  EXPECT_EQ(info.metadata().at("parameter"), "connections");
  clients.clear();
  for (int i = 0; i < 20'000 && !SharedMemory::Create(path_, 1).ok(); ++i)
    absl::SleepFor(absl::Milliseconds(1));
  ExpectServes();
}

TEST_F(MemorySocketTest, AStopLeavesClientsWhatTheyMapped) {
  const absl::StatusOr<SharedMemory> memory = SharedMemory::Create(path_, 4096);
  ASSERT_THAT(memory, testing::IsOk());
  memory->bytes()[0] = std::byte{5};
  socket_.reset();
  EXPECT_EQ(memory->bytes()[0], std::byte{5});
  memory->bytes()[4095] = std::byte{6};
  EXPECT_EQ(table_.stats().regions, 0);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(MemorySocketTest, APathThatIsTakenIsRefusedAndLeft) {
  const std::string other = (folder_ / "file").string();
  std::ofstream(other) << "precious";
  const absl::Status status = MemorySocket::Listen(other, 0600, table_).status();
  EXPECT_NE(std::string(status.message()).find("--allow-shared-memory"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_FALSE(MemorySocket::Listen(std::string(200, 'x'), 0600, table_).ok());
}

}  // namespace
}  // namespace opserve::server
