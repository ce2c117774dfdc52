// Operators to play with in a browser: curves of an operator and its gradient, computed by the
// server's own engine.
#pragma once

#include <string>
#include <vector>

#include "server/http/playground/playground_page.h"

namespace opserve::server {

// The HTTP port's thread alone uses it.
class Playground {
 public:
  // `engine` must outlive it. `address` is where clients dial the server.
  Playground(Engine& engine, std::string address);

  // The page of the operator that the argument `op` names, as ReadSetting's arguments say. What is
  // wrong with them is said on the page.
  HttpResponse Answer(const HttpRequest& request) const;

 private:
  struct Playable {
    Setting first;
    std::vector<AttributeField> fields;
  };

  const Playable* Find(std::string_view op) const;

  Engine& engine_;
  const std::string address_;
  std::vector<Playable> playable_;
  std::vector<const Operator*> operators_;  // of each
};

}  // namespace opserve::server
