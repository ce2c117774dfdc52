// Sessions that are opened anew: when servers are killed, stop or begin again, and by a fake one's
// script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <opserve/resident_session.h>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "tests/client/session/fake_session_server.h"
#include "tests/client/status_text.h"
#include "tests/server/server_process.h"
#include "tests/support/status_matchers.h"

namespace opserve::client {
namespace {

using ::opserve::testing::IsOk;
using ::opserve::testing::ServerProcess;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr int64_t kElements = 4;

// What a program keeps on a server: weights that a step doubles. `saved` is in the program.
class Doubling {
 public:
  absl::Status Build(Session& session) {
    ++builds;
    Context context = session.CreateContext();
    Stream stream = context.CreateStream();
    weights_ = context.NewTensor(DType::kFloat32, {kElements});
    doubled_ = context.NewTensor(DType::kFloat32, {kElements});
    const DeviceTensor two = context.NewTensor(DType::kFloat32, {kElements});
    absl::Status status = stream.Fill(two, 2.0F);
    status.Update(stream.Upload(weights_, TensorView::Of(saved, {kElements})));
    executor_ = context.CreateExecutor(
        DeviceCall("Mul").Input("self", weights_).Input("other", two).Output("out", doubled_),
        ExecutorUse::kRepeatable);
    stream_ = stream;
    return status;
  }

  absl::Status Step() {
    stream_->Execute(*executor_);
    const absl::Status copied = stream_->Copy(doubled_, weights_);
    if (!copied.ok()) return copied;
    const absl::StatusOr<Tensor> values = stream_->Download(doubled_);
    if (!values.ok()) return values.status();
    saved.assign(values->As<float>().begin(), values->As<float>().end());
    return absl::OkStatus();
  }

  ResidentSession::Rebuild Rebuild() {
    return [this](Session& session) { return Build(session); };
  }

  std::vector<float> saved = std::vector<float>(kElements, 1.0F);
  int builds = 0;

