#include "tests/bench/e2e/echo_answer.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace opserve::bench {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kZeroBytes = size_t{4} << 20;

struct Lease {
  WarmBlocks& blocks;
  WarmBlocks::Block block;
};

grpc::Slice Gathered(const std::vector<grpc::Slice>& slices, size_t bytes, WarmBlocks& blocks) {
  auto lease = std::make_unique<Lease>(Lease{blocks, blocks.Take(bytes)});
  std::byte* to = lease->block.data;
  for (const grpc::Slice& slice : slices) {
    std::memcpy(to, slice.begin(), slice.size());
    to += slice.size();
  }
  Lease* held = lease.release();
  return grpc::Slice(
      held->block.data, bytes,
      [](void* given) {
        const std::unique_ptr<Lease> owned(static_cast<Lease*>(given));
        owned->blocks.Return(owned->block);
      },
      held);
}

// Of bytes [begin, end) of the slices, those that there are; returns how many.
size_t AppendPart(const std::vector<grpc::Slice>& slices, size_t begin, size_t end,
                  std::vector<grpc::Slice>& out) {
  size_t position = 0;
  size_t appended = 0;
  for (const grpc::Slice& slice : slices) {
    const size_t from = std::max(begin, position);
    const size_t to = std::min(end, position + slice.size());
    if (from < to) {
      out.push_back(slice.sub(from - position, to - position));
      appended += to - from;
    }
    position += slice.size();
  }
  return appended;
}

void AppendZeros(size_t bytes, std::vector<grpc::Slice>& out) {
  static const auto* const zeros = new std::vector<std::byte>(kZeroBytes);
  for (; bytes > 0; bytes -= std::min(bytes, kZeroBytes))
    out.emplace_back(zeros->data(), std::min(bytes, kZeroBytes), grpc::Slice::STATIC_SLICE);
}

}  // namespace

WarmBlocks::~WarmBlocks() {
  MutexLock lock(mutex_);
  for (const std::vector<Block>& blocks : free_) {
    for (const Block& block : blocks) std::free(block.data);
  }
}

WarmBlocks::Block WarmBlocks::Take(size_t bytes) {
  const auto size_class = static_cast<size_t>(std::bit_width(std::max<size_t>(bytes, 64) - 1));
  {
    MutexLock lock(mutex_);
    std::vector<Block>& free = free_[size_class];
    if (!free.empty()) {
      const Block block = free.back();
      free.pop_back();
      return block;
    }
  }
  const size_t size = size_t{1} << size_class;
  void* data = std::aligned_alloc(size >= kHugePageBytes ? kHugePageBytes : 64, size);
  if (data == nullptr) throw std::bad_alloc();
  if (size >= kHugePageBytes) madvise(data, size, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(data), size_class};
}

void WarmBlocks::Return(Block block) {
  MutexLock lock(mutex_);
  free_[block.size_class].push_back(block);
}

EchoRequest::EchoRequest(const grpc::ByteBuffer& request, AnswerFrom from, WarmBlocks& blocks) {
  if (!request.Valid() || !request.Dump(&slices_).ok()) slices_.clear();
  std::string start;
  for (const grpc::Slice& slice : slices_) {
    start.append(reinterpret_cast<const char*>(slice.begin()),
                 std::min(slice.size(), kEchoHeaderBytes - start.size()));
    if (start.size() == kEchoHeaderBytes) break;
  }
  if (!ReadEchoHeader(start, header_)) header_ = {.answer_bytes = kEchoHeaderBytes};
  header_.answer_bytes = std::max<uint64_t>(header_.answer_bytes, kEchoHeaderBytes);
  if (from == AnswerFrom::kGathered) slices_ = {Gathered(slices_, request.Length(), blocks)};
}

grpc::ByteBuffer EchoRequest::MakeAnswer(uint32_t following) const {
  EchoHeader header = header_;
  header.answer_bytes = 0;
  header.answers = following + header_.later_answers;
  std::vector<grpc::Slice> slices;
  slices.reserve(slices_.size() + 2);
  slices.emplace_back(&header, sizeof(header));
  const size_t bulk = header_.answer_bytes - kEchoHeaderBytes;
  const size_t there = AppendPart(slices_, kEchoHeaderBytes, kEchoHeaderBytes + bulk, slices);
  AppendZeros(bulk - there, slices);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace opserve::bench
