#include "server/connections/frame_scan.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace opserve::server {
namespace {

constexpr size_t kHeaderBytes = 9;
constexpr size_t kUsualBytes = size_t{16} << 10;
// Where the first whole frame begins, at most: after another one of the usual size.
constexpr size_t kLastStart = kUsualBytes + kHeaderBytes;

constexpr int64_t kManyFrames = 1000;
// One frame in so many that carries something makes it no flood.
constexpr int64_t kUsefulPart = 8;
// A message of gRPC's begins with five bytes of its own: 0, or 1 if it is compressed, and its size.
constexpr size_t kUsefulBytes = 5;
// Clients fill their frames, of 16 KiB and more, unless a message ends; each frame costs gRPC 1 us.
constexpr size_t kSmallBytes = 256;
constexpr int64_t kManyPieces = 250;
// gRPC takes 8 KiB of headers.
constexpr size_t kEndlessBytes = size_t{48} << 10;
constexpr size_t kEndlessFrames = 3;
// Of a frame, where as many bytes came and no message.
constexpr size_t kLargeHeaders = size_t{4} << 10;
// A client that opens a stream for each call seldom gets so far.
constexpr uint32_t kMostStreams = 1U << 24;
// So many frames with messages among them are no accident.
constexpr int64_t kSureFrames = 8;

enum class Type : uint8_t {
  kData,
  kHeaders,
  kPriority,
  kResetStream,
  kSettings,
  kPushPromise,
  kPing,
  kGoAway,
  kWindowUpdate,
  kContinuation
};
constexpr uint8_t kEndHeaders = 0x4;

struct Frame {
  size_t length;  // of what it carries
  Type type;
  uint8_t flags;
  uint32_t stream;

