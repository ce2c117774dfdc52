#include "server/transport/process/stream_watch.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>
#include <nlohmann/json.hpp>

namespace opserve::server {
namespace {

using Json = nlohmann::json;

// A stream that is opened and reset takes some 20 bytes: these are 10,000 a second.
constexpr double kSuspiciousBytesPerSecond = 200e3;
// That come while no stream is open. What a client has sent of a call that was refused meanwhile is
// at most a flow-control window, which gRPC lets grow to 16 MiB.
constexpr int64_t kIdleBytes = int64_t{32} << 20;
// gRPC may read it much later than it came.
constexpr int kLooks = 1000;
// A connection of many small calls is suspicious and does no harm: where so many looks found
// nothing, three of four are left out.
constexpr int kCleanLooks = 20;
constexpr int kRests = 3;
constexpr intptr_t kSocketsOfPage = 500;
// Connections of unix sockets that are new, or had something unread, are looked at so many times;
// others once in so many.
constexpr int kUnixLooks = 20;
constexpr int64_t kUnixTurns = 16;

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

// Calls `visit(peer, id)` for the sockets of all servers in this process whose id is at least
// `first`.
template <typename Visitor>
void ForEachSocket(intptr_t first, Visitor visit) {
  const Json servers = Parsed(grpc_channelz_get_servers(0));
  for (const Json& server : PartOf(servers, "server")) {
    const int64_t server_id = NumberIn(PartOf(server, "ref"), "serverId");
    intptr_t next = first;
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

bool HasUnread(const Connection& connection) {
  int bytes = 0;
  return ::ioctl(connection.socket(), FIONREAD, &bytes) == 0 && bytes > 0;
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

void StreamWatch::NoteNew(const std::shared_ptr<Connection>& connection) {
  Known& known = known_[connection.get()];
  known = {.connection = connection, .empty_streams = streams_of_connection_};
  if (connection->peer().is_ip()) {
    nameless_[connection->peer()] = connection.get();
    return;
  }
  // Those of unix sockets have the same address: the only new one is this one's.
  LearnNames();
  if (new_unix_sockets_.size() == 1) known.socket_id = new_unix_sockets_[0];
  new_unix_sockets_.clear();
  known.looks_left = kUnixLooks;
}

void StreamWatch::LearnNames() {
  ForEachSocket(next_socket_, [&](std::string_view name, int64_t id) {
    next_socket_ = std::max(next_socket_, static_cast<intptr_t>(id) + 1);
    const PeerAddress peer = PeerAddress::Parse(name);
    if (!peer.is_ip()) return new_unix_sockets_.push_back(id);
    const auto at = nameless_.find(peer);
    if (at == nameless_.end()) return;
    known_[at->second].socket_id = id;
    nameless_.erase(at);
  });
}

void StreamWatch::Check(absl::Time now, bool is_busy) {
  const absl::Duration time = now - std::exchange(last_check_, now);
  ++checks_;
  std::vector<const Connection*> suspects;
  for (auto& [connection, known] : known_) known.is_there = false;
  for (const std::shared_ptr<Connection>& connection : connections_.All()) {
    const auto at = known_.find(connection.get());
    if (at == known_.end()) continue;
    at->second.is_there = true;
    const bool is_suspect = connection->peer().is_ip()
                                ? BroughtMore(*connection, time, at->second)
                                : is_busy && MayBringMore(*connection, at->second);
    if (!is_suspect) continue;
    if (at->second.rests_left == 0)
      suspects.push_back(connection.get());
    else
      --at->second.rests_left;
  }
  absl::erase_if(nameless_, [this](const auto& each) { return !known_.at(each.second).is_there; });
  absl::erase_if(known_, [](const auto& each) { return !each.second.is_there; });
  Judge(suspects);
}

bool StreamWatch::MayBringMore(const Connection& connection, Known& known) const {
  if (HasUnread(connection)) known.looks_left = kUnixLooks;
  if (known.looks_left == 0) return (known.socket_id + checks_) % kUnixTurns == 0;
  --known.looks_left;
  return true;
}

bool StreamWatch::BroughtMore(const Connection& connection, absl::Duration time, Known& known) {
  const int64_t other = connection.received_bytes() - connection.message_bytes();
  if (static_cast<double>(other - known.other_bytes) >=
      kSuspiciousBytesPerSecond * absl::ToDoubleSeconds(time))
    known.looks_left = kLooks;
  known.other_bytes = other;
  if (known.looks_left == 0) return false;
  --known.looks_left;
  return true;
}

void StreamWatch::Judge(const std::vector<const Connection*>& suspects) {
  const auto is_nameless = [this](const Connection* each) {
    return each->peer().is_ip() && known_.at(each).socket_id == 0;
  };
  if (std::any_of(suspects.begin(), suspects.end(), is_nameless)) LearnNames();
  for (const Connection* suspect : suspects) {
    Known& known = known_.at(suspect);
    if (known.socket_id != 0) Judge(*suspect, known);
  }
}

void StreamWatch::Judge(const Connection& connection, Known& known) {
  const Streams streams = StreamsOf(known.socket_id);
  if (streams.open > 0 || streams.started != known.streams) known.idle_bytes = known.other_bytes;
  known.streams = streams.started;
  if (known.other_bytes - known.idle_bytes > kIdleBytes)
    connections_.Expel(connection, "bytes that belong to no call", ConnectionTable::kFloodBar);
  if (streams.without_message <= known.empty_streams) {
    known.clean_looks = std::min(known.clean_looks + 1, kCleanLooks);
    if (known.clean_looks == kCleanLooks) known.rests_left = kRests;
    return;
  }
  known.clean_looks = 0;
  known.looks_left = std::max(known.looks_left, kUnixLooks);
  connections_.NoteEmptyCalls(connection, streams.without_message - known.empty_streams);
  known.empty_streams = streams.without_message;
}

}  // namespace opserve::server
