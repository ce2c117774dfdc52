// What calls share that differ in nothing but their raw bytes: their plan and the form of their
// answer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/fragments.h"
#include "core/engine/engine.h"
#include "core/op/named_call.h"
#include "opserve/v1/types.pb.h"
#include "server/wire/result_form.h"
#include "server/wire/shared_codec.h"

namespace opserve::server {

// Immutable once it is made; thread-safe.
class PlannedCall {
 public:
  // A call whose tensors may be in shared memory. Errors: DecodeSharingCall's, MakePlan's,
  // DecodeStorages's.
  static absl::StatusOr<std::shared_ptr<const PlannedCall>> Make(const Engine& engine,
                                                                 const v1::Call& call,
                                                                 std::span<const Fragments> raw,
                                                                 v1::TensorEncoding encoding);
  // A call that brings all its bytes; on `device` where it names none. Errors likewise, of
  // DecodeExecuteCall.
  static absl::StatusOr<std::shared_ptr<const PlannedCall>> MakeInline(
      const Engine& engine, const v1::Call& call, std::span<const Fragments> raw,
      v1::TensorEncoding encoding, std::string_view device);
  PlannedCall(const PlannedCall&) = delete;
  PlannedCall& operator=(const PlannedCall&) = delete;

  const SharedPlan& plan() const { return plan_; }
  const ResultForm& form() const { return form_; }
  // Whether a call with the same message but other raw entries, as many, has the same plan.
  bool is_shareable() const { return is_shareable_; }
  // Whether such calls may run as a CallSeries: small ones, of raw inputs and raw outputs.
  bool is_serial() const { return is_serial_; }
  // The storages of the tensors that came with values; they follow the raw entries.
  std::span<const Fragments> values() const { return values_; }
  // Where its tensors in shared memory lie now, if it has any: they follow the values. Errors as
  // DecodeSharedStorages.
  absl::StatusOr<SharedStorages> FindShared(const RegionTable* regions) const;

 private:
  PlannedCall() = default;

  static absl::StatusOr<std::shared_ptr<const PlannedCall>> Plan(const Engine& engine,
                                                                 const v1::Call& call,
                                                                 const NamedCall& named,
                                                                 std::span<const Fragments> raw,
                                                                 v1::TensorEncoding encoding);

  SharedPlan plan_;
  std::unique_ptr<const v1::Call> sharing_;  // the call, when it has tensors in shared memory
  ResultForm form_;
  bool is_shareable_ = false;
  bool is_serial_ = false;
  std::vector<Fragments> values_;  // into value_bytes_
  std::vector<std::vector<std::byte>> value_bytes_;
};

}  // namespace opserve::server
