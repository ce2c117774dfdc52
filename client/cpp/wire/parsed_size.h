// How much memory a message takes once it is parsed: many times its bytes, where these are chosen
// for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace google::protobuf {
class Descriptor;
}  // namespace google::protobuf

namespace opserve::client {

// An upper bound on what parsing `bytes` as a message of `type` takes. nullopt for bytes that are
// none, or that nest deeper than any message of ours. Takes no memory itself; time is linear in the
// bytes.
std::optional<size_t> ParsedSize(std::string_view bytes, const google::protobuf::Descriptor& type);

}  // namespace opserve::client
