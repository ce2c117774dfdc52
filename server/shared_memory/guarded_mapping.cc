#include "server/shared_memory/guarded_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <mutex>

namespace opserve::server {

// What the handler knows of a mapping. It runs on the thread that reads, at any instruction: it
// may use atomics and system calls, and no lock.
struct GuardedMapping::Guard {
  std::atomic<bool> is_taken = true;
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;  // nothing is guarded while it is 0
  std::atomic<bool> was_cut = false;
  Guard* next = nullptr;
};

constinit std::atomic<GuardedMapping::Guard*> GuardedMapping::guards_ = nullptr;

namespace {

struct sigaction before = {};  // who handled the signal

}  // namespace

void GuardedMapping::HandleSignal(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Guard* guard = guards_.load(); guard != nullptr; guard = guard->next) {
    const uintptr_t end = guard->end.load();
    if (address >= end || address < guard->begin.load()) continue;
    if (guard->end.load() != end) continue;  // `begin` is of a mapping that came after
    // The rest is gone, too; a reader that had to stop for each page would take long.
    const uintptr_t into_page = address % static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    guard->was_cut = true;
    const void* zeros =
        ::mmap(static_cast<std::byte*>(info->si_addr) - into_page, end - address + into_page,
               PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros != MAP_FAILED) return;
    break;
  }
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(number, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(number);
  // The instruction runs again, and ends the process.
  ::signal(number, SIG_DFL);
}

void GuardedMapping::InstallHandler() {
  struct sigaction action = {};
  action.sa_sigaction = HandleSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &before);
}

GuardedMapping::Guard& GuardedMapping::FreeGuard() {
  static std::once_flag once;
  std::call_once(once, InstallHandler);
  for (Guard* guard = guards_.load(); guard != nullptr; guard = guard->next) {
    if (bool is_free = false; guard->is_taken.compare_exchange_strong(is_free, true)) return *guard;
  }
  auto* guard = new Guard();
  guard->next = guards_.load();
  while (!guards_.compare_exchange_weak(guard->next, guard)) {
  }
  return *guard;
}

std::unique_ptr<const GuardedMapping> GuardedMapping::Map(int file, off_t offset, size_t size) {
  const off_t into_page = offset % ::sysconf(_SC_PAGESIZE);
  const size_t whole = size + static_cast<size_t>(into_page);
  void* pages = ::mmap(nullptr, whole, PROT_READ, MAP_SHARED, file, offset - into_page);
  if (pages == MAP_FAILED) return nullptr;
  const std::span<std::byte> all(static_cast<std::byte*>(pages), whole);
  return std::unique_ptr<const GuardedMapping>(
      new GuardedMapping(all, all.subspan(static_cast<size_t>(into_page))));
}

GuardedMapping::GuardedMapping(std::span<std::byte> pages, std::span<const std::byte> bytes)
    : pages_(pages), bytes_(bytes), guard_(FreeGuard()) {
  guard_.was_cut = false;
  guard_.begin = reinterpret_cast<uintptr_t>(pages.data());
  // Up to the end of the last page.
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  guard_.end = (guard_.begin + pages.size() + page - 1) / page * page;
}

GuardedMapping::~GuardedMapping() {
  guard_.end = 0;
  ::munmap(pages_.data(), pages_.size());
  guard_.is_taken = false;
}

bool GuardedMapping::was_cut() const { return guard_.was_cut; }

}  // namespace opserve::server
