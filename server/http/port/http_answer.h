// Answers as libmicrohttpd sends them.
#pragma once

#include <microhttpd.h>

#include <string>

#include "server/http/port/http_messages.h"

namespace opserve::server {

// Queues `answer` with the headers that all answers of the port have.
MHD_Result SendAnswer(MHD_Connection* connection, HttpResponse answer);

HttpResponse PlainAnswer(int status, std::string text);
HttpResponse WithoutBody();      // 413: want a request without a body
HttpResponse NoSuchMethod();     // 405: want GET or HEAD
HttpResponse TooManyRequests();  // 429, with the time to try again

}  // namespace opserve::server
