// Answers as libmicrohttpd sends them.
#pragma once

#include <microhttpd.h>

#include "server/http/port/http_messages.h"

namespace opserve::server {

// Queues `answer` with the headers that all answers of the port have.
MHD_Result SendAnswer(MHD_Connection* connection, HttpResponse answer);

}  // namespace opserve::server
