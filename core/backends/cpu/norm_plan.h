// How the kernels of the norms (norm.h) cut their work and lay out their workspace: from shapes
// alone. Elements are read in pieces (runs.h).
#pragma once

#include <cstdint>

#include "core/backends/cpu/norm.h"
#include "core/backends/cpu/runs.h"

namespace opserve::cpu {

// What the statistics of a group or the sums of a row take besides their elements, as Pace counts
// it.
inline constexpr int64_t kStatisticsCost = 16;

struct GroupGeometry {
  int64_t n = 0;
  int64_t c = 0;
  int64_t hw = 0;
  int64_t group = 0;
  int64_t channels = 0;  // of a group
  // Whether rows are too short for vectors of their own; then parameters are repeated for each
  // element of a channel.
  bool flat = false;
  // Whether several threads work on one group, in phases; else one does, and keeps the group in its
  // cache between its passes.
  bool split = false;

  int64_t rows() const { return n * c; }
  int64_t groups() const { return n * group; }
  int64_t group_elements() const { return channels * hw; }
  // How often a channel's parameters are held.
  int64_t repeats() const { return flat ? hw : 1; }
};

struct NormPlan {
  GroupGeometry geometry;
  // Workspace: offsets in bytes, and all of it.
  size_t gamma = 0;  // a float each channel, `repeats` times
  size_t beta = 0;
  size_t pieces = 0;   // split: the statistics of each piece of a group, three doubles
  size_t moments = 0;  // split: mean and rstd of each group, two doubles
  size_t bytes = 0;
};
NormPlan PlanNorm(const NormCall& call);

struct NormGradientPlan {
  GroupGeometry geometry;
  bool wants_input = false;
  bool wants_gamma = false;
  bool wants_beta = false;
  size_t gamma = 0;        // wants_input: a float each channel, `repeats` times
  size_t gamma_terms = 0;  // wants_gamma: a double each row; flat: a float each element of a batch,
                           // for each batch chunk
  size_t beta_terms = 0;   // wants_beta: likewise
  size_t pieces = 0;       // split: the sums of each piece of a row (flat: of a group), two doubles
  size_t coefficients = 0;  // split: a double and three floats each group, padded
  size_t bytes = 0;

  // Flat: a chunk of work is this many batches of this many groups; where the call is split, of one
  // piece of a group.
  int64_t batches_of_chunk = 1;
  int64_t groups_of_chunk = 1;
  int64_t batch_chunks() const { return (geometry.n + batches_of_chunk - 1) / batches_of_chunk; }
  int64_t group_chunks() const { return (geometry.group + groups_of_chunk - 1) / groups_of_chunk; }
};
NormGradientPlan PlanNormGradient(const NormGradientCall& call);

}  // namespace opserve::cpu
