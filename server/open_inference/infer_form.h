// How the answers of calls with one plan look as ModelInferResponses.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "core/engine/engine.h"
#include "opserve/v1/types.pb.h"
#include "server/codec/raw_writer.h"

namespace opserve::server {

// A value. Thread-safe.
class InferForm {
 public:
  // `call` is planned, of a DecodedInfer: `asked` are its outputs (none = all).
  InferForm(const OpCall& call, const google::protobuf::RepeatedPtrField<v1::Tensor>& asked,
            absl::Duration timeout);

  // The most that an answer takes to a request with an id of so many bytes.
  size_t max_response_bytes(size_t id_bytes) const;

  // Large outputs are not copied.
  WrittenMessage Write(std::string_view id, Outputs outputs) const;

  // The outputs that the answer has, in its order.
  std::span<const size_t> entries() const { return entries_; }

  // How long the client waits, from when the call came.
  absl::Duration timeout() const { return timeout_; }

 private:
  std::string begin_;            // the fields before the id
  std::string end_;              // those after it, but the raw entries
  std::vector<size_t> entries_;  // the output that each of these is
  size_t raw_bytes_ = 0;
  absl::Duration timeout_;
};

}  // namespace opserve::server
