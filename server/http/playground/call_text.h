// A call as somebody would write it, to be copied.
#pragma once

#include <string>
#include <string_view>

#include "server/http/playground/curves.h"

namespace opserve::server {

// Each is of the call at three of its points. `address` is where the server is dialled, as gRPC
// names it.
std::string PythonText(const PlayedCall& call, std::string_view address);
std::string GoText(const PlayedCall& call, std::string_view address);
std::string CommandText(const PlayedCall& call, std::string_view address);
std::string GrpcurlText(const PlayedCall& call, std::string_view address);

}  // namespace opserve::server
