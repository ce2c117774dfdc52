#include "client/acl/remote/transfers.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "client/acl/remote/remote_memory.h"
#include "core/base/status_macros.h"

namespace opserve::acl {
namespace {

// Copying these costs less than to wait for the transport.
constexpr size_t kCopiedBytes = size_t{64} << 10;

// As many bytes of commands may wait for it.
constexpr int64_t kMostWaitingBytes = int64_t{16} << 20;

client::TensorView ViewOf(std::span<const std::byte> bytes) {
  const int64_t shape[] = {static_cast<int64_t>(bytes.size())};
  return client::TensorView::OfBytes(DType::kUint8, shape, bytes);
}

client::TensorView CopyOf(std::span<const std::byte> bytes) {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  client::TensorView view = ViewOf(*copy);
  view.owner = copy;
  return view;
}

}  // namespace

absl::Status SendBytes(ServerSession& session, client::Stream& stream, const MemoryView& to,
                       std::span<const std::byte> from, const std::shared_ptr<LentMemory>& lent) {
  const client::DeviceTensor range = BytesOf(to, static_cast<int64_t>(from.size()));
  if (from.size() <= kCopiedBytes) {
    session.session().WaitForTransport(kMostWaitingBytes);
    return session.Told(stream.Upload(range, CopyOf(from)));
  }
  if (lent == nullptr) return session.Told(stream.Upload(range, ViewOf(from)));
  auto give_back = [lent, loan = lent->Lend(), all = session.lent(),
                    of_all = session.lent()->Lend()] {
    lent->Return(loan);
    all->Return(of_all);
  };
  return session.Told(stream.UploadAsync(range, ViewOf(from), std::move(give_back)));
}

absl::Status Transfers::Upload(const MemoryView& to, std::span<const std::byte> from) {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  return Published(SendBytes(session_, stream_, to, from, nullptr));
}

absl::Status Transfers::Download(const MemoryView& from, std::span<std::byte> to) {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  const client::DeviceTensor range = BytesOf(from, static_cast<int64_t>(to.size()));
  OPSERVE_RETURN_IF_ERROR(session_.Told(stream_.DownloadTo(range, to)));
  return TakeFailure();
}

absl::Status Transfers::Copy(const MemoryView& from, const MemoryView& to, int64_t bytes) {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  return Published(stream_.Copy(BytesOf(from, bytes), BytesOf(to, bytes)));
}

absl::Status Transfers::Fill(const MemoryView& to, std::byte value, int64_t bytes) {
  OPSERVE_RETURN_IF_ERROR(session_.CheckAlive());
  return Published(stream_.Fill(BytesOf(to, bytes), static_cast<uint8_t>(value)));
}

absl::Status Transfers::Published(absl::Status sent) {
  stream_.Record(end_);
  ++count_;
  return sent;
}

bool Transfers::JoinBefore(client::Stream& stream, std::atomic<uint64_t>& joined) const {
  const uint64_t now = count_;
  if (joined >= now) return false;
  stream.Wait(end_);
  joined = now;
  return true;
}

}  // namespace opserve::acl
