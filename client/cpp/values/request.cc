#include "client/cpp/values/request.h"

#include <utility>

namespace opserve::client {

void Request::AppendCopy(std::string_view bytes) {
  if (bytes.empty()) return;
  if (pieces_.empty() || !pieces_.back().view.empty()) pieces_.emplace_back();
  pieces_.back().own.append(bytes);
  size_bytes_ += bytes.size();
}

void Request::AppendView(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) return;
  pieces_.push_back({.view = bytes, .owner = std::move(owner)});
  size_bytes_ += bytes.size();
}

void Request::Append(Request other) {
  for (Piece& piece : other.pieces_) {
    AppendCopy(piece.own);
    AppendView(piece.view, std::move(piece.owner));
  }
}

}  // namespace opserve::client
