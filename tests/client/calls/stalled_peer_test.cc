// When a call ends whose peer takes no bytes any more: the contract of borrowed and of owned
// inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <opserve/client.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/mutex.h"

namespace opserve::client {
namespace {

// Speaks just enough HTTP/2 to be sent bytes without bound, and reads none of them.
class StalledPeer {
 public:
  StalledPeer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    const int bytes = 4096;
    setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    target_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  }
  ~StalledPeer() {
    HangUp();
    close(listener_);
  }
  StalledPeer(const StalledPeer&) = delete;
  StalledPeer& operator=(const StalledPeer&) = delete;

  const std::string& target() const { return target_; }

  // Waits for the connection, and opens both flow-control windows to 2 GiB.
  void Accept() {
    constexpr std::string_view kFrames(
        "\0\0\6\4\0\0\0\0\0"
        "\0\4\x7f\xff\xff\xff"  // SETTINGS: INITIAL_WINDOW_SIZE
        "\0\0\0\4\1\0\0\0\0"    // SETTINGS, acknowledged
        "\0\0\4\x8\0\0\0\0\0"
        "\x7f\xff\0\0",  // WINDOW_UPDATE of the connection
        37);
    connection_ = accept(listener_, nullptr, nullptr);
    EXPECT_EQ(write(connection_, kFrames.data(), kFrames.size()),
              static_cast<ssize_t>(kFrames.size()));
  }

  void HangUp() {
    if (connection_ >= 0) close(std::exchange(connection_, -1));
  }

 private:
  const int listener_;
  int connection_ = -1;
  std::string target_;
};

enum class Way : uint8_t { kExecute, kExecuteAsync };

class PendingCall {
 public:
  PendingCall(StalledPeer& peer, TensorView view, Way way) : peer_(peer) {
    Call call("Op");
    call.Input("x", std::move(view));
    const CallOptions options = {.timeout = absl::Seconds(2)};
    const Client client = *Client::Connect(peer.target(), {.shared_memory_bytes = 0});
    if (way == Way::kExecuteAsync) {
      client.ExecuteAsync(call, options, [this](const absl::StatusOr<ExecuteResult>& result) {
        End(result.status());
      });
    } else {
      thread_ = std::thread(
          [this, client, call, options] { End(client.Execute(call, options).status()); });
    }
  }

  ~PendingCall() {
    peer_.HangUp();
    EXPECT_TRUE(WaitFor(absl::Seconds(30)).has_value());
    if (thread_.joinable()) thread_.join();
  }
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;

  // Its status, if it ends in time.
  std::optional<absl::Status> WaitFor(absl::Duration patience) {
    const absl::Time end = absl::Now() + patience;
    const MutexLock lock(mutex_);
    while (!status_.has_value() && absl::Now() < end)
      ended_.WaitFor(mutex_, absl::ToChronoNanoseconds(end - absl::Now()));
    return status_;
  }

 private:
  void End(absl::Status status) {
    const MutexLock lock(mutex_);
    status_ = std::move(status);
    ended_.NotifyAll();
  }

  StalledPeer& peer_;
  std::thread thread_;
  Mutex mutex_;
  CondVar ended_;
  std::optional<absl::Status> status_ ABSL_GUARDED_BY(mutex_);
};

constexpr size_t kElements = size_t{16} << 20;

class StalledPeerTest : public ::testing::TestWithParam<Way> {};

TEST_P(StalledPeerTest, OwnedInputsAreNotWaitedFor) {
  StalledPeer peer;
  const auto values = std::make_shared<const std::vector<float>>(kElements);
  TensorView view = TensorView::Of(*values, {static_cast<int64_t>(kElements)});
  view.owner = values;
  PendingCall call(peer, std::move(view), GetParam());
  peer.Accept();
  const std::optional<absl::Status> status = call.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_GT(values.use_count(), 1) << "the transport still reads them";
  peer.HangUp();
  for (int i = 0; i < 5000 && values.use_count() > 1; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(values.use_count(), 1);
}

TEST_P(StalledPeerTest, BorrowedInputsAreWaitedFor) {
  StalledPeer peer;
  const std::vector<float> values(kElements);
  PendingCall call(peer, TensorView::Of(values, {static_cast<int64_t>(kElements)}), GetParam());
  peer.Accept();
  EXPECT_FALSE(call.WaitFor(absl::Seconds(4)).has_value()) << "the transport still reads them";
  peer.HangUp();
  const std::optional<absl::Status> status = call.WaitFor(absl::Seconds(30));
  ASSERT_TRUE(status.has_value());
  EXPECT_FALSE(status->ok());
}

INSTANTIATE_TEST_SUITE_P(Ways, StalledPeerTest,
                         ::testing::Values(Way::kExecute, Way::kExecuteAsync));

}  // namespace
}  // namespace opserve::client
