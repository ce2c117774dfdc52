// Mutations that know what an ExecuteRequest is, so that inputs get past the parser and the first
// checks more often than flipped bytes do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opserve::fuzz {

// libFuzzer's custom mutator for inputs of two bytes and an ExecuteRequest. Half of the time, and
// for messages that cannot be parsed, libFuzzer's own mutations.
size_t MutateExecuteInput(uint8_t* data, size_t size, size_t max_size, unsigned seed);
// The same for an input that holds an ExecuteBatchRequest.
size_t MutateBatchInput(uint8_t* data, size_t size, size_t max_size, unsigned seed);

}  // namespace opserve::fuzz
