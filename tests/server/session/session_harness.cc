#include "tests/server/session/session_harness.h"

#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include <google/protobuf/text_format.h>

#include "core/base/clock.h"
#include "google/rpc/error_details.pb.h"
#include "tests/support/status_matchers.h"

namespace opserve::testing {
namespace {

constexpr std::chrono::minutes kPatience{1};
constexpr int64_t kHostBytes = int64_t{1} << 30;

struct OwnedEntries {
  std::vector<std::string> entries;
};

// As a transport may deliver it: in pieces of so many bytes; of 0: in two.
Fragments InPieces(const std::string& entry, size_t piece_bytes) {
  std::span<const std::byte> bytes = std::as_bytes(std::span(entry));
  Fragments pieces;
  if (piece_bytes == 0) {
    pieces.Append(bytes.first(bytes.size() / 3));
    bytes = bytes.subspan(bytes.size() / 3);
    piece_bytes = bytes.size();
  }
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(piece_bytes, bytes.size())))
    pieces.Append(bytes.first(std::min(piece_bytes, bytes.size())));
  return pieces;
}

v1::Command Parse(std::string_view text) {
  v1::Command command;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(std::string(text), &command)) << text;
  return command;
}

google::rpc::ErrorInfo InfoOf(const google::rpc::Status& error) {
  google::rpc::ErrorInfo info;
  EXPECT_TRUE(error.details_size() == 0 || info.ParseFromString(error.details(0).value()));
  return info;
}

int64_t UsedBytes(const Engine& engine) {
  int64_t bytes = 0;
  for (const auto& device : engine.devices()) {
    bytes += device->memory().stats().used_bytes;
    bytes += device->host_memory().stats().used_bytes;
  }
  return bytes;
}

// For what rings no bell. False when it does not come true.
template <typename Condition>
bool YieldUntil(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

std::string Reply::reason() const { return InfoOf(last().error()).reason(); }

std::string Reply::part(const char* name) const {
  const google::rpc::ErrorInfo info = InfoOf(last().error());
  const auto found = info.metadata().find(name);
  return found == info.metadata().end() ? "" : found->second;
}

std::string Reply::bytes(std::string_view output) const {
  std::string bytes;
  for (size_t i = 0; i < answers.size(); ++i) {
    const v1::OutputChunk& chunk = answers[i].chunk();
    if (!answers[i].has_chunk() || chunk.output() != output) continue;
    EXPECT_EQ(chunk.offset_bytes(), static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(raw[i].size(), 1u);
    if (raw[i].size() == 1) bytes += raw[i][chunk.raw_index()];
  }
  return bytes;
}

void SessionHarness::Bell::Ring() {
  MutexLock lock(mutex);
  ++count;
  changed.NotifyAll();
}

int64_t SessionHarness::Bell::rings() const {
  MutexLock lock(mutex);
  return count;
}

bool SessionHarness::Bell::AwaitMoreThan(int64_t rings) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  MutexLock lock(mutex);
  while (count <= rings) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= left.zero()) {
      ADD_FAILURE() << "nothing happened for a minute";
      return false;
    }
    changed.WaitFor(mutex, left);
  }
  return true;
}

SessionHarness::SessionHarness(Engine& engine, const server::SessionLimits& limits,
                               const Clock& clock)
    : engine_(engine),
      open_streams_(engine),
      bell_(std::make_shared<Bell>()),
      host_memory_(std::make_shared<server::HostMemory>(kHostBytes, 1, clock)),
      flow_(std::make_shared<server::Flow>(limits.window_bytes,
                                           std::make_shared<server::SessionMemory>(
                                               host_memory_, ClientId(1), limits.host_memory_bytes),
                                           counters_)),
      session_(
          std::make_unique<server::Session>(engine, plans_, open_streams_, clock, limits, flow_)) {
  using Wake = absl::AnyInvocable<void() const>;
  flow_->Attach(std::make_shared<const Wake>([bell = bell_] { bell->Ring(); }));
  TakeAnswers();
  EXPECT_EQ(answers_.size(), 1u);
  if (answers_.contains(0)) info_ = answers_[0].last().info();
  answers_.clear();
}

SessionHarness::~SessionHarness() {
  if (session_ != nullptr) ExpectNothingLeft();
}

absl::Status SessionHarness::Take(const v1::Command& command, const std::vector<std::string>& raw) {
  const auto owner = std::make_shared<OwnedEntries>(OwnedEntries{raw});
  server::Command taken{.header = command, .raw = {}, .owner = owner};
  for (const std::string& entry : owner->entries)
    taken.raw.push_back(InPieces(entry, piece_bytes_));
  return session_->Take(std::move(taken));
}

