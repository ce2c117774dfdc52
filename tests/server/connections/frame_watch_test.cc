#include "server/connections/frame_watch.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <string>

#include "core/base/clock.h"
#include "tests/server/connections/connection_pairs.h"

namespace opserve::server {
namespace {

// Of frames that follow each other: as much as the watch looks at.
constexpr size_t kBytes = size_t{128} << 10;
constexpr int64_t kMiB = 1 << 20;

// DATA of stream 1.
std::string DataFrame(const std::string& content) {
  return std::string(
             {'\0', '\0', static_cast<char>(content.size()), '\0', '\0', '\0', '\0', '\0', '\1'}) +
         content;
}

std::string Filled(const std::string& one) {
  std::string all;
  while (all.size() < kBytes) all += one;
  return all;
}

class FrameWatchTest : public ::testing::Test {
 protected:
  // The client sends them, and they lie unread.
  void Leave(const std::string& frames) {
    pair_.Leave(frames);
    for (int unread = 0; unread < static_cast<int>(kBytes / 2);)
      ASSERT_EQ(::ioctl(pair_.connection().socket(), FIONREAD, &unread), 0);
  }

  // As gRPC does.
  void ReadAll() {
    std::string bytes(kBytes, '\0');
    while (::recv(pair_.connection().socket(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }

  // Sends the frames again and again, up to so many bytes, each time looked at before and after
  // they are read; `delivered` of a hundred bytes are noted as messages.
  void SendAndCheck(const std::string& frames, int64_t most_bytes, int64_t delivered) {
    const int64_t before = pair_.connection().received_bytes();
    for (int64_t sent = 0; sent < most_bytes && !pair_.IsCut();) {
      Leave(frames);
      watch_.Check();
      if (pair_.IsCut()) return;
      ReadAll();
      const int64_t came = pair_.connection().received_bytes() - before;
      pair_.connection().NoteMessages((came - sent) * delivered / 100);
      sent = came;
    }
  }

  ConnectionTable table_{{}, Clock::Real()};
  TcpPair pair_{table_};
  FrameWatch watch_{table_};
};

TEST_F(FrameWatchTest, CutsWhoSendsAMessageInSmallPieces) {
  Leave(Filled(DataFrame("a piece of a message")));
  watch_.Check();
  EXPECT_TRUE(pair_.IsCut());
  EXPECT_TRUE(table_.IsBarred(pair_.connection().client()));
}

TEST_F(FrameWatchTest, CutsWhosePiecesOnlyLookLikeMessages) {
  const std::string frames =
      Filled(DataFrame(std::string("\0\0\0\0\x14", 5) + std::string(20, 'm')));
  SendAndCheck(frames, 16 * kMiB, 0);
  EXPECT_FALSE(pair_.IsCut());
  SendAndCheck(frames, 16 * kMiB, 0);
  EXPECT_TRUE(pair_.IsCut());
}

TEST_F(FrameWatchTest, LeavesSmallMessagesAlone) {
  const std::string frames =
      Filled(DataFrame(std::string("\0\0\0\0\x08", 5) + std::string(8, 'm')));
  // 8 of 22 bytes are content.
  SendAndCheck(frames, 60 * kMiB, 30);
  EXPECT_FALSE(pair_.IsCut());
}

// A stream's reader may pause: gRPC reads on, up to its window.
TEST_F(FrameWatchTest, LeavesMessagesAloneThatWait) {
  const std::string frames =
      Filled(DataFrame(std::string("\0\0\0\0\x14", 5) + std::string(20, 'm')));
  for (int i = 0; i < 4; ++i) {
    SendAndCheck(frames, 15 * kMiB, 0);
    pair_.connection().NoteMessages(8 * kMiB);
  }
  EXPECT_FALSE(pair_.IsCut());
}

TEST_F(FrameWatchTest, LeavesTensorsAlone) {
  const std::string content(200, '\x3f');
  Leave(std::string("\0\x40\0\0\0\0\0\0\1", 9) + Filled(content));
  watch_.Check();
  EXPECT_FALSE(pair_.IsCut());
}

}  // namespace
}  // namespace opserve::server
