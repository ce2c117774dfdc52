#include "client/cli/tutorial/reader.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/ascii.h"

namespace opserve::cli {
namespace {

constexpr int kEndOfInput = -1;
constexpr int kInterrupted = -2;

// Those that end the tutorial, and then SIGPIPE.
constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) {
    if (signal != SIGPIPE) sigaddset(&signals, signal);
  }
  return signals;
}

}  // namespace

Reader::Reader(Pace pace) : pace_(pace) {
  const sigset_t ending = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &ending, &signals_before_);
  signals_ = UniqueFd(signalfd(-1, &ending, SFD_CLOEXEC));
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &actions_before_[i]);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

Reader::~Reader() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_before_[i], nullptr);
  pthread_sigmask(SIG_SETMASK, &signals_before_, nullptr);
}

bool Reader::IsInterrupted() const {
  pollfd signal = {.fd = signals_.get(), .events = POLLIN, .revents = 0};
  return poll(&signal, 1, 0) > 0;
}

int Reader::ReadCharacter() const {
  pollfd ready[] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                    {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
  while (poll(ready, 2, -1) < 0) {
    if (errno != EINTR) return kEndOfInput;
  }
  if (ready[0].revents != 0) return kInterrupted;
  char character = 0;
  return read(STDIN_FILENO, &character, 1) == 1 ? static_cast<unsigned char>(character)
                                                : kEndOfInput;
}

Answer Reader::Ask() {
  if (!asks()) return IsInterrupted() ? Answer::kEnd : Answer::kGoOn;
  std::string line;
  while (true) {
    const int character = ReadCharacter();
    if (character == kInterrupted) return Answer::kEnd;
    if (character == '\n') break;
    if (character == kEndOfInput) {
      if (isatty(STDIN_FILENO) == 1) return Answer::kEnd;
      pace_ = Pace::kGoOnByItself;
      break;
    }
    // What is no answer may be long.
    if (line.size() < 16) line.push_back(static_cast<char>(character));
  }
  return absl::StripAsciiWhitespace(line) == "q" ? Answer::kEnd : Answer::kGoOn;
}

}  // namespace opserve::cli