uint64_t SessionHarness::Send(v1::Command command, const std::vector<std::string>& raw) {
  if (command.id() == 0) command.set_id(last_id_ + 1);
  last_id_ = command.id();
  const absl::Status status = Take(command, raw);
  EXPECT_THAT(status, IsOk());
  return last_id_;
}

uint64_t SessionHarness::Send(std::string_view command, const std::vector<std::string>& raw) {
  return Send(Parse(command), raw);
}

Reply SessionHarness::Await(uint64_t id) {
  AwaitThat([&] {
    TakeAnswers();
    const auto found = answers_.find(id);
    return found != answers_.end() && !found->second.last().more();
  });
  Reply reply = std::move(answers_[id]);
  answers_.erase(id);
  if (reply.answers.empty() || reply.last().more()) {
    ADD_FAILURE() << "command " << id << " has no last answer";
    reply.answers.emplace_back();
    reply.raw.emplace_back();
  }
  return reply;
}

Reply SessionHarness::Do(const v1::Command& command, const std::vector<std::string>& raw) {
  Reply reply = Await(Send(command, raw));
  EXPECT_THAT(reply, IsOk()) << command.ShortDebugString() << reply.last().error().message();
  return reply;
}

Reply SessionHarness::Do(std::string_view command, const std::vector<std::string>& raw) {
  return Do(Parse(command), raw);
}

Reply SessionHarness::Refuse(const v1::Command& command, std::string_view reason,
                             std::string_view parameter, const std::vector<std::string>& raw) {
  Reply reply = Await(Send(command, raw));
  const std::string context =
      command.ShortDebugString() + ": " + reply.last().error().message() + "\n";
  EXPECT_FALSE(reply.ok()) << context;
  EXPECT_TRUE(reply.reason() == reason || reply.part("code") == reason)
      << "want " << reason << ", got " << reply.reason() << " " << context;
  EXPECT_EQ(reply.part("parameter"), parameter) << context;
  return reply;
}

Reply SessionHarness::Refuse(std::string_view command, std::string_view reason,
                             std::string_view parameter, const std::vector<std::string>& raw) {
  return Refuse(Parse(command), reason, parameter, raw);
}

void SessionHarness::Keep(server::Answer answer) {
  std::vector<std::string> raw;
  for (const PooledBuffer& entry : answer.raw)
    raw.emplace_back(reinterpret_cast<const char*>(entry.data()), entry.size());
  const uint64_t id = answer.header.id();
  EXPECT_FALSE(answered_.contains(id))
      << "an answer behind the last: " << answer.header.ShortDebugString();
  if (id != 0 && !answer.header.more()) answered_.insert(id);
  answers_[id].answers.push_back(std::move(answer.header));
  answers_[id].raw.push_back(std::move(raw));
}

void SessionHarness::TakeAnswers() {
  while (BeginSending()) EndSending();
}

bool SessionHarness::BeginSending() {
  std::vector<server::Answer> answers = flow_->Next(0);
  if (answers.empty()) return false;
  sending_ = answers[0].size_bytes();
  Keep(std::move(answers[0]));
  return true;
}

void SessionHarness::EndSending() {
  flow_->Sent(sending_.has_value() ? 1 : 0, sending_.value_or(0));
  sending_.reset();
}

void SessionHarness::AwaitRoom() {
  AwaitThat([this] {
    if (flow_->MayRead()) return true;
    TakeAnswers();
    return flow_->MayRead();
  });
}

void SessionHarness::AwaitIdle() {
  AwaitThat([this] {
    TakeAnswers();
    return flow_->IsIdle();
  });
}

void SessionHarness::AwaitEmptyPools() {
  const bool empty = YieldUntil([this] {
    TakeAnswers();
    return UsedBytes(engine_) == 0;
  });
  EXPECT_TRUE(empty) << UsedBytes(engine_) << " bytes";
}

void SessionHarness::ExpectNothingLeft() {
  session_.reset();
  const std::weak_ptr<server::Flow> flow = flow_;
  flow_.reset();
  EXPECT_TRUE(YieldUntil([&] { return flow.expired(); })) << flow.use_count() << " tickets";
  EXPECT_TRUE(YieldUntil([&] { return UsedBytes(engine_) == 0; }))
      << UsedBytes(engine_) << " bytes";
  EXPECT_TRUE(YieldUntil([&] { return host_memory_->used_bytes() == 0; }))
      << host_memory_->used_bytes() << " bytes of the host";
  EXPECT_EQ(host_memory_->staging()->stats().used_bytes, 0);
}

std::string Noise(size_t count, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(generator());
  return bytes;
}

}  // namespace opserve::testing
