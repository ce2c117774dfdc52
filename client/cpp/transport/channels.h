// The connections of one client to its target. Only for the sources that know gRPC.
#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace opserve::client {

// How many calls are under way on a connection.
using CallCount = std::shared_ptr<std::atomic<int>>;

struct Channel {
  std::shared_ptr<grpc::Channel> grpc;
  CallCount calls = std::make_shared<std::atomic<int>>(0);
  bool is_first = false;
};

// One connection, and more by themselves while many calls are under way. Thread-safe.
class Channels {
 public:
  // A channel that has a connection of its own.
  using MakeChannel = absl::AnyInvocable<std::shared_ptr<grpc::Channel>()>;

  // `most` connections at most.
  Channels(std::shared_ptr<grpc::Channel> first, int most, MakeChannel make);

  // For streams, which stay where they are.
  const std::shared_ptr<grpc::Channel>& first() const { return first_.grpc; }
  // For a unary call: the first while that has few of them, else the one with the fewest of those
  // that stand. A connection that does not come about, because the server allows no more of them,
  // say, is not tried again for half a minute; no call waits for one.
  Channel Pick();
  // All of them; there will be no more.
  std::vector<std::shared_ptr<grpc::Channel>> TakeAll();

 private:
  Channel PickOther();
  void OpenAnother() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Channel first_;
  const size_t most_;
  Mutex mutex_;
  MakeChannel make_ ABSL_GUARDED_BY(mutex_);
  std::vector<Channel> others_ ABSL_GUARDED_BY(mutex_);
  absl::Time none_until_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace opserve::client
