#include "tests/server/http/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/strings.h"

namespace opserve::testing {
namespace {

constexpr int kPatienceMilliseconds = 10'000;

sockaddr_in AddressOf(const char* host, uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

size_t ContentLength(std::string_view head) {
  constexpr std::string_view kName = "\r\ncontent-length:";
  const std::string lower = absl::AsciiStrToLower(ToAbsl(head));
  const size_t at = lower.find(kName);
  size_t length = 0;
  if (at != std::string::npos) {
    const std::string_view value = std::string_view(lower).substr(at + kName.size());
    (void)absl::SimpleAtoi(ToAbsl(value.substr(0, value.find('\r'))), &length);
  }
  return length;
}

}  // namespace

HttpConnection::HttpConnection(uint16_t port, const char* source)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_in from = AddressOf(source, 0);
  const sockaddr_in to = AddressOf("127.0.0.1", port);
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&from), sizeof(from)) != 0 ||
      ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    socket_ = UniqueFd();
  }
}

bool HttpConnection::Send(std::string_view bytes) const {
  return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

bool HttpConnection::ReadMore() {
  if (!is_open()) return false;
  pollfd readable = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&readable, 1, kPatienceMilliseconds) <= 0) return false;
  std::array<char, 65536> bytes = {};
  const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
  if (count <= 0) return false;
  read_.append(bytes.data(), static_cast<size_t>(count));
  return true;
}

std::string HttpConnection::ReadAll() {
  while (ReadMore()) {
  }
  return std::exchange(read_, {});
}

HttpAnswer HttpConnection::ReadAnswerToHead() {
  HttpAnswer answer;
  size_t end = std::string::npos;
  while ((end = read_.find("\r\n\r\n")) == std::string::npos) {
    if (!ReadMore()) return answer;
  }
  answer.head = read_.substr(0, end + 2);
  read_.erase(0, end + 4);
  constexpr size_t kStatusAt = std::string_view("HTTP/1.1 ").size();
  if (answer.head.size() > kStatusAt + 3)
    (void)absl::SimpleAtoi(answer.head.substr(kStatusAt, 3), &answer.status);
  return answer;
}

HttpAnswer HttpConnection::ReadAnswer() {
  HttpAnswer answer = ReadAnswerToHead();
  const size_t length = ContentLength(answer.head);
  while (read_.size() < length && ReadMore()) {
  }
  answer.body = read_.substr(0, length);
  read_.erase(0, length);
  return answer;
}

bool HttpConnection::IsEnded() const {
  pollfd ended = {.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&ended, 1, kPatienceMilliseconds) > 0;
}

HttpAnswer HttpAsk(uint16_t port, std::string_view request, std::string_view headers,
                   const char* source) {
  HttpConnection connection(port, source);
  connection.Send(
      absl::StrCat(ToAbsl(request), " HTTP/1.1\r\nHost: localhost\r\n", ToAbsl(headers), "\r\n"));
  return request.starts_with("HEAD") ? connection.ReadAnswerToHead() : connection.ReadAnswer();
}

uint16_t PortOfAddress(std::string_view address) {
  int port = 0;
  (void)absl::SimpleAtoi(ToAbsl(address.substr(address.rfind(':') + 1)), &port);
  return static_cast<uint16_t>(port);
}

}  // namespace opserve::testing
