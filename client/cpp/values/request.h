// A message to send, in pieces.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opserve::client {

// Bytes of its own and views of others' memory, in the order in which they were appended.
class Request {
 public:
  struct Piece {
    std::string own;  // used when `view` is empty
    std::span<const std::byte> view;
    std::shared_ptr<const void>
        owner;  // keeps `view`; without it the call ends only after `view` was let go of
  };

  void AppendCopy(std::string_view bytes);
  void AppendView(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  void Append(Request other);

  size_t size_bytes() const { return size_bytes_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
  size_t size_bytes_ = 0;
};

}  // namespace opserve::client