  bool is_of_client() const { return stream % 2 == 1; }
  bool is_of_late_stream() const { return stream >= kMostStreams; }
  bool is_headers() const { return type == Type::kHeaders || type == Type::kContinuation; }
  // Of a block that began before it.
  bool continues(uint32_t block_stream) const {
    return type == Type::kContinuation && stream == block_stream;
  }
  bool is_message() const { return type == Type::kData && length >= kUsefulBytes; }
  bool is_small() const { return is_message() && length < kSmallBytes; }
};

uint8_t ByteAt(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

// Whether a client may send it, and is likely to: tensors of one value look like larger header
// frames, and images of one dark colour like DATA of the streams with the highest numbers.
bool IsSound(const Frame& frame) {
  switch (frame.type) {
    case Type::kData:
      return frame.is_of_client() && !frame.is_of_late_stream();
    case Type::kHeaders:
    case Type::kContinuation:
      return frame.is_of_client() && frame.length <= kUsualBytes;
    case Type::kPriority:
      return frame.is_of_client() && frame.length == 5;
    case Type::kResetStream:
      return frame.is_of_client() && frame.length == 4;
    case Type::kSettings:
      return frame.stream == 0 && frame.length % 6 == 0;
    case Type::kPing:
      return frame.stream == 0 && frame.length == 8;
    case Type::kGoAway:
      return frame.stream == 0 && frame.length >= 8;
    case Type::kWindowUpdate:
      return (frame.stream == 0 || frame.is_of_client()) && frame.length == 4;
    default:
      // Servers push, and what else there may be nobody sends yet.
      return false;
  }
}

std::optional<Frame> FrameAt(std::string_view bytes, size_t at) {
  const auto byte = [bytes, at](size_t i) { return uint32_t{ByteAt(bytes, at + i)}; };
  const Frame frame = {.length = byte(0) << 16 | byte(1) << 8 | byte(2),
                       .type = static_cast<Type>(byte(3)),
                       .flags = ByteAt(bytes, at + 4),
                       .stream = byte(5) << 24 | byte(6) << 16 | byte(7) << 8 | byte(8)};
  if (!IsSound(frame)) return std::nullopt;
  return frame;
}

// Whether a frame with this content, or the beginning of it, looks like a whole message, or like
// the five bytes before one, which some clients send by themselves, and not like a piece of a
// message.
bool HasMessage(const Frame& frame, std::string_view content) {
  if (content.size() < kUsefulBytes || ByteAt(content, 0) > 1) return false;
  size_t size = 0;
  for (size_t i = 1; i < kUsefulBytes; ++i) size = size << 8 | ByteAt(content, i);
  const size_t most = frame.length - kUsefulBytes;
  return most == 0 || (size > 0 && size <= most);
}

// Frames that follow each other to the end of the bytes.
class Chain {
 public:
  // `content`: the frame's, or as much of it as there is.
  void Add(const Frame& frame, std::string_view content) {
    ++frames_;
    is_likely_ &= !frame.is_of_late_stream();
    if (frame.is_message() || frame.type == Type::kHeaders) ++useful_;
    if (frame.is_small()) ++(HasMessage(frame, content) ? small_messages_ : pieces_);
    has_messages_ |= frame.is_message();
    if (!frame.continues(block_stream_)) block_bytes_ = block_frames_ = 0;
    if (!frame.is_headers()) return;
    ++header_frames_;
    header_bytes_ += frame.length;
    block_stream_ = frame.stream;
    block_bytes_ += frame.length + kHeaderBytes;
    ++block_frames_;
    if ((frame.flags & kEndHeaders) != 0) block_bytes_ = block_frames_ = 0;
    is_endless_ |= block_bytes_ >= kEndlessBytes && block_frames_ >= kEndlessFrames;
  }

  // Tensors of a short pattern can look like one header block of a late stream.
  bool is_likely() const { return is_likely_; }
  bool brings_messages() const {
    return has_messages_ && frames_ >= kSureFrames && flood() == FrameFlood::kNone;
  }

  FrameFlood flood() const {
    if (is_endless_) return FrameFlood::kEndlessHeaders;
    const bool is_large =
        header_bytes_ >= kEndlessBytes && header_bytes_ >= header_frames_ * kLargeHeaders;
    if (is_large && !has_messages_) return FrameFlood::kLargeHeaders;
    if (frames_ < kManyPieces) return FrameFlood::kNone;
    const auto is_all_but = [this](int64_t others) { return others * kUsefulPart < frames_; };
    if (frames_ >= kManyFrames && is_all_but(useful_)) return FrameFlood::kEmptyFrames;
    if (is_all_but(frames_ - pieces_)) return FrameFlood::kPieces;
    if (is_all_but(frames_ - pieces_ - small_messages_)) return FrameFlood::kSmallMessages;
    return FrameFlood::kNone;
  }

 private:
  int64_t frames_ = 0;
  int64_t useful_ = 0;
  int64_t pieces_ = 0;
  int64_t small_messages_ = 0;
  bool is_likely_ = true;
  bool has_messages_ = false;
  size_t header_frames_ = 0;
  size_t header_bytes_ = 0;
  // Of the header block that has not ended yet.
  uint32_t block_stream_ = 0;
  size_t block_bytes_ = 0;
  size_t block_frames_ = 0;
  bool is_endless_ = false;
};

}  // namespace

FrameFlood FindFlood(std::string_view bytes) {
  // Where chains came by, which need not be followed again from there.
  std::vector<bool> seen(bytes.size());
  const size_t last_start = std::min(kLastStart, bytes.size());
  FrameFlood unlikely = FrameFlood::kNone;
  bool has_messages = false;
  for (size_t start = 0; start < last_start; ++start) {
    Chain chain;
    size_t at = start;
    while (at + kHeaderBytes <= bytes.size() && !seen[at]) {
      seen[at] = true;
      const std::optional<Frame> frame = FrameAt(bytes, at);
      if (!frame.has_value()) break;
      at += kHeaderBytes;
      chain.Add(*frame, bytes.substr(at, frame->length));
      at += frame->length;
    }
    if (at + kHeaderBytes <= bytes.size()) continue;
    const FrameFlood flood = chain.flood();
    if (flood != FrameFlood::kNone && chain.is_likely()) return flood;
    if (flood != FrameFlood::kNone) unlikely = flood;
    has_messages |= chain.brings_messages();
  }
  return has_messages ? FrameFlood::kNone : unlikely;
}

}  // namespace opserve::server
