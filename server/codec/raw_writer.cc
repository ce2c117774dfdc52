#include "server/codec/raw_writer.h"

#include <utility>

namespace opserve::server {

void RawWriter::AddCopy(std::span<const std::byte> entry) {
  ++entries_;
  AppendStart(tag_, entry.size(), end());
  if (!entry.empty()) end().append(reinterpret_cast<const char*>(entry.data()), entry.size());
}

void RawWriter::Add(PooledBuffer entry) {
  if (entry.size() <= kCopiedBytes) return AddCopy({entry.data(), entry.size()});
  ++entries_;
  AppendStart(tag_, entry.size(), end());
  message_.entries.push_back({std::move(entry), {}});
}

WrittenMessage RawWriter::WriteAfter(std::string header) && {
  header.append(message_.begin);
  message_.begin = std::move(header);
  return std::move(message_);
}

}  // namespace opserve::server
