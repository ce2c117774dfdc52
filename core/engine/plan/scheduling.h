// How long work may keep a thread. These bounds decide whether work runs on the thread that brings
// it, or waits for the workers of a device and takes turns there.
#pragma once

#include <chrono>
#include <cstdint>

#include "absl/time/time.h"

namespace opserve {

// Up to here a call is run by the thread that brings it: handing it over would take as long.
inline constexpr absl::Duration kInlineTime = absl::Microseconds(20);
// Up to here it may run between the chunks of others.
inline constexpr absl::Duration kTinyTime = absl::Microseconds(60);

// The overhead of a small call in a batch, measured; and of a call in a series, estimated from the
// instructions that a series saves.
inline constexpr absl::Duration kBatchedCallTime = absl::Microseconds(1);
inline constexpr absl::Duration kSerialCallTime = absl::Nanoseconds(300);
// Up to here a batch runs on the thread that read it: reading took about as many instructions.
inline constexpr absl::Duration kInlineBatchTime = absl::Microseconds(40);
// Of a group's turn, whatever was estimated; by estimate, of what a batch computes on the thread
// that read it.
inline constexpr std::chrono::microseconds kMaxTurnTime{200};
// What the calls of a series may copy before the last of them.
inline constexpr int64_t kMaxStagedBytes = 512 << 10;

}  // namespace opserve
