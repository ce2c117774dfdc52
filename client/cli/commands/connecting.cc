#include "client/cli/commands/connecting.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/cli/files/files.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::cli {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

// Empty where no path is given.
absl::StatusOr<std::string> TextOf(const std::string& path, std::string_view flag) {
  if (path.empty()) return std::string();
  OPSERVE_ASSIGN_OR_RETURN(const std::shared_ptr<const std::string> text,
                           ReadFile(path, [](std::span<const std::byte>) { return kMostBytes; }));
  if (!text->empty() && text->size() <= kMostBytes) return *text;
  return InvalidParameter(flag, absl::StrCat("a file of 1 to ", kMostBytes, " bytes"),
                          absl::StrCat(path, ", which has ", text->empty() ? "none" : "more"));
}

absl::StatusOr<client::TlsOptions> TlsOptionsOf(const ConnectArguments& connect) {
  client::TlsOptions tls;
  OPSERVE_ASSIGN_OR_RETURN(tls.root_ca, TextOf(connect.root_ca, "--cacert"));
  OPSERVE_ASSIGN_OR_RETURN(tls.certificate, TextOf(connect.certificate, "--cert"));
  OPSERVE_ASSIGN_OR_RETURN(tls.key, TextOf(connect.key, "--key"));
  tls.server_name = connect.server_name;
  return tls;
}

bool WantsTls(const ConnectArguments& connect) {
  return connect.tls || !connect.root_ca.empty() || !connect.certificate.empty() ||
         !connect.key.empty() || !connect.server_name.empty();
}

}  // namespace

absl::StatusOr<client::ConnectOptions> ConnectOptionsOf(const Arguments& arguments) {
  const ConnectArguments& connect = arguments.connect;
  client::ConnectOptions options{.max_answer_bytes = arguments.max_answer_bytes};
  if (connect.no_shared_memory) options.shared_memory_bytes = 0;
  if (WantsTls(connect)) {
    OPSERVE_ASSIGN_OR_RETURN(options.tls, TlsOptionsOf(connect));
  }
  OPSERVE_ASSIGN_OR_RETURN(const std::string token, TextOf(connect.token_file, "--token-file"));
  options.token = std::string(absl::StripTrailingAsciiWhitespace(token));
  if (options.token.empty() && !token.empty())
    return InvalidParameter("--token-file", "a token", "blanks");
  return options;
}

}  // namespace opserve::cli
