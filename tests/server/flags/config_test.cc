#include "server/flags/config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/usable_memory.h"
#include "server/flags/flag_set.h"

namespace opserve::server {
namespace {

std::variant<ServerConfig, EarlyExit> Parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "opserve-server");
  return ParseCommandLine(static_cast<int>(flags.size()), flags.data());
}

ServerConfig Accepted(const std::vector<const char*>& flags) {
  const std::variant<ServerConfig, EarlyExit> parsed = Parse(flags);
  if (const auto* exit = std::get_if<EarlyExit>(&parsed)) {
    ADD_FAILURE() << exit->text;
    return {};
  }
  return std::get<ServerConfig>(parsed);
}

EarlyExit Exit(const std::vector<const char*>& flags) {
  const std::variant<ServerConfig, EarlyExit> parsed = Parse(flags);
  const auto* exit = std::get_if<EarlyExit>(&parsed);
  if (exit == nullptr) {
    ADD_FAILURE() << "accepted";
    return {};
  }
  return *exit;
}

void ExpectRefused(const std::vector<const char*>& flags, std::string_view part) {
  const EarlyExit exit = Exit(flags);
  EXPECT_EQ(exit.code, 2);
  EXPECT_NE(exit.text.find(part), std::string::npos) << exit.text;
}

class ConfigFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "opserveXXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = (folder_ / "server.ini").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void Write(std::string_view text) const { std::ofstream(path_) << text; }

  std::filesystem::path folder_;
  std::string path_;
};

TEST(ConfigTest, CallsAreToldOfAsTheFlagsSay) {
  const ServerConfig quiet = Accepted({});
  EXPECT_EQ(quiet.load_reports, LoadReportPolicy::kOff);
  EXPECT_FALSE(quiet.channelz);
  EXPECT_EQ(quiet.tracing.endpoint, "");
  EXPECT_EQ(quiet.tracing.slow_call, absl::ZeroDuration());
  const ServerConfig config =
      Accepted({"--log-format=json", "--load-reports=asked", "--channelz", "--trace-endpoint",
                "http://collector:4318", "--trace-sample=2.5%", "--slow-call-time=50ms",
                "--slow-calls-file=slow.json"});
  EXPECT_EQ(config.log_format, LogFormat::kJson);
  EXPECT_EQ(config.load_reports, LoadReportPolicy::kAsked);
  EXPECT_TRUE(config.channelz);
  EXPECT_EQ(config.tracing.endpoint, "http://collector:4318");
  EXPECT_DOUBLE_EQ(config.tracing.sampled_part, 0.025);
  EXPECT_EQ(config.tracing.slow_call, absl::Milliseconds(50));
  EXPECT_EQ(config.tracing.slow_calls_file, "slow.json");
}

TEST(ConfigTest, OpenInferenceIsOnUnlessItIsTurnedOff) {
  EXPECT_TRUE(Accepted({}).clients.open_inference);
  EXPECT_TRUE(Accepted({"--open-inference=on"}).clients.open_inference);
  EXPECT_FALSE(Accepted({"--open-inference", "off"}).clients.open_inference);
  EXPECT_FALSE(Accepted({}).clients.open_inference_shared_memory);
  EXPECT_TRUE(Accepted({"--open-inference-shared-memory"}).clients.open_inference_shared_memory);
  ExpectRefused({"--open-inference", "no"}, "--open-inference: want on or off, got \"no\"");
}

TEST(ConfigTest, BadValuesOfThoseFlagsAreRefused) {
  ExpectRefused({"--log-format", "xml"}, "--log-format: want text or json, got \"xml\"");
  ExpectRefused({"--load-reports", "on"}, "--load-reports: want off, asked or always, got \"on\"");
  ExpectRefused({"--trace-endpoint", "localhost:4318"}, "--trace-endpoint: want http://HOST");
  for (const char* part : {"1", "-1%", "101%", "nan%", "%", "1%%"})
    ExpectRefused({"--trace-sample", part}, "--trace-sample: want 0% to 100%, got");
  ExpectRefused({"--client-share", "0.5%"}, "--client-share: want 1% to 100%, got \"0.5%\"");
}

