// What libmicrohttpd knows of a request before its body.
#pragma once

#include <microhttpd.h>

#include <cstdint>
#include <string_view>

#include "server/http/port/http_messages.h"

namespace opserve::server {

// The first header of that name; empty when there is none.
std::string_view HeaderOf(MHD_Connection* connection, const char* name);

// The headers, until the request is over.
void ReadHeaders(MHD_Connection* connection, HttpHead& head);

// Of one without a body.
HttpRequest ReadRequest(MHD_Connection* connection);

struct BodySize {
  bool has_body = false;
  bool has_length = false;
  uint64_t bytes = 0;  // if has_length
};
BodySize BodySizeOf(MHD_Connection* connection);

}  // namespace opserve::server
