#include "server/connections/connection_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"

namespace opserve::server {
namespace {

constexpr absl::Duration kResetBar = absl::Seconds(1);
constexpr absl::Duration kLongestBar = absl::Minutes(1);
// Short, as the other clients of unix sockets wait as well.
constexpr absl::Duration kUnixBar = absl::Milliseconds(500);
// What a client did is forgotten so long after it did so last, and after its bar was over.
constexpr absl::Duration kMemory = absl::Minutes(1);
// Two users and root: with more, connections cannot be told apart either.
constexpr size_t kToldUsers = 3;
constexpr uid_t kRoot = 0;

absl::Status Barred(absl::Duration left) {
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = "connection",
                    .want = absl::StrCat("none of this peer's for ", absl::FormatDuration(left),
                                         ", as the server cut earlier ones (the log says why)"),
                    .got = "one"});
}

absl::Status Refused(std::string_view flag, int64_t most, std::string_view of) {
  return MakeError({.reason = ErrorReason::kResourceLimit,
                    .op = {},
                    .parameter = std::string(flag),
                    .want = absl::StrCat("at most ", most, " connections", std::string(of)),
                    .got = "one more"});
}

}  // namespace

absl::Status ConnectionTable::Reserve(const PeerAddress& peer) {
  const ClientId client = peer.client();
  absl::Status status;
  {
    const MutexLock lock(mutex_);
    const auto conduct = conducts_.find(client);
    if (conduct != conducts_.end() && clock_.Now() < conduct->second.barred_until) {
      status = Barred(conduct->second.barred_until - clock_.Now());
    } else if (limits_.max_of_peer > 0 && places_.used_by(client) >= limits_.max_of_peer) {
      status = Refused("--max-connections-per-peer", limits_.max_of_peer, " of one peer");
    } else if (const auto verdict = places_.Take(client, 1);
               verdict == SharedLimit::Verdict::kFull) {
      status = Refused("--max-connections", places_.limit(), "");
    } else if (verdict == SharedLimit::Verdict::kShare) {
      status = Refused("--client-share", places_.MostOf(client), " of one peer now");
    }
  }
  if (!status.ok()) ++refused_;
  return status;
}

void ConnectionTable::Unreserve(const PeerAddress& peer) {
  const MutexLock lock(mutex_);
  places_.Return(peer.client(), 1);
}

std::shared_ptr<Connection> ConnectionTable::Add(UniqueFd socket, const PeerAddress& peer) {
  auto connection = std::make_shared<Connection>(std::move(socket), peer, clock_.Now());
  const MutexLock lock(mutex_);
  if (peer.is_ip()) {
    // One with the same port before it is over, though nobody has seen it yet.
    by_peer_[peer] = connection;
  } else {
    others_.push_back(connection);
    if (unix_users_.size() < kToldUsers) unix_users_.insert(connection->user());
  }
  return connection;
}

void ConnectionTable::Remove(const std::shared_ptr<Connection>& connection) {
  const MutexLock lock(mutex_);
  places_.Return(connection->client(), 1);
  if (connection->peer().is_ip()) {
    const auto at = by_peer_.find(connection->peer());
    if (at != by_peer_.end() && at->second == connection) by_peer_.erase(at);
  } else {
    std::erase(others_, connection);
    unix_allowances_.erase(connection.get());
  }
}

std::shared_ptr<Connection> ConnectionTable::Find(std::string_view peer) const {
  const PeerAddress address = PeerAddress::Parse(peer);
  if (!address.is_ip()) return nullptr;
  const MutexLock lock(mutex_);
  const auto at = by_peer_.find(address);
  return at == by_peer_.end() ? nullptr : at->second;
}

std::optional<uid_t> ConnectionTable::UserOf(std::string_view peer) const {
  if (const std::shared_ptr<Connection> connection = Find(peer); connection != nullptr)
    return connection->user();
  // gRPC has no name for the peer of a call that is over.
  if (!peer.starts_with("unix:")) return std::nullopt;
  const MutexLock lock(mutex_);
  std::optional<uid_t> only;
  for (const std::optional<uid_t>& user : unix_users_) {
    if (user == kRoot && unix_users_.size() > 1) continue;
    if (!user.has_value() || only.has_value()) return std::nullopt;
    only = user;
  }
  return only;
}

void ConnectionTable::NoteResets(const Connection& connection, int64_t resets) const {
  Count(connection, resets, &Allowances::resets);
}