TEST(ConfigTest, Defaults) {
  const ServerConfig config = Accepted({});
  EXPECT_EQ(config.listen, std::vector<std::string>{"localhost:8500"});
  EXPECT_EQ(config.port_file, "");
  ASSERT_EQ(config.devices.size(), 1u);
  EXPECT_EQ(config.devices[0].kind, "cpu");
  EXPECT_EQ(config.devices[0].threads, 0);
  EXPECT_EQ(config.max_message_bytes, int64_t{256} << 20);
  EXPECT_EQ(config.memory_limit_bytes, DefaultMemoryLimitBytes());
  EXPECT_LE(config.memory_limit_bytes, int64_t{1} << 30);
  EXPECT_EQ(config.log_level, LogLevel::kInfo);
  EXPECT_EQ(config.log_format, LogFormat::kText);
  EXPECT_EQ(config.drain_timeout, absl::Seconds(30));
  EXPECT_EQ(config.grace_period, absl::ZeroDuration());
  EXPECT_EQ(config.connections.max_age, absl::ZeroDuration());
  EXPECT_EQ(config.connections.max_age_grace, absl::Seconds(30));
  EXPECT_EQ(config.connections.max_idle, absl::ZeroDuration());
  EXPECT_EQ(config.connections.keepalive_time, absl::Seconds(60));
  EXPECT_EQ(config.connections.keepalive_timeout, absl::Seconds(20));
  EXPECT_EQ(config.connections.max_concurrent_streams, 128);
  EXPECT_EQ(config.connections.memory_quota_bytes, 0);
}

TEST(ConfigTest, AllFlags) {
  const ServerConfig config = Accepted(
      {"--listen", "0.0.0.0:0", "--listen=unix:/tmp/s", "--listen", "[::1]:65535", "--port-file",
       "p", "--device", "cpu,threads=2,profile=atlas-a2", "--device", "cpu", "--max-message-bytes",
       "64MiB", "--memory-limit=96MiB", "--log-level", "error", "--drain-timeout", "1.5"});
  EXPECT_EQ(config.listen, (std::vector<std::string>{"0.0.0.0:0", "unix:/tmp/s", "[::1]:65535"}));
  EXPECT_EQ(config.port_file, "p");
  ASSERT_EQ(config.devices.size(), 2u);
  EXPECT_EQ(config.devices[0].threads, 2);
  EXPECT_EQ(config.devices[0].profile, Profile::kAtlasA2);
  EXPECT_EQ(config.max_message_bytes, int64_t{64} << 20);
  EXPECT_EQ(config.memory_limit_bytes, int64_t{96} << 20);
  EXPECT_EQ(config.log_level, LogLevel::kError);
  EXPECT_EQ(config.drain_timeout, absl::Milliseconds(1500));
}

TEST(ConfigTest, LifeFlags) {
  const ServerConfig config = Accepted(
      {"--grace-period", "5s", "--max-connection-age", "1h", "--max-connection-age-grace", "2m",
       "--max-connection-idle", "300", "--keepalive-time", "0", "--keepalive-timeout", "1ms",
       "--max-concurrent-streams", "7", "--grpc-memory-quota", "512MiB"});
  EXPECT_EQ(config.grace_period, absl::Seconds(5));
  EXPECT_EQ(config.connections.max_age, absl::Hours(1));
  EXPECT_EQ(config.connections.max_age_grace, absl::Minutes(2));
  EXPECT_EQ(config.connections.max_idle, absl::Minutes(5));
  EXPECT_EQ(config.connections.keepalive_time, absl::ZeroDuration());
  EXPECT_EQ(config.connections.keepalive_timeout, absl::Milliseconds(1));
  EXPECT_EQ(config.connections.max_concurrent_streams, 7);
  EXPECT_EQ(config.connections.memory_quota_bytes, int64_t{512} << 20);
}

