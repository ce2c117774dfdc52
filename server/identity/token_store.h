// The tokens that the server knows now: those of its file, which may change while it runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "server/identity/token_table.h"
#include "server/log/log.h"

namespace opserve::server {

// Thread-safe.
class TokenStore {
 public:
  // Errors as ReadSmallFile's and TokenTable::Parse's.
  static absl::StatusOr<std::unique_ptr<TokenStore>> Open(const std::string& path);

  // To be called now and then: takes what the file has, if that has changed and is sound. If it is
  // not, the tokens stay what they were, and the log says why, once.
  void Reload();

  // Never nullptr.
  std::shared_ptr<const TokenTable> current() const;

  // A line in the log, a few times a second: a call that needs `role` was refused to `peer`.
  void TellRefused(std::string_view peer, Role role, std::string_view reason) const;

 private:
  TokenStore(std::string path, std::string text, TokenTable table)
      : path_(std::move(path)),
        text_(std::move(text)),
        current_(std::make_shared<const TokenTable>(std::move(table))) {}
  absl::Status TakeChanged();

  const std::string path_;
  mutable LimitedLog refusals_;
  mutable Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const TokenTable> current_ ABSL_GUARDED_BY(mutex_);
  std::string last_problem_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace opserve::server
