#include "server/stream_watch.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>
#include <nlohmann/json.hpp>

namespace opserve::server {
namespace {

using Json = nlohmann::json;

// A stream that is opened and reset takes some 20 bytes: so many a tick are 10,000 a second.
constexpr int64_t kSuspiciousBytes = int64_t{20} << 10;
// That come while no stream is open. What a client has sent of a call that was refused meanwhile is
// at most a flow-control window, which gRPC lets grow to 16 MiB.
constexpr int64_t kIdleBytes = int64_t{32} << 20;
// gRPC may read it much later than it came.
constexpr int kLooks = 100;
constexpr intptr_t kSocketsOfPage = 500;

// What gRPC returned, which is to be freed.
Json Parsed(char* text) {
  const std::unique_ptr<char, decltype(&gpr_free)> owner(text, &gpr_free);
  return text == nullptr ? Json() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Numbers of 64 bits are strings, and none where they are 0.
int64_t NumberIn(const Json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end()) return 0;
  if (at->is_number()) return at->get<int64_t>();
  return at->is_string() ? std::strtoll(at->get_ref<const std::string&>().c_str(), nullptr, 10) : 0;
}

const Json& PartOf(const Json& object, const char* name) {
  static const Json none;
  const auto at = object.find(name);
  return at == object.end() ? none : *at;
}

// Calls `visit(peer, id)` for the sockets of all servers in this process.
template <typename Visitor>
void ForEachSocket(Visitor visit) {
  const Json servers = Parsed(grpc_channelz_get_servers(0));
  for (const Json& server : PartOf(servers, "server")) {
    const int64_t server_id = NumberIn(PartOf(server, "ref"), "serverId");
    intptr_t next = 0;
    for (bool more = true; more;) {
      const Json page = Parsed(
          grpc_channelz_get_server_sockets(static_cast<intptr_t>(server_id), next, kSocketsOfPage));
      const Json& sockets = PartOf(page, "socketRef");
      for (const Json& socket : sockets) {
        const int64_t id = NumberIn(socket, "socketId");
        next = static_cast<intptr_t>(id) + 1;
        // "chttp2 ipv4:127.0.0.1:40000"
        const std::string name = socket.value("name", std::string());
        const std::string_view address = name;
        visit(address.substr(address.find(' ') + 1), id);
      }
      more = !sockets.empty() && !page.value("end", false);
    }
  }
}

struct Streams {
  int64_t started = 0;
  int64_t without_message = 0;
  int64_t open = 0;
};

Streams StreamsOf(int64_t socket_id) {
  const Json answer = Parsed(grpc_channelz_get_socket(static_cast<intptr_t>(socket_id)));
  const Json& data = PartOf(PartOf(answer, "socket"), "data");
  const int64_t started = NumberIn(data, "streamsStarted");
  return {.started = started,
          .without_message = started - NumberIn(data, "messagesReceived"),
          .open = started - NumberIn(data, "streamsSucceeded") - NumberIn(data, "streamsFailed")};
}

}  // namespace

void StreamWatch::Check() {
  const Suspects suspects = FindSuspects();
  if (!suspects.empty()) Judge(suspects);
}

StreamWatch::Suspects StreamWatch::FindSuspects() {
  Suspects suspects;
  for (auto& [connection, known] : known_) known.is_there = false;
  for (const std::shared_ptr<Connection>& connection : connections_.All()) {
    if (!connection->peer().is_ip()) continue;
    Known& known = known_[connection.get()];
    known.is_there = true;
    const int64_t other = connection->received_bytes() - connection->message_bytes();
    if (other - known.other_bytes >= kSuspiciousBytes) known.looks_left = kLooks;
    known.other_bytes = other;
    if (known.looks_left-- > 0) suspects[connection->peer()] = connection;
    known.looks_left = std::max(known.looks_left, 0);
  }
  absl::erase_if(known_, [](const auto& each) { return !each.second.is_there; });
  return suspects;
}

void StreamWatch::Judge(const Suspects& suspects) {
  ForEachSocket([&](std::string_view peer, int64_t id) {
    const auto suspect = suspects.find(PeerAddress::Parse(peer));
    if (suspect == suspects.end()) return;
    Known& known = known_[suspect->second.get()];
    const Streams streams = StreamsOf(id);
    if (streams.open > 0 || streams.started != known.streams) known.idle_bytes = known.other_bytes;
    known.streams = streams.started;
    if (known.other_bytes - known.idle_bytes > kIdleBytes)
      connections_.Expel(*suspect->second, "bytes that belong to no call",
                         ConnectionTable::kFloodBar);
    if (streams.without_message <= known.empty_streams) return;
    connections_.NoteResets(*suspect->second, streams.without_message - known.empty_streams);
    known.empty_streams = streams.without_message;
  });
}

}  // namespace opserve::server
