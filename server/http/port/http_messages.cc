#include "server/http/port/http_messages.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "core/base/strings.h"

namespace opserve::server {

size_t HttpResponse::body_bytes() const {
  size_t bytes = body.size();
  for (const std::span<const std::byte> piece : more) bytes += piece.size();
  return bytes;
}

std::string_view HttpRequest::Argument(std::string_view name) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [name](const auto& each) { return each.first == name; });
  return found == arguments.end() ? std::string_view() : found->second;
}

std::vector<std::string_view> HttpHead::All(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [each, value] : headers) {
    if (absl::EqualsIgnoreCase(ToAbsl(each), ToAbsl(name))) values.push_back(value);
  }
  return values;
}

std::string_view HttpHead::First(std::string_view name) const {
  const std::vector<std::string_view> values = All(name);
  return values.empty() ? std::string_view() : values.front();
}

}  // namespace opserve::server
