// A shared-memory socket that means harm.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/unique_fd.h"
#include "opserve/v1/shared_memory.pb.h"

namespace opserve::client {

inline constexpr int64_t kSize = 8192;
inline constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

inline UniqueFd Memory(int64_t size, int seals, unsigned flags = MFD_ALLOW_SEALING) {
  UniqueFd fd(memfd_create("hostile", MFD_CLOEXEC | flags));
  EXPECT_EQ(ftruncate(fd.get(), size), 0);
  EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
  return fd;
}

inline std::string Region(size_t id_bytes = 16, int64_t size = kSize) {
  v1::SharedMemoryResponse response;
  response.mutable_region()->set_id(std::string(id_bytes, 'i'));
  response.mutable_region()->set_size_bytes(size);
  return response.SerializeAsString();
}

inline void Send(int socket, const std::string& bytes, const std::vector<int>& files) {
  iovec piece = {.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  std::vector<char> control(files.empty() ? 0 : CMSG_SPACE(files.size() * sizeof(int)));
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (!files.empty()) {
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), files.data(), files.size() * sizeof(int));
  }
  EXPECT_EQ(sendmsg(socket, &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

// Takes one client and one request, and does `answer` to it.
class HostileSocket {
 public:
  explicit HostileSocket(std::function<void(int socket)> answer)
      : path_(absl::StrCat("/tmp/opserve-hostile-", getpid(), "-", number_++)),
        listener_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_.get(), 1), 0);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const UniqueFd client(accept(listener_.get(), nullptr, nullptr));
      char request[100];
      if (recv(client.get(), request, sizeof(request), 0) > 0) answer(client.get());
      while (recv(client.get(), request, sizeof(request), 0) > 0) continue;
    });
  }
  ~HostileSocket() {
    thread_.join();
    std::filesystem::remove(path_);
  }
  HostileSocket(const HostileSocket&) = delete;
  HostileSocket& operator=(const HostileSocket&) = delete;

  const std::string& path() const { return path_; }

 private:
  static inline int number_ = 0;
  const std::string path_;
  const UniqueFd listener_;
  std::thread thread_;
};

}  // namespace opserve::client
