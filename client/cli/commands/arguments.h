// The command line, parsed.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <opserve/client.h>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/commands/bench_arguments.h"

namespace opserve::cli {

enum class Command : uint8_t {
  kOps,
  kDevices,
  kInfo,
  kPlan,
  kRun,
  kShow,
  kStats,
  kBench,
  kCompletion,
  kTutorial
};
enum class OutputFormat : uint8_t { kText, kJson };
enum class Route : uint8_t { kOneMessage, kSession };
enum class Elements : uint8_t { kShortened, kAll };
enum class Report : uint8_t { kOutputs, kExecutionToo };
enum class Drawing : uint8_t { kNone, kDot };
enum class Pace : uint8_t { kAsk, kGoOnByItself };

// "name=text".
struct NamedText {
  std::string name;
  std::string text;
};

// How the server is reached, by paths of files in PEM.
struct ConnectArguments {
  bool tls = false;
  std::string root_ca;
  std::string certificate;
  std::string key;
  std::string server_name;
  std::string token_file;
  bool no_shared_memory = false;
};

struct Arguments {
  Command command = Command::kInfo;
  std::string target;
  bool target_given = false;  // by a flag or the environment
  absl::Duration timeout;
  int64_t max_answer_bytes = client::ConnectOptions().max_answer_bytes;
  std::string traceparent;  // empty: none
  ConnectArguments connect;
  OutputFormat format = OutputFormat::kText;
  std::string op;  // ops: empty = all; of a program its file
  bool is_program = false;
  std::string gradient;  // of a program: "loss:w,b"; empty = what the file asks for
  Drawing drawing = Drawing::kNone;
  std::string shell;   // completion: bash, zsh or fish
  std::string search;  // ops: in names, families and summaries
  std::vector<NamedText> inputs;
  std::vector<NamedText> attributes;
  std::vector<NamedText> dtypes;  // output = dtype
  std::vector<NamedText> files;   // output = path
  std::string device;
  Elements elements = Elements::kShortened;
  Route route = Route::kOneMessage;
  Report report = Report::kOutputs;
  absl::Duration watch;      // stats: time between looks; zero = one look
  int64_t count = 0;         // stats: looks; 0 = until interrupted
  bool all_methods = false;  // stats: also those that were never called
  Pace pace = Pace::kAsk;    // tutorial
  BenchArguments bench;
};

// --help or --version was asked for: print it and stop.
struct Notice {
  std::string text;
};

// A mistake on the command line.
struct Mistake {
  absl::Status status;  // a UsageError, with the nearest match of a mistyped word
  OutputFormat format;
};

std::variant<Arguments, Notice, Mistake> ParseArguments(int argc, const char* const* argv);

}  // namespace opserve::cli
