// Computing results of a program's steps again on the way back, so that they need no memory in
// between (T. Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016).
#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/program/program_builder.h"

namespace opserve {

// The program's steps are cut into segments of about as many bytes of results each. What only steps
// of its own segment read is made again, from what the segment reads of others, right before the
// gradients of the segment's steps are computed; of the last segment all is kept.
class Recomputation {
 public:
  // Of the steps that `builder` has now. One segment: nothing is computed again.
  Recomputation(ProgramBuilder& builder, size_t segments);

  // Before the gradients of step `index` are computed; indices fall from one call to the next.
  void GoBackTo(size_t index);
  // The step whose inputs and outputs the gradients of step `index` read.
  TypedProgram::Step StepToRead(size_t index) const;

 private:
  struct Segment {
    size_t first = 0;
    size_t end = 0;
  };

  void Cut(size_t segments);
  void FindKept();
  void ComputeAgain(const Segment& segment);

  ProgramBuilder& builder_;
  const size_t steps_;
  std::vector<Segment> segments_;  // those that lie before where the way back is
  absl::flat_hash_set<int> kept_;  // values that a later segment reads
  // Of the segment at hand: the value made again for a value that is not kept, and the first value
  // of the step made again for that of a step.
  absl::flat_hash_map<int, int> again_;
  absl::flat_hash_map<int, int> first_again_;
};

}  // namespace opserve
