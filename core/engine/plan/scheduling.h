// How long work may keep a thread: by these bounds it runs where it came, or waits for a device's
// workers and takes turns there.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/time/time.h"

namespace opserve {

// Up to here a call is run by the thread that brings it: handing it over would take as long.
inline constexpr absl::Duration kInlineTime = absl::Microseconds(20);
// Up to here it may run between the chunks of others.
inline constexpr absl::Duration kTinyTime = absl::Microseconds(60);

// Of a small call in a batch besides its own: measured, and of one in a series, estimated from how
// many instructions fewer it takes.
inline constexpr absl::Duration kBatchedCallTime = absl::Microseconds(1);
inline constexpr absl::Duration kSerialCallTime = absl::Nanoseconds(300);
// Up to here a batch runs where it is read: that took about as many instructions.
inline constexpr absl::Duration kInlineBatchTime = absl::Microseconds(40);
// Of a group's turn, whatever was estimated.
inline constexpr std::chrono::microseconds kMaxTurnTime{200};
// What the calls of a series may copy before the last of them.
inline constexpr int64_t kMaxStagedBytes = 512 << 10;

}  // namespace opserve
