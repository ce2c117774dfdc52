#include "server/identity/token_store.h"

#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "server/identity/small_file.h"

namespace opserve::server {
namespace {

void LogTaken(const TokenTable& table) {
  Log(LogLevel::kInfo, "tokens taken",
      {LogNumber("tokens", static_cast<int64_t>(table.entries().size()))});
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenStore>> TokenStore::Open(const std::string& path) {
  OPSERVE_ASSIGN_OR_RETURN(std::string text, ReadSmallFile(path, kTokenFileFlag));
  OPSERVE_ASSIGN_OR_RETURN(TokenTable table, TokenTable::Parse(text));
  LogTaken(table);
  return std::unique_ptr<TokenStore>(new TokenStore(path, std::move(text), std::move(table)));
}

absl::Status TokenStore::TakeChanged() {
  OPSERVE_ASSIGN_OR_RETURN(std::string text, ReadSmallFile(path_, kTokenFileFlag));
  const MutexLock lock(mutex_);
  if (text == text_) return absl::OkStatus();
  OPSERVE_ASSIGN_OR_RETURN(TokenTable table, TokenTable::Parse(text));
  text_ = std::move(text);
  current_ = std::make_shared<const TokenTable>(std::move(table));
  LogTaken(*current_);
  return absl::OkStatus();
}

void TokenStore::Reload() {
  const absl::Status status = TakeChanged();
  std::string problem(ToStd(status.message()));
  {
    const MutexLock lock(mutex_);
    if (std::exchange(last_problem_, problem) == problem || status.ok()) return;
  }
  Log(LogLevel::kWarning, "tokens not taken",
      {{"error", std::move(problem)}, {"advice", "those before stay valid"}});
}

std::shared_ptr<const TokenTable> TokenStore::current() const {
  const MutexLock lock(mutex_);
  return current_;
}

void TokenStore::TellRefused(std::string_view peer, Role role, std::string_view reason) const {
  refusals_.Write(LogLevel::kWarning, "access refused",
                  {{"peer", std::string(peer)},
                   {"role", std::string(RoleName(role))},
                   {"reason", std::string(reason)}});
}

}  // namespace opserve::server
