#include "server/connections/frame_scan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/support/seed.h"

namespace opserve::server {
namespace {

enum Type : uint8_t {
  kData,
  kHeaders,
  kPriority,
  kReset,
  kSettings,
  kPush,
  kPing,
  kGoAway,
  kWindowUpdate,
  kContinuation
};
constexpr uint8_t kEndHeaders = 4;
constexpr size_t kSample = size_t{128} << 10;

std::string Frame(uint8_t type, uint32_t stream, const std::string& content, uint8_t flags = 0) {
  const auto byte = [](uint64_t value) { return static_cast<char>(value & 0xFF); };
  const size_t size = content.size();
  std::string frame = {byte(size >> 16),   byte(size >> 8),   byte(size),
                       byte(type),         byte(flags),       byte(stream >> 24),
                       byte(stream >> 16), byte(stream >> 8), byte(stream)};
  return frame + content;
}

// As much of it as is looked at, again and again.
std::string Repeated(const std::string& one) {
  std::string all;
  while (all.size() < kSample) all += one;
  return all.substr(0, kSample);
}

// The middle of a stream of frames, from anywhere on.
void ExpectFlood(const std::string& bytes, FrameFlood flood) {
  for (const size_t start : {0, 1, 5, 9, 13, 1000, 16'392})
    EXPECT_EQ(FindFlood(std::string_view(bytes).substr(start)), flood) << start;
}

TEST(FrameScanTest, FindsFramesThatCarryNothing) {
  const std::string four(4, '\0');
  const std::string eight(8, '\0');
  for (const std::string& one :
       {Frame(kData, 1, ""), Frame(kData, 5, "x"), Frame(kData, 1, four, 8), Frame(kPing, 0, eight),
        Frame(kSettings, 0, ""), Frame(kSettings, 0, std::string(6, '\1')),
        Frame(kWindowUpdate, 0, four), Frame(kWindowUpdate, 3, four), Frame(kReset, 1, four),
        Frame(kGoAway, 0, eight), Frame(kPriority, 1, four + '\1'),
        // Among others that are sound.
        Frame(kPing, 0, eight) + Frame(kData, 1, "") + Frame(kReset, 1, four)})
    ExpectFlood(Repeated(one), FrameFlood::kEmptyFrames);
}

TEST(FrameScanTest, FindsHeadersWithoutAnEnd) {
  for (const size_t size : {100, 1000, 16'384}) {
    const std::string rest = Repeated(Frame(kContinuation, 7, std::string(size, 'h')));
    ExpectFlood(rest, FrameFlood::kEndlessHeaders);
    ExpectFlood(Frame(kHeaders, 7, "first") + rest, FrameFlood::kEndlessHeaders);
    const std::string highest = Frame(kContinuation, 0x7FFFFFFF, std::string(size, 'h'));
    ExpectFlood(Repeated(highest), FrameFlood::kEndlessHeaders);
  }
}

TEST(FrameScanTest, FindsLargeHeadersWithoutMessages) {
  const std::string headers = Frame(kHeaders, 9, std::string(8000, 'h'), kEndHeaders);
  ExpectFlood(Repeated(headers), FrameFlood::kLargeHeaders);
  ExpectFlood(Repeated(headers + Frame(kReset, 9, std::string(4, '\x08')) + Frame(kData, 9, "")),
              FrameFlood::kLargeHeaders);
}

TEST(FrameScanTest, FindsAMessageInSmallPieces) {
  for (const size_t size : {6, 33, 255})
    ExpectFlood(Repeated(Frame(kData, 3, std::string(size, '\0'))), FrameFlood::kPieces);
  const std::string rest = Repeated(Frame(kData, 3, "any piece of a message"));
  ExpectFlood(Frame(kData, 3, std::string("\0\0\x10\0\0", 5)) + rest, FrameFlood::kPieces);
}

TEST(FrameScanTest, TellsSmallMessages) {
  const std::string message = std::string("\0\0\0\0\x14", 5) + std::string(20, 'm');
  // Alone, with others in a frame, in two frames as some clients write them, and of no bytes.
  for (const std::string& one :
       {Frame(kData, 1, message), Frame(kData, 1, message + message),
        Frame(kData, 1, message.substr(0, 5)) + Frame(kData, 1, message.substr(5)),
        Frame(kData, 9, std::string(5, '\0'))})
    ExpectFlood(Repeated(one), FrameFlood::kSmallMessages);
  // As clients make calls; and where others go by the same connection.
  const std::string headers = Frame(kHeaders, 1, std::string(60, 'h'), kEndHeaders);
  ExpectFlood(Repeated(headers + Frame(kData, 1, message)), FrameFlood::kNone);
  ExpectFlood(Repeated(Frame(kData, 1, message) + Frame(kData, 3, std::string(4000, 't'))),
              FrameFlood::kNone);
}

TEST(FrameScanTest, FindsAFloodBehindTheRestOfAFrame) {
  const std::string flood = Repeated(Frame(kData, 1, ""));
  for (const size_t rest : {0, 1, 100, 16'384})
    EXPECT_EQ(FindFlood(std::string(rest, 'x') + flood), FrameFlood::kEmptyFrames) << rest;
}

TEST(FrameScanTest, CallsAreNone) {
  const std::string header = Frame(kHeaders, 1, std::string(100, 'h'), kEndHeaders);
  // Unary calls; large messages; a client that reads much; one that cancels all.
  for (const std::string& one :
       {header + Frame(kData, 1, std::string(60, 'd')), Frame(kData, 3, std::string(256, 'd')),
        Frame(kData, 3, std::string(16'384, 'd')),
        header + Frame(kData, 1, std::string(60, 'd')) + Frame(kReset, 1, std::string(4, '\x08')) +
            Frame(kWindowUpdate, 0, std::string(4, '\1')),
        // Long headers, and short ones without messages yet.
        Frame(kHeaders, 1, std::string(6000, 'h')) +
            Frame(kContinuation, 1, std::string(2000, 'h'), kEndHeaders) + Frame(kData, 1, "12345"),
        Frame(kHeaders, 1, std::string(4095, 'h'), kEndHeaders)})
    ExpectFlood(Repeated(one), FrameFlood::kNone);
}

TEST(FrameScanTest, AFewFramesAreNotMany) {
  std::string few;
  for (int i = 0; i < 999; ++i) few += Frame(kPing, 0, std::string(8, '\0'));
  EXPECT_EQ(FindFlood(few), FrameFlood::kNone);
  EXPECT_EQ(FindFlood(few + Frame(kPing, 0, std::string(8, '\0'))), FrameFlood::kEmptyFrames);
  few.clear();
  for (int i = 0; i < 249; ++i) few += Frame(kData, 1, std::string(250, 'p'));
  EXPECT_EQ(FindFlood(few), FrameFlood::kNone);
  EXPECT_EQ(FindFlood(few + Frame(kData, 1, std::string(250, 'p'))), FrameFlood::kPieces);
}

TEST(FrameScanTest, WhatIsUnsoundIsNone) {
  const std::string four(4, '\0');
  for (const std::string& one :
       {Frame(kData, 0, ""), Frame(kData, 2, ""), Frame(kData, 1U << 24 | 1, ""),
        Frame(kPing, 1, four + four), Frame(kPing, 0, four), Frame(kReset, 0, four),
        Frame(kWindowUpdate, 2, four), Frame(kSettings, 0, four), Frame(kPush, 1, four),
        Frame(77, 1, "abc"), Frame(kContinuation, 0, std::string(100, 'h'))})
    EXPECT_EQ(FindFlood(Repeated(one)), FrameFlood::kNone) << static_cast<int>(one[3]);
}

// Tensors of one value or two in turns, and images of one colour, in frames of any size.
TEST(FrameScanTest, TensorsAreNone) {
  std::mt19937 random(testing::TestSeed());
  const auto any = [&random](uint32_t below) { return random() % below; };
  for (int i = 0; i < 400; ++i) {
    const size_t period = std::vector<size_t>{1, 2, 3, 4, 8}[any(5)];
    std::string pattern(period, '\0');
    // Small numbers look most like frames.
    for (char& byte : pattern) byte = static_cast<char>(any(2) == 0 ? 0 : any(10));
    const size_t frame = std::vector<size_t>{300, 4096, 16'384, 1 << 20}[any(4)];
    const std::string content = Repeated(pattern) + Repeated(pattern);
    std::string bytes;
    for (size_t at = 0; at < kSample; at += frame)
      bytes += Frame(kData, 1, content.substr(at % period, frame));
    const std::string_view sample = std::string_view(bytes).substr(any(40), kSample);
    ASSERT_EQ(FindFlood(sample), FrameFlood::kNone) << i << ": frames of " << frame;
  }
  std::string noise(kSample, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  EXPECT_EQ(FindFlood(noise), FrameFlood::kNone);
}

// These frames of 300 bytes are also CONTINUATION frames of 1536 bytes, of stream 0x06000001.
TEST(FrameScanTest, MessagesThatLookLikeALateHeaderBlockAreNone) {
  std::string pattern = {9, 0, 6, 0};
  std::string bytes;
  while (bytes.size() < kSample) bytes += Frame(kData, 1, Repeated(pattern).substr(0, 300));
  for (size_t start = 0; start < 40; ++start)
    EXPECT_EQ(FindFlood(std::string_view(bytes).substr(start)), FrameFlood::kNone) << start;
}

TEST(FrameScanTest, ALateStreamsHeaderBlockIsFound) {
  ExpectFlood(Repeated(Frame(kContinuation, 0x06000001, std::string(1536, 'h'))),
              FrameFlood::kEndlessHeaders);
}

TEST(FrameScanTest, FewBytesAreNone) {
  const std::string frame = Frame(kPing, 0, std::string(8, '\0'));
  for (size_t size = 0; size < 30; ++size)
    EXPECT_EQ(FindFlood(Repeated(frame).substr(0, size)), FrameFlood::kNone);
}

}  // namespace
}  // namespace opserve::server
