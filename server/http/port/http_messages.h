// What is asked by HTTP, and what is answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <sys/types.h>

#include "core/base/client_id.h"

namespace opserve::server {

struct HttpResponse {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string body;
  bool runs_script = false;  // a page with scripts of this port's, which ask this port again
  std::vector<std::pair<std::string_view, std::string>> headers = {};  // further ones
  // The body goes on with these bytes, which lie in `kept`.
  std::vector<std::span<const std::byte>> more = {};
  std::shared_ptr<const void> kept = nullptr;

  size_t body_bytes() const;
};

struct HttpRequest {
  // Of the query, decoded: any bytes.
  std::vector<std::pair<std::string, std::string>> arguments;
  // The Accept headers, with commas between them: any bytes.
  std::string accept;

  // The first of that name; empty when there is none.
  std::string_view Argument(std::string_view name) const;
};

// A request before its body. The texts are gone once Begin has returned.
struct HttpHead {
  std::string_view method;
  std::string_view path;  // decoded: any bytes
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  ClientId client = ClientId::kNone;
  std::string peer;  // as gRPC calls it: "ipv4:127.0.0.1:40000"
  // Which of this machine's users asks (PeerUser); found out when it is first asked of a
  // connection.
  std::function<std::optional<uid_t>()> user = [] { return std::nullopt; };

  // The values of all headers of that name, whatever its case.
  std::vector<std::string_view> All(std::string_view name) const;
  // The first of them; empty when there is none.
  std::string_view First(std::string_view name) const;
};

// A request that waits for its answer. Thread-safe.
class HttpCall {
 public:
  virtual ~HttpCall() = default;

  // Once. What comes after the client has left is dropped.
  virtual void Answer(HttpResponse response) = 0;
  // Whether nobody waits any more: the client has left, or the port is about to end.
  virtual bool IsCancelled() const = 0;
};

// Takes one request's body, and answers. On the port's thread: neither blocks nor takes long.
class HttpBody {
 public:
  virtual ~HttpBody() = default;

  // The next bytes. With an answer the rest is dropped, and that is sent once it has come.
  virtual std::optional<HttpResponse> Take(std::span<const std::byte> piece) = 0;
  // The body is whole. `call` is to be answered, here or later, from any thread.
  virtual void End(std::shared_ptr<HttpCall> call) = 0;
  // Whether it is what the server is for: the port's thread then takes the time that it needs.
  virtual bool IsWork() const = 0;
};

// Answers requests with bodies, and such as take long.
class HttpApi {
 public:
  virtual ~HttpApi() = default;

  // Whether it has that path, whatever the method.
  virtual bool Has(std::string_view path) const = 0;
  // Whether an answer takes long enough that a client may have but so many a second, as of heavy
  // routes.
  virtual bool IsHeavy(std::string_view path) const = 0;
  // Takes a request, or answers it before its body has come. As HttpBody's.
  using Begun = std::variant<HttpResponse, std::shared_ptr<HttpBody>>;
  virtual Begun Begin(const HttpHead& head) = 0;
};

}  // namespace opserve::server