void ConnectionTable::NoteEmptyCalls(const Connection& connection, int64_t calls) const {
  Count(connection, calls, &Allowances::empty_calls);
}

ConnectionTable::Allowances ConnectionTable::Full(absl::Time now) const {
  return {
      .resets = limits_.resets.burst, .empty_calls = limits_.resets.empty_burst, .counted = now};
}

ConnectionTable::Conduct& ConnectionTable::ConductOf(ClientId client, absl::Time now) const {
  return conducts_.try_emplace(client, Conduct{.allowances = Full(now)}).first->second;
}

ConnectionTable::Allowances& ConnectionTable::AllowancesOf(const Connection& connection) const {
  const absl::Time now = clock_.Now();
  Allowances& allowances = connection.peer().is_ip()
                               ? ConductOf(connection.client(), now).allowances
                               : unix_allowances_.try_emplace(&connection, Full(now)).first->second;
  const double refill =
      limits_.resets.per_second * absl::ToDoubleSeconds(std::max(now - allowances.counted, {}));
  const Allowances full = Full(now);
  allowances = {.resets = std::min(full.resets, allowances.resets + refill),
                .empty_calls = std::min(full.empty_calls, allowances.empty_calls + refill),
                .counted = std::max(now, allowances.counted)};
  return allowances;
}

void ConnectionTable::Count(const Connection& connection, int64_t calls,
                            double Allowances::*allowance) const {
  if (limits_.resets.per_second <= 0) return;
  {
    const MutexLock lock(mutex_);
    double& left = AllowancesOf(connection).*allowance;
    if (left >= static_cast<double>(calls)) {
      left -= static_cast<double>(calls);
      return;
    }
  }
  Expel(connection, "too many calls that were taken back", kResetBar);
}

void ConnectionTable::Expel(const Connection& connection, std::string_view reason,
                            absl::Duration bar) const {
  // First: its client may connect again as soon as it is cut.
  if (connection.peer().is_ip()) {
    BarClient(connection.client(), bar, kLongestBar);
  } else {
    BarClient(connection.client(), kUnixBar, kUnixBar);
  }
  Cut(connection, reason);
}

bool ConnectionTable::IsBarred(ClientId client) const {
  const MutexLock lock(mutex_);
  const auto conduct = conducts_.find(client);
  return conduct != conducts_.end() && clock_.Now() < conduct->second.barred_until;
}

bool ConnectionTable::UnixWaits() const { return IsBarred(PeerAddress().client()); }

void ConnectionTable::BarClient(ClientId client, absl::Duration least,
                                absl::Duration longest) const {
  const absl::Time now = clock_.Now();
  const MutexLock lock(mutex_);
  Conduct& conduct = ConductOf(client, now);
  if (now < conduct.barred_until && conduct.bar >= least) return;
  conduct.bar = std::clamp(conduct.bar * 2, least, longest);
  conduct.barred_until = now + conduct.bar;
  // Its other connections have what a second allows until then, and it comes back with no more,
  // however long it was away.
  const double second = limits_.resets.per_second;
  conduct.allowances = {.resets = second, .empty_calls = second, .counted = conduct.barred_until};
}

ConnectionTable::Connections ConnectionTable::All() const {
  const MutexLock lock(mutex_);
  Connections all = others_;
  all.reserve(all.size() + by_peer_.size());
  for (const auto& [peer, connection] : by_peer_) all.push_back(connection);
  return all;
}

void ConnectionTable::Settle() const {
  {
    const absl::Time past = clock_.Now() - kMemory;
    const MutexLock lock(mutex_);
    absl::erase_if(conducts_, [past](const auto& each) {
      return std::max(each.second.allowances.counted, each.second.barred_until) < past;
    });
  }
  for (const std::shared_ptr<Connection>& connection : All()) {
    connection->Settle();
    if (!connection->has_messages() &&
        connection->received_bytes() > limits_.max_first_message_bytes) {
      Cut(*connection, "more bytes than a message has before the first one was whole");
    }
  }
}

int64_t ConnectionTable::size() const {
  const MutexLock lock(mutex_);
  return places_.used();
}

void ConnectionTable::Cut(const Connection& connection, std::string_view reason) const {
  if (!connection.Cut()) return;
  ++cut_;
  log_.Write(LogLevel::kWarning, "connection cut",
             {{"peer", connection.peer().host()}, {"reason", std::string(reason)}});
}

}  // namespace opserve::server