 private:
  std::optional<Stream> stream_;
  std::optional<Executor> executor_;
  DeviceTensor weights_;
  DeviceTensor doubled_;
};

class ResidentSessionTest : public ::testing::Test {
 protected:
  ResidentSessionTest() : folder_(::testing::TempDir() + "/opserve-resident-XXXXXX") {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  ~ResidentSessionTest() override { std::filesystem::remove_all(folder_); }

  std::string socket() const { return "unix:" + folder_ + "/socket"; }

  static void Serve(std::optional<ServerProcess>& server, std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--device", "cpu,threads=1"});
    server.emplace(flags);
    ASSERT_TRUE(server->WaitForLine("msg=serving")) << server->output();
  }

  // On a port of its own: the port.
  std::string ServeOnPort(std::optional<ServerProcess>& server, const std::string& name) {
    const std::string file = folder_ + "/" + name;
    Serve(server, {"--listen", "127.0.0.1:0", "--port-file", file});
    std::string address;
    std::ifstream(file) >> address;
    return address;
  }

  static void Kill(std::optional<ServerProcess>& server) {
    server->Signal(SIGKILL);
    EXPECT_EQ(server->Wait(), -SIGKILL);
    server.reset();
  }

  std::string folder_;
};

TEST_F(ResidentSessionTest, AServerThatIsKilledUnderAStepCostsNothing) {
  std::optional<ServerProcess> server;
  Serve(server, {"--listen", socket()});
  Doubling doubling;
  absl::StatusOr<ResidentSession> resident =
      ResidentSession::Open(*Client::Connect(socket()), doubling.Rebuild());
  ASSERT_THAT(resident, IsOk());
  int works = 0;
  for (int step = 0; step < 10; ++step) {
    EXPECT_THAT(resident->Run([&](Session&) {
      if (++works == 5) {
        Kill(server);
        Serve(server, {"--listen", socket()});
      }
      return doubling.Step();
    }),
                IsOk());
  }
  EXPECT_THAT(doubling.saved, Each(1024.0F));
  EXPECT_EQ(works, 11);
  EXPECT_EQ(doubling.builds, 2);
  EXPECT_EQ(resident->reconnects(), 1);
  EXPECT_THAT(resident->session().Close(), IsOk());
}

TEST_F(ResidentSessionTest, AServerThatStopsHandsOverToAnother) {
  std::optional<ServerProcess> first;
  std::optional<ServerProcess> second;
  const std::string address = ServeOnPort(first, "first");
  const std::string target = absl::StrCat("ipv4:", address, ",", ServeOnPort(second, "second"));
  Doubling doubling;
  int told = 0;
  ReconnectOptions options;
  options.session = [&told] {
    SessionOptions session;
    session.on_draining = [&told] { ++told; };
    return session;
  };
  absl::StatusOr<ResidentSession> resident =
      ResidentSession::Open(*Client::Connect(target), doubling.Rebuild(), std::move(options));
  ASSERT_THAT(resident, IsOk());
  const auto step = [&doubling](Session&) { return doubling.Step(); };
  EXPECT_THAT(resident->Run(step), IsOk());
  first->Signal(SIGTERM);
  EXPECT_EQ(first->Wait(), 0) << first->output();
  EXPECT_THAT(resident->Run(step), IsOk());
  EXPECT_THAT(doubling.saved, Each(4.0F));
  EXPECT_EQ(resident->reconnects(), 1);
  EXPECT_EQ(told, 1);
}

TEST_F(ResidentSessionTest, NoServerIsAnErrorUntilThereIsOne) {
  std::optional<ServerProcess> server;
  Serve(server, {"--listen", socket()});
  Doubling doubling;
  absl::StatusOr<ResidentSession> resident = ResidentSession::Open(
      *Client::Connect(socket()), doubling.Rebuild(), {.timeout = absl::Seconds(5)});
  ASSERT_THAT(resident, IsOk());
  Kill(server);
  int works = 0;
  const auto step = [&](Session&) {
    ++works;
    return doubling.Step();
  };
  absl::Status status = resident->Run(step);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr(socket()));
  EXPECT_EQ(resident->session().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_LE(works, 1);
  Serve(server, {"--listen", socket()});
  EXPECT_THAT(resident->Run(step), IsOk());
  EXPECT_THAT(doubling.saved, Each(2.0F));
  EXPECT_EQ(resident->reconnects(), 1);
}

// Ends each of the first `count` sessions with UNAVAILABLE when a Fill comes.
OnCommand EndingSessions(int count) {
  return [count](const ReceivedCommand& command, const SendAnswer& send) mutable {
    if (command.message.has_fill() && count-- > 0) return 14;
    return AnswerAll(command, send);
  };
}

absl::Status FillOne(Session& session) {
  Context context = session.CreateContext();
  Stream stream = context.CreateStream();
  absl::Status status = stream.Fill(context.NewTensor(DType::kFloat32, {1}), 1.0F);
  status.Update(stream.Synchronize());
  return status;
}

TEST(ResidentSessionScriptTest, BuildingIsTriedAgainOnAnotherSession) {
  const FakeSessionServer server(EndingSessions(2));
  int builds = 0;
  absl::StatusOr<ResidentSession> resident =
      ResidentSession::Open(*Client::Connect(server.target()), [&builds](Session& session) {
        ++builds;
        return FillOne(session);
      });
  ASSERT_THAT(resident, IsOk());
  EXPECT_EQ(builds, 3);
  EXPECT_EQ(resident->reconnects(), 0);
}

TEST(ResidentSessionScriptTest, WorkThatEndsEverySessionIsGivenUp) {
  const FakeSessionServer server(EndingSessions(1000));
  int builds = 0;
  absl::StatusOr<ResidentSession> resident =
      ResidentSession::Open(*Client::Connect(server.target()),
                            [&builds](Session&) {
                              ++builds;
                              return absl::OkStatus();
                            },
                            {.tries = 3});
  ASSERT_THAT(resident, IsOk());
  const absl::Status status = resident->Run(FillOne);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Message(status), HasSubstr("as scripted"));
  EXPECT_EQ(builds, 3);
}

TEST(ResidentSessionScriptTest, FailuresOfTheProgramsAreItsOwn) {
  const FakeSessionServer server;
  const Client client = *Client::Connect(server.target());
  const absl::Status bad = OutOfRange("beta", ">= 0", "-1");
  EXPECT_EQ(ResidentSession::Open(client, [&bad](Session&) { return bad; }).status(), bad);
  int builds = 0;
  absl::StatusOr<ResidentSession> resident = ResidentSession::Open(client, [&builds](Session&) {
    ++builds;
    return absl::OkStatus();
  });
  ASSERT_THAT(resident, IsOk());
  EXPECT_EQ(resident->Run([&bad](Session&) { return bad; }), bad);
  // Also one that looks like a lost server.
  const absl::Status elsewhere = absl::UnavailableError("the program's own database");
  EXPECT_EQ(resident->Run([&elsewhere](Session&) { return elsewhere; }), elsewhere);
  EXPECT_EQ(builds, 1);
}

TEST(ResidentSessionScriptTest, SessionsThatEndOtherwiseAreNotOpenedAnew) {
  const FakeSessionServer server;
  int builds = 0;
  absl::StatusOr<ResidentSession> resident =
      ResidentSession::Open(*Client::Connect(server.target()), [&builds](Session&) {
        ++builds;
        return absl::OkStatus();
      });
  ASSERT_THAT(resident, IsOk());
  const absl::Status status = resident->Run([](Session& session) {
    session.Cancel();
    return FillOne(session);
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(builds, 1);
  EXPECT_THAT(resident->Reconnect(), IsOk());
  EXPECT_THAT(resident->Run(FillOne), IsOk());
  EXPECT_EQ(builds, 2);
}

TEST(ResidentSessionScriptTest, ADrainingServerIsLeftBeforeTheNextWork) {
  bool is_told = false;
  const FakeSessionServer server(
      [&is_told](const ReceivedCommand& command, const SendAnswer& send) {
        if (!std::exchange(is_told, true)) {
          v1::Answer notice;
          notice.mutable_draining();
          send(notice);
        }
        return AnswerAll(command, send);
      });
  int builds = 0;
  absl::StatusOr<ResidentSession> resident =
      ResidentSession::Open(*Client::Connect(server.target()), [&builds](Session&) {
        ++builds;
        return absl::OkStatus();
      });
  ASSERT_THAT(resident, IsOk());
  EXPECT_THAT(resident->Run(FillOne), IsOk());
  EXPECT_TRUE(resident->session().draining());
  EXPECT_EQ(builds, 1);
  EXPECT_THAT(resident->Run(FillOne), IsOk());
  EXPECT_FALSE(resident->session().draining());
  EXPECT_EQ(builds, 2);
}

TEST(ResidentSessionScriptTest, OptionsMakeSense) {
  const Client client = *Client::Connect("unix:/nonexistent/opserve.sock");
  const auto nothing = [](Session&) { return absl::OkStatus(); };
  const auto parameter_of = [&](ReconnectOptions options) {
    return GetErrorDetail(ResidentSession::Open(client, nothing, std::move(options)).status())
        ->parameter;
  };
  EXPECT_EQ(parameter_of({.tries = 0}), "tries");
  EXPECT_EQ(parameter_of({.timeout = absl::ZeroDuration()}), "timeout");
}

}  // namespace
}  // namespace opserve::client
