// Memory of a file that another process may make shorter while it is read here. Reading mapped
// memory beyond the end of its file raises SIGBUS; this process then reads zeros, and the mapping
// knows that it was cut.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace opserve::server {

// To be read only. Thread-safe. The first mapping of the process handles SIGBUS from then on; a
// SIGBUS of other memory goes to who handled the signal before.
class GuardedMapping {
 public:
  // `size` > 0 bytes of `file` from `offset` on. nullptr where the system does not map them.
  static std::unique_ptr<const GuardedMapping> Map(int file, off_t offset, size_t size);
  ~GuardedMapping();
  GuardedMapping(const GuardedMapping&) = delete;
  GuardedMapping& operator=(const GuardedMapping&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  // Whether something was read that the file no longer had. Stays so.
  bool was_cut() const;

 private:
  struct Guard;

  GuardedMapping(std::span<std::byte> pages, std::span<const std::byte> bytes);
  static Guard& FreeGuard();
  static void InstallHandler();
  static void HandleSignal(int number, siginfo_t* info, void* context);

  // All that were ever needed, most recent first: the handler walks them, so none is ever freed.
  static constinit std::atomic<Guard*> guards_;

  const std::span<std::byte> pages_;
  const std::span<const std::byte> bytes_;
  Guard& guard_;
};

}  // namespace opserve::server
