// A call with its data: what callers bring, and what they get.
#pragma once

#include <span>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "core/engine/plan/plan.h"

namespace opserve {

// One output of an executed call. Dense; a masked-out one has shape [0] and no bytes.
struct OutputTensor {
  std::string_view name;  // the schema's, which a program's plan keeps
  TensorDesc desc;
  PooledBuffer bytes;  // none for one that was written to OneShot::output_storages
};

using Outputs = std::vector<OutputTensor>;

// How long a call waited for a worker, and ran. Of calls that ran together, as one or in a series,
// each has an equal share of the running.
struct CallTimes {
  absl::Duration queued;
  absl::Duration executed;
};

struct OneShot {
  SharedPlan plan;
  // The bytes that inputs look into. They must stay valid until `done` was called; they are not
  // changed.
  std::vector<Fragments> storages;
  // The last so many of `storages` are in memory that others may change while the call runs, each
  // in one piece. What a changed byte does is change the outputs, nothing else. They are not
  // counted among the bytes that the call brings.
  size_t shared_storages = 0;
  // Memory of the host for outputs, each exactly as large as its output. It must stay valid until
  // `done` was called; its contents are undefined when the call fails.
  std::vector<std::span<std::byte>> output_storages;
  // Whom it is charged to. Only a small one that RunsInline may do without.
  ClientId client = ClientId::kNone;
  absl::Time deadline = absl::InfiniteFuture();
  // Asked before the call runs; true drops it. May be empty. Any thread.
  absl::AnyInvocable<bool()> cancelled;
  // Called exactly once, with no lock held, on the submitting thread (before Submit returns) or on
  // a worker. It must not block.
  absl::AnyInvocable<void(absl::StatusOr<Outputs>)> done;
  absl::Duration done_time;  // about what it takes, where that is much
  // Where the times of a call that ran go, before `done` hears of it; or nullptr.
  CallTimes* times = nullptr;
};

// Every input of a plan has a storage and lies inside it; an output that is not made has memory of
// its size, aligned to its elements and apart from the inputs' and the other outputs'; none has a
// layout of the caller's (kGiven): 161001, 161002 naming the tensor. Submit checks this itself;
// services that want to refuse earlier may too.
absl::Status CheckStorages(const Plan& plan, std::span<const Fragments> storages,
                           std::span<const std::span<std::byte>> output_storages = {});

// Of all that came with it, shared or not.
int64_t StorageBytes(const OneShot& shot);

// About what it takes on one thread: to bring the storages to where kernels can read them, all of
// them however little of them is used; to run; and to call `done`.
absl::Duration EstimatedTime(const OneShot& shot);

// Whether Submit runs it on the calling thread.
bool RunsInline(const OneShot& shot);

}  // namespace opserve
