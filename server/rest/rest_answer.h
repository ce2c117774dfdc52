// The answer to an infer request: JSON, and the tensors that are wanted as binary data behind it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/device/memory_pool.h"
#include "core/engine/engine.h"
#include "core/op/op_call.h"
#include "server/open_inference/infer_form.h"
#include "server/rest/rest_request.h"

namespace opserve::server {

struct RestAnswer {
  std::string json;
  bool has_binary = false;           // then the header Inference-Header-Content-Length is due
  std::vector<PooledBuffer> binary;  // in the order in which the JSON has them
};

// The most that the JSON and the binary data take. `call` is planned, `form` its form.
size_t MaxRestAnswerBytes(const OpCall& call, const InferForm& form, const RestRequest& request);
// Of that, the JSON.
size_t MaxRestJsonBytes(const OpCall& call, const InferForm& form, const RestRequest& request);

RestAnswer WriteRestAnswer(const OpCall& call, const InferForm& form, const RestRequest& request,
                           Outputs outputs);

}  // namespace opserve::server
