// Valid answers, made wrong in one place each: what a server that means harm may send.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "google/protobuf/message.h"

namespace opserve::client {

// Calls visit(what, mutated) for `valid` with each of its fields, in whatever depth, cleared, given
// twice, or set to what is at the edge of its type.
void ForEachMutation(const google::protobuf::Message& valid,
                     const std::function<void(const std::string& what,
                                              const google::protobuf::Message& mutated)>& visit);

// Calls visit with `valid` cut off behind each byte, and with each byte changed.
void ForEachDamage(const std::string& valid, const std::function<void(const std::string&)>& visit);

}  // namespace opserve::client
