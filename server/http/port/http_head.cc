#include "server/http/port/http_head.h"

#include "absl/strings/numbers.h"
#include "core/base/strings.h"

namespace opserve::server {
namespace {

constexpr std::string_view kTransferEncoding = "Transfer-Encoding";

MHD_Result OnArgument(void* request, MHD_ValueKind /*kind*/, const char* name, const char* value) {
  static_cast<HttpRequest*>(request)->arguments.emplace_back(name, value == nullptr ? "" : value);
  return MHD_YES;
}

MHD_Result OnHeader(void* head, MHD_ValueKind /*kind*/, const char* name, const char* value) {
  static_cast<HttpHead*>(head)->headers.emplace_back(name, value == nullptr ? "" : value);
  return MHD_YES;
}

}  // namespace

std::string_view HeaderOf(MHD_Connection* connection, const char* name) {
  const char* value = ::MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

void ReadHeaders(MHD_Connection* connection, HttpHead& head) {
  ::MHD_get_connection_values(connection, MHD_HEADER_KIND, &OnHeader, &head);
}

HttpRequest ReadRequest(MHD_Connection* connection) {
  HttpRequest request;
  ::MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, &OnArgument, &request);
  HttpHead head;
  ReadHeaders(connection, head);
  for (const std::string_view value : head.All("Accept"))
    request.accept.append(request.accept.empty() ? "" : ",").append(value);
  return request;
}

BodySize BodySizeOf(MHD_Connection* connection) {
  const std::string_view length = HeaderOf(connection, "Content-Length");
  BodySize size{.has_length = !length.empty()};
  // The library has refused what is no number.
  if (size.has_length) (void)absl::SimpleAtoi(ToAbsl(length), &size.bytes);
  // To the library a body comes wherever the header is there, even with no value.
  size.has_body = size.bytes > 0 || ::MHD_lookup_connection_value_n(
                                        connection, MHD_HEADER_KIND, kTransferEncoding.data(),
                                        kTransferEncoding.size(), nullptr, nullptr) == MHD_YES;
  return size;
}

}  // namespace opserve::server