TEST(ConfigTest, BadLifeFlagsSayWhichWantedAndCame) {
  ExpectRefused({"--grace-period", "-1s"}, "--grace-period: want a time such as");
  for (const char* flag : {"--max-connection-age", "--max-connection-age-grace",
                           "--max-connection-idle", "--keepalive-time", "--keepalive-timeout"}) {
    const std::string name = flag;
    ExpectRefused({flag, "soon"}, name + ": want a time such as 30s, 500ms or 2m, got \"soon\"");
    ExpectRefused({flag, "577h"}, name + ": want 0, or 1ms to 24 days (576h), got \"577h\"");
    ExpectRefused({flag, "10us"}, name + ": want 0, or 1ms to 24 days");
  }
  ExpectRefused({"--keepalive-timeout", "0"}, "--keepalive-timeout: want 1ms or more, got 0");
  ExpectRefused({"--max-concurrent-streams", "0"}, "--max-concurrent-streams");
  ExpectRefused({"--max-concurrent-streams", "many"}, "--max-concurrent-streams");
  ExpectRefused({"--grpc-memory-quota", "lots"}, "--grpc-memory-quota: want a size such as");
}

TEST(ConfigTest, HttpAddresses) {
  EXPECT_EQ(Accepted({}).http, "");
  EXPECT_EQ(Accepted({"--http", "8600"}).http, "localhost:8600");
  EXPECT_EQ(Accepted({"--http", "0.0.0.0:0"}).http, "0.0.0.0:0");
  EXPECT_EQ(Accepted({"--http", "[::1]:80"}).http, "[::1]:80");
  for (const char* bad : {"65536", "localhost", ":80", "unix:/tmp/s", "http://localhost:80", ""}) {
    ExpectRefused({"--http", bad}, "--http: want a port of 0 to 65535, or host:port, got \"" +
                                       std::string(bad) + "\"");
  }
}

