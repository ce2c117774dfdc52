// What a server that does nothing answers on a session.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/loadtest/calls/expected.h"
#include "client/loadtest/load/mix.h"

namespace opserve::loadtest {

// Thread-safe.
class SessionEcho {
 public:
  // Answers as the first answers to the entries of `mix` were, each as often as its weight says;
  // which of them a command is does not matter to who only looks at sizes and ids.
  SessionEcho(const std::vector<Expected>& expected, std::unique_ptr<Mix> mix);

  // A SessionResponse with an answer to each command of a SessionRequest; empty for other bytes.
  std::string Answer(std::string_view request);

 private:
  struct Echoed {
    std::string outputs;  // fields of an Answer, but for the id
    std::string raw;      // fields of the response
  };

  std::vector<Echoed> echoed_;
  const std::unique_ptr<Mix> mix_;
};

}  // namespace opserve::loadtest
