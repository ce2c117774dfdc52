#include "client/cli/commands/arguments.h"

#include <CLI/CLI.hpp>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/contexts.h"
#include "client/cli/output/report.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/base/trace_context.h"

namespace opserve::cli {
namespace {

constexpr char kFooter[] = R"(
Exit status:
  0  success
  1  the server refused or failed the call
  2  a mistake on the command line, or in a file it names
  3  the server cannot be reached, or --timeout passed

Errors are one line on standard error (a JSON object with --json).
`opserve ops NAME` describes an operator, `opserve COMMAND --help` a command.)";

constexpr char kValues[] = R"(
VALUE is one of
  f32[4,2]{0,1,2,3,4,5,6,7}   elements in row-major order
  f32[4,2]=1                  every element is 1
  f32{1,2,3}                  rank 1, counted
  f32[]{3} or 1.5             scalars; a bare number is f32
  grad.npy                    a NumPy file (write ./1.npy for a name that looks like a literal)
  -                           a NumPy file on standard input
A view: the braces hold the storage, strides and offset count elements:
  f32[4,2]{0,1,2,3,4,5,6,7}.strides(1,4)
  f32[2]{0,1,2,3}.strides(2).offset(1)
dtypes: f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 b8, or long names (float32, bfloat16, bool, …).
Numbers: 1 -2.5 1e-3 0x1f 0x1.8p3 nan inf -inf true false.
NumPy has no bfloat16: '<V2' files are read and written as bfloat16; there, a.view(ml_dtypes.bfloat16) or a.view('u2').
Attributes: 0, 0.5, true, lists as 1,2,3 or [true,false]; typed as the operator's schema wants, or by name (reduction=mean).
--target, --timeout and --json are those of `opserve --help`.)";

constexpr char kPlanFooter[] = R"(
In place of VALUE a shape is enough: f32[4,2].)";

constexpr char kRunFooter[] = R"(

With --session, files are read and written while the tensors travel: neither this program nor the server holds a call of an
element-wise operator as a whole, if its large inputs have the output's shape and lie dense, and -o names a file.

Example:
  opserve run L1LossBackward -i grad_output=1 -i 'self=f32[2,2]{1,2,3,4}' -i 'target=f32[2,2]=2' -a reduction=2)";

constexpr char kProgramFooter[] = R"(
FILE has a step a line, or JSON (docs/programs.md); a step takes inputs of the program and results of earlier steps:
  h = Addmm(self=b, mat1=x, mat2=w)
  loss = CrossEntropyLoss(self=h, target=classes, reduction=mean)
  return loss
Example:
  opserve program run layer.program -i x=x.npy -i w=w.npy -i b=b.npy -i classes=classes.npy --grad loss:w,b
)";

constexpr double kShortestWatchSeconds = 0.01;
constexpr double kLongestWatchSeconds = 86400;

// What CLI11 fills in.
struct Words {
  Arguments arguments;
  std::string timeout = "60s";
  bool json = false;
  bool full = false;
  bool session = false;
  bool execution = false;
  std::vector<std::string> inputs;
  std::vector<std::string> attributes;
  std::vector<std::string> dtypes;
  std::vector<std::string> files;
  double watch_seconds = 0;
};

CLI::Option* AddList(CLI::App& command, const char* flags, std::vector<std::string>& list,
                     const char* help, const char* type) {
  return command.add_option(flags, list, help)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name(type);
}

// --tls and what implies it.
void AddTlsOptions(CLI::App& app, ConnectArguments& connect) {
  app.add_flag("--tls", connect.tls, "encrypt the connection, and check the server's certificate")
      ->envname("OPSERVE_TLS");
  const auto add = [&app](const char* flag, std::string& value, const char* variable,
                          const char* type, const char* help) {
    app.add_option(flag, value, help)->envname(variable)->type_name(type);
  };
  add("--cacert", connect.root_ca, "OPSERVE_CACERT", "FILE",
      "with TLS: whose certificates the server must show, in PEM; else the system's");
  add("--cert", connect.certificate, "OPSERVE_CERT", "FILE",
      "with TLS: the certificate to show to the server, in PEM");
  add("--key", connect.key, "OPSERVE_KEY", "FILE", "with TLS: its key, in PEM");
  add("--server-name", connect.server_name, "OPSERVE_SERVER_NAME", "NAME",
      "with TLS: the name that the server's certificate must have; else the target's");
  add("--token-file", connect.token_file, "OPSERVE_TOKEN_FILE", "FILE",
      "bearer token, which tells the server who calls");
}

