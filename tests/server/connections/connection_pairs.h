// Both ends of connections on this machine, the server's in a table.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/connections/connection_table.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {

// Both ends of a TCP connection on this machine; the server's is in a table.
class TcpPair {
 public:
  explicit TcpPair(ConnectionTable& table) : table_(table) {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), any, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), any, &size), 0);
    client_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client_.get(), any, size), 0);
    sockaddr_storage peer = {};
    size = sizeof(peer);
    UniqueFd server(::accept4(listener.get(), reinterpret_cast<sockaddr*>(&peer), &size, 0));
    EXPECT_TRUE(server.is_open());
    peer_ = PeerAddress::Of(peer);
    sockaddr_in v4 = {};
    std::memcpy(&v4, &peer, sizeof(v4));
    name_ = absl::StrCat("ipv4:127.0.0.1:", ntohs(v4.sin_port));
    EXPECT_THAT(table.Reserve(peer_), testing::IsOk());
    connection_ = table.Add(std::move(server), peer_);
  }
  ~TcpPair() { table_.Remove(connection_); }
  TcpPair(const TcpPair&) = delete;
  TcpPair& operator=(const TcpPair&) = delete;

  Connection& connection() { return *connection_; }
  const std::string& name() const { return name_; }
  // The other side reads it.
  void Send(size_t bytes) {
    std::string data(size_t{16} << 10, 'x');
    while (bytes > 0) {
      const size_t part = std::min(bytes, data.size());
      ASSERT_EQ(::send(client_.get(), data.data(), part, MSG_NOSIGNAL), static_cast<ssize_t>(part));
      sent_ += static_cast<int64_t>(part);
      while (connection_->received_bytes() < sent_) {
      }
      EXPECT_GT(::recv(connection_->socket(), data.data(), data.size(), MSG_DONTWAIT), 0);
      bytes -= part;
    }
  }
  // Nobody reads it. At least 64 KiB, of which as much comes as the sockets take.
  void Leave(const std::string& bytes) {
    ASSERT_GT(::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT), 0);
    while (connection_->received_bytes() < 64 << 10) {
    }
  }
  // The other side ended it.
  bool IsCut() {
    char byte = 0;
    const ssize_t got = ::recv(client_.get(), &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }

 private:
  ConnectionTable& table_;
  UniqueFd client_;
  PeerAddress peer_;
  std::string name_;
  std::shared_ptr<Connection> connection_;
  int64_t sent_ = 0;
};

// Likewise of a unix socket.
class UnixPair {
 public:
  explicit UnixPair(ConnectionTable& table) : table_(table) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    client_ = UniqueFd(ends[0]);
    EXPECT_THAT(table.Reserve(PeerAddress()), testing::IsOk());
    connection_ = table.Add(UniqueFd(ends[1]), PeerAddress());
  }
  ~UnixPair() { table_.Remove(connection_); }
  UnixPair(const UnixPair&) = delete;
  UnixPair& operator=(const UnixPair&) = delete;

  Connection& connection() { return *connection_; }
  bool IsCut() {
    char byte = 0;
    return ::recv(client_.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

 private:
  ConnectionTable& table_;
  UniqueFd client_;
  std::shared_ptr<Connection> connection_;
};

}  // namespace opserve::server
