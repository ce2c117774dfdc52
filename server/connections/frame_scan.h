// What lies unread in a connection, told from HTTP/2's frames (RFC 9113, sections 4.1 and 6).
#pragma once

#include <cstdint>
#include <string_view>

namespace opserve::server {

// What no client sends that has calls to make.
enum class FrameFlood : uint8_t {
  kNone,
  kEmptyFrames,     // a thousand and more of which nearly none carries anything
  kEndlessHeaders,  // a header block larger than any that gRPC takes
  kLargeHeaders,    // header blocks of many KiB, and no message
  kPieces,          // hundreds of which nearly all are small pieces of a message
  kSmallMessages,  // as many that look like a small message each: a flood if they are pieces of one
};

// Looks at bytes that a client sent, from the middle of a frame or of its content on. Says kNone
// where it is not sure: content can look like frames, but not like many that follow each other and
// are all as they must be. Takes time in proportion to the bytes, whatever they are.
FrameFlood FindFlood(std::string_view bytes);

}  // namespace opserve::server