CLI::Option* AddGlobalOptions(CLI::App& app, Words& words) {
  CLI::Option* const target =
      app.add_option("--target", words.arguments.target, "server, host:port or unix:path")
          ->envname("OPSERVE_TARGET")
          ->default_str("localhost:8500")
          ->type_name("TARGET");
  AddTlsOptions(app, words.arguments.connect);
  app.add_option("--timeout", words.timeout, "for the whole command: 500ms, 10s, 5m, inf")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--max-answer-bytes", words.arguments.max_answer_bytes,
                 "largest answer that is taken of the server")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("256MiB")
      ->type_name("SIZE");
  app.add_option("--traceparent", words.arguments.traceparent,
                 "W3C trace that the calls belong to: 00-<trace id>-<span id>-<flags>")
      ->type_name("TRACEPARENT");
  app.add_flag("--json", words.json, "machine-readable output; errors too");
  app.set_version_flag("--version", absl::StrCat("opserve ", OPSERVE_VERSION));
  return target;
}

void AddInputOptions(CLI::App& command, Words& words) {
  AddList(command, "-i,--input", words.inputs, "input tensor; repeatable", "NAME=VALUE");
  command.add_option("--device", words.arguments.device, "device, as `opserve devices` lists it")
      ->type_name("DEVICE");
}

CLI::Option* AddCallOptions(CLI::App& command, Words& words) {
  CLI::Option* const op =
      command.add_option("OP", words.arguments.op, "operator, as `opserve ops` lists it")
          ->type_name("");
  AddInputOptions(command, words);
  AddList(command, "-a,--attribute", words.attributes, "attribute; repeatable", "NAME=VALUE");
  AddList(command, "--dtype", words.dtypes,
          "dtype of an output, where not the inferred one; repeatable", "OUTPUT=DTYPE");
  return op;
}

// What `run` does with results.
void AddRunOptions(CLI::App& run, Words& words) {
  AddList(run, "-o,--output", words.files,
          "write an output to a .npy file, - for standard output; repeatable", "NAME=FILE");
  CLI::Option* const session = run.add_flag(
      "--session", words.session, "send tensors in pieces: for calls larger than a message");
  run.add_flag("--execution", words.execution,
               "tell which device ran it, how long it was queued, and how long it ran")
      ->excludes(session);
  run.add_flag("--full", words.full, "print all elements of large tensors");
}

void AddProgramCommands(CLI::App& program, Words& words) {
  const auto add = [&](const char* name, const char* help, Command command) {
    CLI::App* added = program.add_subcommand(name, help)->fallthrough();
    added->add_option("FILE", words.arguments.op, "the program, - for standard input")
        ->type_name("")
        ->required();
    AddInputOptions(*added, words);
    added
        ->add_option("--grad", words.arguments.gradient,
                     "gradient of a value with respect to inputs: outputs grad_INPUT")
        ->type_name("VALUE:INPUT,…");
    added->callback([&words, command] {
      words.arguments.command = command;
      words.arguments.is_program = true;
    });
    return added;
  };
  CLI::App* const run = add("run", "Run a program and print or save its outputs", Command::kRun);
  AddRunOptions(*run, words);
  run->footer(absl::StrCat(kProgramFooter, kValues));
  CLI::App* const plan =
      add("plan", "Check a program and show its memory and outputs", Command::kPlan);
  plan->footer(absl::StrCat(kValues, kPlanFooter));
  CLI::App* const show = add(
      "show", "Show a program; with inputs, as it runs: with its gradients' steps", Command::kShow);
  show->add_flag_callback(
      "--dot", [&words] { words.arguments.drawing = Drawing::kDot; }, "as a drawing, for Graphviz");
  show->footer(absl::StrCat(kValues, kPlanFooter));
  program.require_subcommand(1);
}

void AddStats(CLI::App& command, Words& words) {
  CLI::Option* watch =
      command
          .add_option("--watch", words.watch_seconds,
                      "go on, and show what happens a second; looks every so many seconds, 1 if "
                      "nothing is said")
          ->expected(0, 1)
          ->check(CLI::Range(kShortestWatchSeconds, kLongestWatchSeconds))
          ->type_name("[SECONDS]");
  watch->default_str("1");
  command.add_option("--count", words.arguments.count, "with --watch: stop after so many looks")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32))
      ->needs(watch)
      ->type_name("N");
  command.add_flag("--all", words.arguments.all_methods,
                   "show the methods that were never called, too");
  command.footer("\nWith --watch, --timeout bounds each look; --json prints an object a line.");
}

void AddCommands(CLI::App& app, Words& words) {
  const auto add = [&](const char* name, const char* help, Command command) {
    CLI::App* added = app.add_subcommand(name, help)->fallthrough();
    added->callback([&words, command] { words.arguments.command = command; });
    return added;
  };
  CLI::App* ops = add("ops", "List the operators, or describe one", Command::kOps);
  CLI::Option* const name =
      ops->add_option("NAME", words.arguments.op, "operator to describe")->type_name("");
  ops->add_option("--search", words.arguments.search,
                  "list only those with this in their name, family or summary")
      ->excludes(name)
      ->type_name("TEXT");
  add("devices", "List the server's devices", Command::kDevices);
  add("info", "Show the server's version and limits", Command::kInfo);
  CLI::App* plan =
      add("plan", "Check a call and show its workspace and outputs, without running it",
          Command::kPlan);
  AddCallOptions(*plan, words)->required();
  plan->footer(absl::StrCat(kValues, kPlanFooter));
  CLI::App* run = add("run", "Run an operator and print or save its outputs", Command::kRun);
  AddCallOptions(*run, words)->required();
  AddRunOptions(*run, words);
  run->footer(absl::StrCat(kValues, kRunFooter));
  AddProgramCommands(
      *app.add_subcommand("program", "Several operators in one call, and gradients")->fallthrough(),
      words);
  AddStats(*add("stats", "Show what the server has counted", Command::kStats), words);
  CLI::App* bench = add("bench", "Load a server and report how it does", Command::kBench);
  AddCallOptions(*bench, words);
  AddBenchFlags(*bench, words.arguments.bench);
  app.require_subcommand(1);
}

