// What clients of the shared-memory socket say: packets of any bytes, to two clients of one table.
//
// Input: packets, each behind a byte: the highest bit says which client it is for, the rest its
// length. A release of nothing but a number means the region that was made as that number.
#include <algorithm>
#include <string>
#include <vector>

#include "opserve/v1/shared_memory.pb.h"
#include "server/shared_memory/region_owner.h"
#include "tests/fuzz/fuzz_input.h"

namespace opserve::fuzz {
namespace {

constexpr int64_t kLimit = 1 << 16;

class Clients {
 public:
  void Say(size_t client, std::string packet) {
    v1::SharedMemoryRequest request;
    const bool parses = request.ParseFromString(packet);
    if (parses && request.has_release() && request.release().id().size() == 1 && !ids_.empty()) {
      request.mutable_release()->set_id(
          ids_[static_cast<uint8_t>(request.release().id()[0]) % ids_.size()]);
      packet = request.SerializeAsString();
    }
    const server::MemoryAnswer answer = owners_[client].Handle(std::as_bytes(std::span(packet)));
    v1::SharedMemoryResponse response;
    Require(!answer.bytes.empty() && response.ParseFromString(answer.bytes),
            "answers are messages");
    Require(answer.bytes.size() <= 4096, "answers are small");
    Require(answer.fd.is_open() == response.has_region(), "a region comes with its file");
    Require(response.has_error() || (parses && !answer.is_last), "garbage is refused");
    if (response.has_region()) Remember(response.region());
    Require(table_.stats().bytes <= kLimit, "the limit holds");
  }

  const server::RegionTable& table() const { return table_; }

 private:
  void Remember(const v1::SharedRegion& region) {
    const auto found = table_.Find(region.id());
    Require(found != nullptr, "a region is found by its id");
    Require(static_cast<int64_t>(found->bytes().size()) == region.size_bytes(), "sizes agree");
    found->bytes().back() = std::byte{1};
    ids_.push_back(region.id());
  }

  server::RegionTable table_{kLimit};
  std::vector<std::string> ids_;
  server::RegionOwner owners_[2] = {server::RegionOwner(table_), server::RegionOwner(table_)};
};

}  // namespace
}  // namespace opserve::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = opserve::fuzz;
  fuzz::Clients clients;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const auto head = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    const size_t length = std::min<size_t>(head & 0x7F, rest.size());
    clients.Say(head >> 7, std::string(rest.substr(0, length)));
    rest.remove_prefix(length);
  }
  return 0;
}
