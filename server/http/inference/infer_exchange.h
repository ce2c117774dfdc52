// An infer request by HTTP.
#pragma once

#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "server/calls/infer_regions.h"
#include "server/calls/planned_call.h"
#include "server/http/inference/rest_exchange.h"
#include "server/rest/rest_request.h"

namespace opserve::server {

// Where the JSON of a body ends and binary data begins.
inline constexpr char kJsonBytesHeader[] = "Inference-Header-Content-Length";

// Runs on the engine as ModelInfer does: plans are kept, bounds and errors the same. What takes
// long to read is read on a worker, in the client's turn.
class InferExchange final : public RestExchange,
                            public std::enable_shared_from_this<InferExchange> {
 public:
  // `json_bytes` as ReadRestRequest's.
  InferExchange(RestState& state, RestHead head, std::optional<size_t> json_bytes)
      : RestExchange(state, std::move(head), static_cast<size_t>(state.with.max_message_bytes)),
        json_bytes_(json_bytes) {}

  bool IsWork() const override { return true; }

 private:
  void Run() override;
  // Reads the request and submits it, on a worker where its regions are large.
  absl::Status Parse();
  absl::Status Submit();
  absl::Status Charge(int64_t bytes, std::string_view parameter);
  // Calls `step`, and answers with its error.
  void TakeStep(absl::Status (InferExchange::*step)());
  void Ended(absl::StatusOr<Outputs> outputs);
  HttpResponse Write(Outputs outputs) const;

  const std::optional<size_t> json_bytes_;
  RunningCalls::Place place_;
  absl::Time came_;
  RestRequest request_;
  std::shared_ptr<const PlannedCall> planned_;
  HeldRegions regions_;
  InferRegions shared_;
  CallTimes times_;
};

}  // namespace opserve::server
