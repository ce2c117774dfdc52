// How a kernel asks, inside of a loop that a client can make long, whether its call is still
// wanted.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/workers/worker_pool.h"

namespace opserve::cpu {

// Of one thread, in one chunk of work. It counts what is done, in elements that take a nanosecond
// or so each, and asks Workers::ShouldStop now and then: often enough that a stop is answered
// within milliseconds, too seldom to be measured.
//
// What a stopped call has written is given to nobody, but its outputs may lie in memory that others
// see. So nothing is written any more once `stopped` is true: it could be made of scratch memory
// that this call did not come to fill.
class Pace {
 public:
  explicit Pace(const Workers& workers) : workers_(workers) {}
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;

  // Counts work on so many elements; whether the call goes on.
  bool Goes(int64_t elements) {
    left_ -= elements;
    return left_ >= 0 || Ask();
  }
  bool stopped() const { return stopped_; }

  // A part of a loop. All but the last are a multiple of every vector's lanes long.
  struct Block {
    int64_t begin;
    int64_t end;
  };

  // The blocks of [0, count), in order, to be iterated over; ends early when the call is stopped.
  // Counts `cost` for each element, but nothing for a loop of a single block: what has many short
  // loops counts them together.
  class Blocks {
   public:
    struct End {};
    class Iterator {
     public:
      Iterator(Pace& pace, int64_t count, int64_t cost)
          : pace_(pace), count_(pace.stopped_ ? 0 : count), cost_(cost) {}
      Block operator*() const { return {begin_, std::min(count_, begin_ + kBlockElements)}; }
      Iterator& operator++() {
        const bool goes_on = count_ > kBlockElements && pace_.Goes(kBlockElements * cost_);
        begin_ = goes_on ? begin_ + kBlockElements : count_;
        return *this;
      }
      bool operator!=(End /*end*/) const { return begin_ < count_; }

     private:
      Pace& pace_;
      const int64_t count_;
      const int64_t cost_;
      int64_t begin_ = 0;
    };

    Blocks(Pace& pace, int64_t count, int64_t cost) : pace_(pace), count_(count), cost_(cost) {}
    Iterator begin() const { return Iterator(pace_, count_, cost_); }
    End end() const { return {}; }

   private:
    Pace& pace_;
    const int64_t count_;
    const int64_t cost_;
  };
  Blocks InBlocks(int64_t count, int64_t cost = 1) { return Blocks(*this, count, cost); }

 private:
  static constexpr int64_t kElements = int64_t{128} << 10;
  static constexpr int64_t kBlockElements = 4096;

  bool Ask() {
    stopped_ = workers_.ShouldStop();
    left_ = stopped_ ? -1 : kElements;
    return !stopped_;
  }

  const Workers& workers_;
  int64_t left_ = kElements;
  bool stopped_ = false;
};

}  // namespace opserve::cpu
