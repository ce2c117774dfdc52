// The two bare ways to answer bytes with bytes.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <grpcpp/support/byte_buffer.h>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"
#include "tests/bench/e2e/echo_protocol.h"

namespace opserve::bench {

// Memory that is touched once and used again: 64-byte aligned, on huge pages where large.
// Thread-safe.
class WarmBlocks {
 public:
  struct Block {
    std::byte* data = nullptr;
    size_t size_class = 0;  // 2 to the power of it are its bytes
  };

  WarmBlocks() = default;
  ~WarmBlocks();
  WarmBlocks(const WarmBlocks&) = delete;
  WarmBlocks& operator=(const WarmBlocks&) = delete;

  Block Take(size_t bytes);
  void Return(Block block);

 private:
  Mutex mutex_;
  std::array<std::vector<Block>, 48> free_ ABSL_GUARDED_BY(mutex_);
};

enum class AnswerFrom {
  kRequest,   // zero-copy: the slices that came leave again
  kGathered,  // the request is copied into one warm block, and the answer points at that
};

// A request and how to answer it.
class EchoRequest {
 public:
  // A request without an EchoHeader is answered with nothing. `blocks` must outlive the answers.
  EchoRequest(const grpc::ByteBuffer& request, AnswerFrom from, WarmBlocks& blocks);

  const EchoHeader& header() const { return header_; }
  // One answer of header().answer_bytes, the `following` number of others behind it. Bytes that the
  // request does not have are taken from a warm block of zeros.
  grpc::ByteBuffer MakeAnswer(uint32_t following) const;

 private:
  EchoHeader header_;
  std::vector<grpc::Slice> slices_;  // the request's, or one that is the block
};

}  // namespace opserve::bench
