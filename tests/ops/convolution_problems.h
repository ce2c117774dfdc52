// The shapes and attributes on which the tests' convolutions run.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/shape.h"

namespace opserve::testing {

using Ints = std::vector<int64_t>;

struct ConvolutionProblem {
  Dims input;
  Dims weight;
  Ints stride = {1};
  Ints padding = {0};
  Ints dilation = {1};
  bool transposed = false;
  Ints output_padding = {0};
  int64_t groups = 1;
};

inline const ConvolutionProblem kConvolutionProblems[] = {
    {.input = {2, 3, 7}, .weight = {4, 3, 3}},
    {.input = {1, 2, 2, 2}, .weight = {2, 2, 1, 1}},
    {.input = {2, 3, 5, 6}, .weight = {4, 3, 3, 2}, .padding = {1, 0}},
    {.input = {3, 8, 9, 9}, .weight = {8, 4, 3, 3}, .stride = {2}, .padding = {1}, .groups = 2},
    {.input = {2, 6, 5, 5}, .weight = {12, 1, 3, 3}, .padding = {1}, .groups = 6},
    {.input = {2, 3, 4, 300}, .weight = {6, 1, 3, 5}, .padding = {1, 2}, .groups = 3},
    {.input = {3, 5, 11, 9},
     .weight = {5, 1, 3, 3},
     .stride = {2},
     .padding = {1},
     .dilation = {1, 2},
     .groups = 5},
    {.input = {2, 2, 3, 5, 6}, .weight = {4, 1, 2, 3, 3}, .padding = {1}, .groups = 2},
    {.input = {1, 2, 200}, .weight = {2, 1, 3}, .dilation = {70}, .groups = 2},
    {.input = {1, 2, 90}, .weight = {2, 1, 65}, .padding = {2}, .groups = 2},
    {.input = {2, 5, 6, 7}, .weight = {5, 5, 2, 3}, .padding = {1}},
    {.input = {3, 1, 12, 12}, .weight = {8, 1, 3, 3}, .padding = {1}},
    {.input = {2, 4, 5, 16}, .weight = {10, 2, 2, 4}, .padding = {0, 1}, .groups = 2},
    {.input = {2, 7, 40}, .weight = {7, 1, 3}, .transposed = true},
    {.input = {2, 4, 8, 7}, .weight = {3, 4, 1, 1}},
    {.input = {1, 2, 9, 10}, .weight = {3, 2, 3, 3}, .stride = {3, 2}, .dilation = {2, 3}},
    {.input = {2, 2, 4, 5, 6}, .weight = {3, 2, 2, 3, 2}, .stride = {1, 2, 3}, .padding = {1}},
    {.input = {1, 70, 12, 13}, .weight = {100, 70, 3, 3}, .padding = {1}},
    {.input = {300, 1, 5}, .weight = {1, 1, 2}},
    {.input = {2, 1, 5}, .weight = {1, 1, 3}, .stride = {7}, .padding = {9}},
    {.input = {0, 3, 4}, .weight = {2, 3, 2}},
    {.input = {2, 3, 0}, .weight = {2, 3, 1}, .padding = {2}},
    {.input = {2, 0, 4}, .weight = {2, 0, 3}},
    {.input = {2, 3, 4}, .weight = {0, 3, 3}},
    {.input = {2, 3, 7}, .weight = {3, 4, 3}, .transposed = true},
    {.input = {2, 4, 5, 4},
     .weight = {4, 3, 3, 2},
     .stride = {2, 3},
     .padding = {1},
     .transposed = true,
     .output_padding = {1, 2},
     .groups = 2},
    {.input = {1, 6, 4, 4},
     .weight = {6, 1, 2, 2},
     .stride = {1, 2},
     .dilation = {3, 1},
     .transposed = true,
     .output_padding = {2, 0},
     .groups = 6},
    {.input = {2, 2, 3, 2, 3},
     .weight = {2, 3, 2, 3, 2},
     .stride = {2},
     .padding = {1, 0, 1},
     .transposed = true,
     .output_padding = {1}},
    {.input = {1, 40, 9, 9}, .weight = {40, 30, 1, 1}, .transposed = true},
    {.input = {1, 2, 5}, .weight = {2, 2, 1}, .stride = {4}, .transposed = true},
};

}  // namespace opserve::testing
