// What all calls have in common that differ only in their raw bytes: the plan, and the form of the
// answer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "core/engine/engine.h"
#include "opserve/v1/types.pb.h"
#include "server/calls/result_form.h"
#include "server/calls/shared_storages.h"
#include "server/codec/call_codec.h"
#include "server/open_inference/infer_form.h"
#include "server/open_inference/infer_request.h"

namespace opserve::server {

// Immutable once it is made; thread-safe.
class PlannedCall {
 public:
  // Of a call with its tensors where `data` says, kMessage or kMessageOrShared; on `device` where
  // it names none. Errors: DecodeCall's, MakePlan's, DecodeStorages's.
  static absl::StatusOr<std::shared_ptr<const PlannedCall>> Make(
      const Engine& engine, const v1::Call& call, std::span<const Fragments> raw,
      v1::TensorEncoding encoding, TensorData data = TensorData::kMessageOrShared,
      std::string_view device = {});
  // Of a ModelInferRequest. Errors likewise.
  static absl::StatusOr<std::shared_ptr<const PlannedCall>> MakeInfer(
      const Engine& engine, const DecodedInfer& decoded, std::span<const Fragments> raw);
  PlannedCall(const PlannedCall&) = delete;
  PlannedCall& operator=(const PlannedCall&) = delete;

  const SharedPlan& plan() const { return plan_; }
  const ResultForm& form() const { return form_; }
  // The form of a ModelInferResponse, of what MakeInfer made.
  const InferForm& infer_form() const { return *infer_form_; }
  // Whether a call with the same message but other raw entries, as many, has the same plan.
  bool is_shareable() const { return is_shareable_; }
  // Whether such calls may run as a CallSeries: small ones, of raw inputs and raw outputs.
  bool is_serial() const { return is_serial_; }
  // The storages of the tensors that came with values; they follow the raw entries.
  std::span<const Fragments> values() const { return values_; }

  // Fills `shot` with this plan, `raw`, and the storages that the call has in shared memory. The
  // caller fills in the client and the callbacks. `regions` and `held` are those of
  // AddSharedStorages, and so are the errors.
  absl::Status Assemble(std::vector<Fragments> raw, const RegionTable* regions, OneShot& shot,
                        HeldRegions& held) const;

 private:
  PlannedCall() = default;
  static absl::StatusOr<std::shared_ptr<PlannedCall>> MakeOf(
      const Engine& engine, const v1::Call& call, std::span<const Fragments> raw,
      v1::TensorEncoding encoding, TensorData data, std::string_view device);

  SharedPlan plan_;
  std::unique_ptr<const v1::Call> sharing_;  // the call, when it has tensors in shared memory
  ResultForm form_;
  std::optional<InferForm> infer_form_;
  bool is_shareable_ = false;
  bool is_serial_ = false;
  std::vector<Fragments> values_;  // into value_bytes_
  std::vector<std::vector<std::byte>> value_bytes_;
};

}  // namespace opserve::server