absl::StatusOr<std::vector<NamedText>> Split(const std::vector<std::string>& words,
                                             const char* option) {
  std::vector<NamedText> named;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return UsageError(absl::StrCat(option, ": want NAME=…, got '", word, "'"));
    }
    named.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return named;
}

absl::StatusOr<Arguments> Finish(Words words) {
  Arguments& arguments = words.arguments;
  OPSERVE_ASSIGN_OR_RETURN(arguments.inputs, Split(words.inputs, "-i"));
  OPSERVE_ASSIGN_OR_RETURN(arguments.attributes, Split(words.attributes, "-a"));
  OPSERVE_ASSIGN_OR_RETURN(arguments.dtypes, Split(words.dtypes, "--dtype"));
  OPSERVE_ASSIGN_OR_RETURN(arguments.files, Split(words.files, "-o"));
  for (const NamedText& file : arguments.files) {
    if (file.text.empty()) {
      return UsageError(absl::StrCat("-o: want NAME=FILE, got '", file.name, "='"));
    }
  }
  if (!absl::ParseDuration(words.timeout, &arguments.timeout) ||
      arguments.timeout <= absl::ZeroDuration()) {
    return UsageError(absl::StrCat("--timeout: want a duration such as 500ms, 10s or inf, got '",
                                   words.timeout, "'"));
  }
  if (!arguments.traceparent.empty() && !ParseTraceParent(arguments.traceparent).has_value()) {
    return UsageError(
        absl::StrCat("--traceparent: want one of W3C Trace Context, such as "
                     "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, got '",
                     arguments.traceparent, "'"));
  }
  arguments.watch = absl::Seconds(words.watch_seconds);
  arguments.format = words.json ? OutputFormat::kJson : OutputFormat::kText;
  arguments.route = words.session ? Route::kSession : Route::kOneMessage;
  arguments.report = words.execution ? Report::kExecutionToo : Report::kOutputs;
  arguments.elements = words.full ? Elements::kAll : Elements::kShortened;
  return std::move(arguments);
}

std::string Unexpected(const char* what, const std::string& word,
                       const std::vector<std::string>& known) {
  return absl::StrCat("unknown ", what, " '", word, "'", DidYouMean(word, known, '\''));
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  const auto add = [&names](const CLI::App& from) {
    for (const CLI::Option* option : from.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  };
  add(app);
  for (const CLI::App* command : app.get_subcommands()) add(*command);
  return names;
}

// Why CLI11 gave up, with the nearest match where a word is unknown.
std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> words = app.remaining(true);
  for (const std::string& word : words) {
    if (word.starts_with("-") && word != "-")
      return Unexpected("option", word.substr(0, word.find('=')), OptionNames(app));
  }
  if (!app.get_subcommands().empty()) {
    if (words.empty()) return error.what();
    return absl::StrCat("unexpected argument '", words.front(), "'");
  }
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  if (words.empty())
    return absl::StrCat("want a command: ", absl::StrJoin(commands, ", "), "; see opserve --help");
  return Unexpected("command", words.front(), commands);
}

}  // namespace

std::variant<Arguments, Notice, Mistake> ParseArguments(int argc, const char* const* argv) {
  Words words;
  words.arguments.target = "localhost:8500";
  OutputFormat format = OutputFormat::kText;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) format = OutputFormat::kJson;
  }
  CLI::App app("Runs operator gradients on an opserve server.", "opserve");
  app.footer(kFooter);
  const CLI::Option* const target = AddGlobalOptions(app, words);
  const auto contexts = std::make_shared<Contexts>(app);
  app.config_formatter(contexts);
  AddCommands(app, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return Notice{absl::StrCat(version.what(), "\n")};
  } catch (const CLI::CallForHelp&) {
    return Notice{app.help()};
  } catch (const CLI::ParseError& error) {
    return Mistake{UsageError(Explain(app, error)), format};
  }
  if (const absl::Status status = contexts->status(); !status.ok()) return Mistake{status, format};
  words.arguments.target_given = target->count() > 0;
  absl::StatusOr<Arguments> arguments = Finish(std::move(words));
  if (!arguments.ok()) return Mistake{arguments.status(), format};
  return *std::move(arguments);
}

}  // namespace opserve::cli