TEST(ConfigTest, HelpAndVersion) {
  const EarlyExit help = Exit({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* part : {"Network:", "Limits:", "Devices:", "--listen", "localhost:8500",
                           "256MiB", "--memory-limit", "30s"}) {
    EXPECT_NE(help.text.find(part), std::string::npos) << part;
  }
  // What nothing is said about is what ServerConfig has.
  for (const char* part : {"=0600", "=1024", "=65536", "=16384", "=16MiB", "=4096", "=500ms",
                           "=128", "=512MiB", "=75%", "=100", "=1m", "=info"}) {
    EXPECT_NE(help.text.find(part), std::string::npos) << part;
  }
  const EarlyExit version = Exit({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.text.find("opserve-server "), 0u);
}

TEST(ConfigTest, BadFlagsSayWhichWantedAndCame) {
  ExpectRefused({"--lisen", "a:1"},
                "--lisen: want a flag that --help lists, got an unknown argument; did you mean "
                "\"--listen\"?");
  ExpectRefused({"extra"}, "extra: want a flag");
  ExpectRefused({"--listen"}, "--listen");
  ExpectRefused({"--listen", "8500"},
                "--listen: want host:port with a port of 0 to 65535, or unix:path, got \"8500\"");
  ExpectRefused({"--listen", "localhost:"}, "got \"localhost:\"");
  ExpectRefused({"--listen", "localhost:65536"}, "got \"localhost:65536\"");
  ExpectRefused({"--listen", "localhost:-1"}, "got \"localhost:-1\"");
  ExpectRefused({"--listen", ":8500"}, "got \":8500\"");
  ExpectRefused({"--listen", "::1:8500"}, "got \"::1:8500\"");
  ExpectRefused({"--listen", "unix:"}, "want unix: and a path");
  const std::string long_path = "unix:/" + std::string(108, 'x');
  ExpectRefused({"--listen", long_path.c_str()}, "want unix: and a path");
  ExpectRefused({"--listen", "localhost:1", "--listen", "localhost:1"},
                "--listen: want each address once, got localhost:1 twice");
  ExpectRefused({"--listen", "unix:/a", "--listen", "unix:///a"}, "got unix:///a twice");
  ExpectRefused({"--device", "gpu"},
                "--device: want cpu[,threads=N][,profile=P][,numa-node=M], or "
                "ascend[:ID][,threads=N][,profile=P], got \"gpu\"");
  ExpectRefused({"--device", "ascend:x"}, "--device: ascend: want N, or N-M, from 0 to 1023");
  ExpectRefused({"--ascend-library-path", "/nowhere"},
                "--ascend-library-path: want a folder or a library, got \"/nowhere\"");
  ExpectRefused({"--device", "cpu,threads=0"}, "--device: threads: want 1 to 1024, got \"0\"");
  ExpectRefused({"--device", "cpu,profile=x"}, "--device: profile: want host,");
  ExpectRefused({"--max-message-bytes", "big"},
                "--max-message-bytes: want a size such as 67108864, 64MiB or 1GiB, got \"big\"");
  ExpectRefused({"--max-message-bytes", "2GiB"},
                "--max-message-bytes: want 4KiB to 2147483647, got 2GiB");
  ExpectRefused({"--max-message-bytes", "1"}, "want 4KiB");
  ExpectRefused({"--memory-limit", "0"}, "--memory-limit: want a size");
  ExpectRefused({"--memory-limit", "99999999999TiB"}, "--memory-limit: want a size");
  ExpectRefused({"--log-level", "loud"},
                "--log-level: want debug, info, warning or error, got \"loud\"");
  ExpectRefused({"--drain-timeout", "-1s"}, "--drain-timeout: want a time such as");
  ExpectRefused({"--drain-timeout", "inf"}, "--drain-timeout: want a time such as");
  ExpectRefused({"--drain-timeout", ""}, "--drain-timeout: want a time such as");
}

TEST(ConfigTest, MemoryThatIsNotThereIsRefused) {
  const int64_t usable = UsableMemoryBytes();
  const std::string all = std::to_string(usable);
  EXPECT_EQ(Accepted({"--memory-limit", all.c_str()}).memory_limit_bytes, usable);
  const std::string want =
      "want at most " + std::to_string(usable >> 20) + "MiB, which is what this process may use";
  const std::string more = std::to_string(usable + 1);
  ExpectRefused({"--memory-limit", more.c_str()}, "--memory-limit: " + want + ", got " + more);
  ExpectRefused({"--memory-limit", "100TiB"}, want + ", got 100TiB");
  // An NPU's memory is its own.
  EXPECT_EQ(Accepted({"--memory-limit", "1TiB", "--device", "ascend"}).memory_limit_bytes,
            int64_t{1} << 40);
}

TEST(ConfigTest, MemoryBesideTheLimitMustBeThereToo) {
  ExpectRefused({"--memory-limit", "16MiB", "--session-memory-limit", "17MiB"},
                "--session-memory-limit: want at most --memory-limit (16MiB), got 17MiB");
  const int64_t left = UsableMemoryBytes() - (int64_t{16} << 20);
  const std::string most = std::to_string(left);
  const std::string more = std::to_string(left + 1);
  const std::vector<const char*> flags = {"--memory-limit", "16MiB", "--allow-shared-memory",
                                          "unix:/m", "--shared-memory-limit"};
  std::vector<const char*> fits = flags;
  fits.push_back(most.c_str());
  EXPECT_EQ(Accepted(fits).shared_memory.limit_bytes, left);
  std::vector<const char*> too_much = flags;
  too_much.push_back(more.c_str());
  ExpectRefused(too_much,
                "--shared-memory-limit: want at most " + std::to_string(left >> 20) +
                    "MiB, which --memory-limit (16MiB) leaves of what this process may use, got " +
                    more);
}

TEST(ConfigTest, SocketModes) {
  EXPECT_EQ(Accepted({}).unix_socket_mode, 0600u);
  EXPECT_EQ(Accepted({"--unix-socket-mode", "0660"}).unix_socket_mode, 0660u);
  EXPECT_EQ(Accepted({"--unix-socket-mode=777"}).unix_socket_mode, 0777u);
  for (const char* mode : {"", "0", "0400", "0060", "1600", "00600", "0x1ff", "rw", "-1", "0680"}) {
    ExpectRefused({"--unix-socket-mode", mode},
                  "--unix-socket-mode: want an octal mode from 0600 to 0777 that has 0600, such as "
                  "0660, got \"" +
                      std::string(mode) + "\"");
  }
}

TEST(SessionConfigTest, Defaults) {
  const ServerConfig config = Accepted({"--memory-limit", "100MiB"});
  EXPECT_EQ(config.max_sessions, 1024);
  EXPECT_EQ(config.session.memory_limit_bytes, int64_t{100} << 20);
  EXPECT_EQ(config.session.max_handles, 65536);
  EXPECT_EQ(config.session.max_queued_commands, 16384);
  EXPECT_EQ(config.session.window_bytes, int64_t{16} << 20);
  EXPECT_EQ(config.session.max_skew_bytes, int64_t{4} << 20);
  EXPECT_EQ(config.session.chunk_bytes, int64_t{1} << 20);
  EXPECT_EQ(config.session.max_message_bytes, int64_t{256} << 20);
  EXPECT_EQ(config.session.stall_timeout, absl::Seconds(30));
}

TEST(AdmissionConfigTest, Flags) {
  EXPECT_EQ(Accepted({}).admission.max_bytes, 0);
  const ServerConfig config = Accepted(
      {"--max-calls-in-flight", "7", "--max-bytes-in-flight", "3MiB", "--max-queue-wait", "20ms"});
  EXPECT_EQ(config.admission.max_calls, 7);
  EXPECT_EQ(config.admission.max_bytes, int64_t{3} << 20);
  EXPECT_EQ(config.admission.max_wait, absl::Milliseconds(20));
  ExpectRefused({"--max-calls-in-flight", "0"}, "--max-calls-in-flight");
  ExpectRefused({"--max-bytes-in-flight", "0"}, "--max-bytes-in-flight: want a size");
  ExpectRefused({"--max-queue-wait", "long"}, "--max-queue-wait: want a time");
}

TEST(SharedMemoryConfigTest, Flags) {
  EXPECT_EQ(Accepted({}).shared_memory.socket, "");
  const SharedMemoryConfig config =
      Accepted({"--allow-shared-memory", "unix:/run/memory"}).shared_memory;
  EXPECT_EQ(config.socket, "/run/memory");
  EXPECT_EQ(config.limit_bytes, int64_t{512} << 20);
  EXPECT_EQ(Accepted({"--shared-memory-limit", "3GiB"}).shared_memory.limit_bytes,
            int64_t{3} << 30);
  const std::string long_address = "unix:" + std::string(108, 'x');
  for (const char* address : {"/run/memory", "unix:", "localhost:1", long_address.c_str()})
    ExpectRefused({"--allow-shared-memory", address}, "--allow-shared-memory");
  ExpectRefused({"--listen", "unix:///s", "--allow-shared-memory", "unix:/s"}, "--listen");
  ExpectRefused({"--shared-memory-limit", "much"}, "--shared-memory-limit");
}

TEST(SessionConfigTest, AllFlags) {
  const ServerConfig config = Accepted(
      {"--max-sessions", "7", "--session-memory-limit", "3MiB", "--session-max-handles=4294967296",
       "--session-max-queued", "1", "--session-window", "1MiB", "--session-stall-timeout", "2m"});
  EXPECT_EQ(config.max_sessions, 7);
  EXPECT_EQ(config.session.memory_limit_bytes, int64_t{3} << 20);
  EXPECT_EQ(config.session.max_handles, int64_t{1} << 32);
  EXPECT_EQ(config.session.max_queued_commands, 1);
  EXPECT_EQ(config.session.window_bytes, int64_t{1} << 20);
  EXPECT_EQ(config.session.max_skew_bytes, int64_t{1} << 20);  // no more than fits the window
  EXPECT_EQ(config.session.stall_timeout, absl::Minutes(2));
}

TEST(SessionConfigTest, AChunkFitsAMessage) {
  const ServerConfig config = Accepted({"--max-message-bytes", "64KiB"});
  EXPECT_EQ(config.session.max_message_bytes, 64 << 10);
  EXPECT_EQ(config.session.chunk_bytes, 32 << 10);
}

TEST(SessionConfigTest, BadFlags) {
  for (const char* flag : {"--max-sessions", "--session-max-handles", "--session-max-queued"}) {
    for (const char* text : {"0", "-1", "4294967297", "1.5", "many", ""}) {
      ExpectRefused({flag, text},
                    std::string(flag) + ": want 1 to 4294967296, got \"" + text + "\"");
    }
  }
  ExpectRefused({"--session-memory-limit", "0"}, "--session-memory-limit: want a size");
  ExpectRefused({"--session-window", "wide"}, "--session-window: want a size");
  ExpectRefused({"--session-window", "1048575"},
                "--session-window: want 1MiB to 1GiB, got 1048575");
  ExpectRefused({"--session-window", "1025MiB"},
                "--session-window: want 1MiB to 1GiB, got 1025MiB");
  ExpectRefused({"--session-stall-timeout", "-1s"}, "--session-stall-timeout: want a time");
  ExpectRefused({"--session-stall-timeout", "0"},
                "--session-stall-timeout: want more than 0, got 0");
}

TEST_F(ConfigFileTest, FlagsComeFromTheFileUnlessGiven) {
  Write(
      "# a comment\nlisten = [\"localhost:0\", \"unix:/tmp/s\"]\nmax-message-bytes = "
      "\"64MiB\"\nlog-level = \"error\"\n"
      "device = \"cpu,threads=3\"\n");
  const ServerConfig config = Accepted({"--config", path_.c_str(), "--log-level", "debug"});
  EXPECT_EQ(config.listen, (std::vector<std::string>{"localhost:0", "unix:/tmp/s"}));
  EXPECT_EQ(config.max_message_bytes, int64_t{64} << 20);
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
  ASSERT_EQ(config.devices.size(), 1u);
  EXPECT_EQ(config.devices[0].threads, 3);
}

TEST_F(ConfigFileTest, BadFilesAreRefused) {
  ExpectRefused({"--config", path_.c_str()}, "--config");
  Write("lisen = \"localhost:0\"\n");
  ExpectRefused({"--config", path_.c_str()}, "lisen");
  Write("listen = \"8500\"\n");
  ExpectRefused({"--config", path_.c_str()}, "--listen: want host:port");
}

TEST(ParseByteSizeTest, Units) {
  EXPECT_EQ(*ParseByteSize("5", "f"), 5);
  EXPECT_EQ(*ParseByteSize("5B", "f"), 5);
  EXPECT_EQ(*ParseByteSize("5kB", "f"), 5000);
  EXPECT_EQ(*ParseByteSize("5KiB", "f"), 5120);
  EXPECT_EQ(*ParseByteSize("3TiB", "f"), int64_t{3} << 40);
  for (const char* text :
       {"", "-1", "1.5GiB", "MiB", "5 MiB", "5mib", "9223372036854775808", "0x10"}) {
    EXPECT_FALSE(ParseByteSize(text, "f").ok()) << text;
  }
}

TEST(FormatByteSizeTest, ReadsTheSame) {
  for (const char* text : {"1", "1000", "1KiB", "1536", "64MiB", "100TiB", "9223372036854775807"})
    EXPECT_EQ(FormatByteSize(*ParseByteSize(text, "f")), text);
  EXPECT_EQ(FormatByteSize(0), "0");
}

}  // namespace
}  // namespace opserve::server
