#include "client/cli/commands/command_line.h"

#include "absl/strings/str_cat.h"

namespace opserve::cli {
namespace {

constexpr char kFooter[] = R"(
Exit status:
  0  success
  1  the server refused or failed the call
  2  a mistake on the command line, or in a file it names
  3  the server cannot be reached, or --timeout passed

Errors are one line on standard error (a JSON object with --json).
`opserve ops NAME` describes an operator, `opserve COMMAND --help` a command, and `opserve tutorial` shows them at work.)";

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

With --session, files are read and written while tensors are sent. Then neither this program nor the server keeps a whole
element-wise call in memory, if its large inputs are dense and have the output's shape, and -o names a file.

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

constexpr char kCompletionFooter[] = R"(
Names of operators, inputs, attributes and devices are those of the server that the words before name.
  bash   source <(opserve completion bash)              in ~/.bashrc
  zsh    source <(opserve completion zsh)               in ~/.zshrc, behind compinit
  fish   opserve completion fish | source               in ~/.config/fish/config.fish)";

constexpr char kTutorialFooter[] = R"(
Shows each command and what it is for; Enter runs the command, q ends the tutorial. The server is opserve-server, from
the folder of this program or from PATH, on a unix socket in a folder for temporary files. Both are gone at the end.
With --target the tutorial uses the server that you name.)";

constexpr double kShortestWatchSeconds = 0.01;
constexpr double kLongestWatchSeconds = 86400;

CLI::Option* AddList(CLI::App& command, const char* flags, std::vector<std::string>& list,
                     const char* help, const char* type) {
  return command.add_option(flags, list, help)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name(type);
}

// --tls and what implies it, who calls, and which way.
void AddConnectOptions(CLI::App& app, ConnectArguments& connect) {
  app.add_flag("--tls", connect.tls, "encrypt the connection, and check the server's certificate")
      ->envname("OPSERVE_TLS");
  const auto add = [&app](const char* flag, std::string& value, const char* variable,
                          const char* type, const char* help) {
    app.add_option(flag, value, help)->envname(variable)->type_name(type);
  };
  add("--cacert", connect.root_ca, "OPSERVE_CACERT", "FILE",
      "with TLS: CAs that may sign the server's certificate, in PEM; default: those of the system");
  add("--cert", connect.certificate, "OPSERVE_CERT", "FILE",
      "with TLS: the client's own certificate, in PEM");
  add("--key", connect.key, "OPSERVE_KEY", "FILE", "with TLS: the key of that certificate, in PEM");
  add("--server-name", connect.server_name, "OPSERVE_SERVER_NAME", "NAME",
      "with TLS: the name in the server's certificate; default: the host of the target");
  add("--token-file", connect.token_file, "OPSERVE_TOKEN_FILE", "FILE",
      "file with a bearer token, which says who calls");
  app.add_flag("--no-shared-memory", connect.no_shared_memory,
               "send large tensors as bytes, even to a server on this machine");
}

CLI::Option* AddGlobalOptions(CLI::App& app, CommandWords& words) {
  CLI::Option* const target =
      app.add_option("--target", words.arguments.target, "server, host:port or unix:path")
          ->envname("OPSERVE_TARGET")
          ->default_str("localhost:8500")
          ->type_name("TARGET");
  AddConnectOptions(app, words.arguments.connect);
  app.add_option("--timeout", words.timeout, "time for the whole command: 500ms, 10s, 5m, inf")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--max-answer-bytes", words.arguments.max_answer_bytes,
                 "largest answer that the command accepts")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("256MiB")
      ->type_name("SIZE");
  app.add_option("--traceparent", words.arguments.traceparent,
                 "W3C trace that the calls belong to: 00-<trace id>-<span id>-<flags>")
      ->type_name("TRACEPARENT");
  app.add_flag("--json", words.json, "machine-readable output, also for errors");
  app.set_version_flag("--version", absl::StrCat("opserve ", OPSERVE_VERSION));
  return target;
}

void AddInputOptions(CLI::App& command, CommandWords& words) {
  AddList(command, "-i,--input", words.inputs, "input tensor; repeatable", "NAME=VALUE");
  command.add_option("--device", words.arguments.device, "device, as `opserve devices` lists it")
      ->type_name("DEVICE");
}

CLI::Option* AddCallOptions(CLI::App& command, CommandWords& words) {
  CLI::Option* const op =
      command.add_option("OP", words.arguments.op, "operator, as `opserve ops` lists it")
          ->type_name("");
  AddInputOptions(command, words);
  AddList(command, "-a,--attribute", words.attributes, "attribute; repeatable", "NAME=VALUE");
  AddList(command, "--dtype", words.dtypes,
          "dtype of an output, instead of the inferred dtype; repeatable", "OUTPUT=DTYPE");
  return op;
}

// What `run` does with results.
void AddRunOptions(CLI::App& run, CommandWords& words) {
  AddList(run, "-o,--output", words.files,
          "write an output to a .npy file, - for standard output; repeatable", "NAME=FILE");
  CLI::Option* const session = run.add_flag(
      "--session", words.session, "send tensors in pieces: for calls larger than a message");
  run.add_flag("--execution", words.execution,
               "print which device ran the call, and how long the call waited and ran")
      ->excludes(session);
  run.add_flag("--full", words.full, "print all elements of large tensors");
}

void AddProgramCommands(CLI::App& program, CommandWords& words) {
  const auto add = [&](const char* name, const char* help, Command command) {
    CLI::App* added = program.add_subcommand(name, help)->fallthrough();
    added->add_option("FILE", words.arguments.op, "the program, - for standard input")
        ->type_name("")
        ->required();
    AddInputOptions(*added, words);
    added
        ->add_option(
            "--grad", words.arguments.gradient,
            "compute the gradient of a value with respect to inputs, as outputs grad_INPUT; "
            "\"within BYTES\" bounds the workspace: results are computed again where keeping "
            "them takes more")
        ->type_name("\"VALUE:INPUT,… [seed INPUT] [within BYTES]\"");
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
      "show", "Show a program; with inputs, also the steps that compute gradients", Command::kShow);
  show->add_flag_callback(
      "--dot", [&words] { words.arguments.drawing = Drawing::kDot; },
      "print a drawing for Graphviz");
  show->footer(absl::StrCat(kValues, kPlanFooter));
  program.require_subcommand(1);
}

void AddStats(CLI::App& command, CommandWords& words) {
  CLI::Option* watch =
      command
          .add_option("--watch", words.watch_seconds,
                      "show rates per second, again every SECONDS seconds (default: 1)")
          ->expected(0, 1)
          ->check(CLI::Range(kShortestWatchSeconds, kLongestWatchSeconds))
          ->type_name("[SECONDS]");
  watch->default_str("1");
  command.add_option("--count", words.arguments.count, "with --watch: stop after N times")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32))
      ->needs(watch)
      ->type_name("N");
  command.add_flag("--all", words.arguments.all_methods,
                   "also show methods that were never called");
  command.footer(
      "\nWith --watch, --timeout is for each request to the server, and --json prints an object "
      "per line.");
}

void AddCompletion(CLI::App& command, CommandWords& words) {
  command.add_option("SHELL", words.arguments.shell, "bash, zsh or fish")
      ->type_name("")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.footer(kCompletionFooter);
}

void AddTutorial(CLI::App& command, CommandWords& words) {
  command.add_flag_callback(
      "-y,--yes", [&words] { words.arguments.pace = Pace::kGoOnByItself; },
      "run all commands without waiting for Enter");
  command.footer(kTutorialFooter);
}

void AddCommands(CLI::App& app, CommandWords& words) {
  const auto add = [&](const char* name, const char* help, Command command) {
    CLI::App* added = app.add_subcommand(name, help)->fallthrough();
    added->callback([&words, command] { words.arguments.command = command; });
    return added;
  };
  CLI::App* ops = add("ops", "List the operators, or describe one", Command::kOps);
  CLI::Option* const name =
      ops->add_option("NAME", words.arguments.op, "operator to describe")->type_name("");
  ops->add_option("--search", words.arguments.search,
                  "list only operators with this text in their name, family or summary")
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
  CLI::App* bench =
      add("bench", "Load a server and report latency and throughput", Command::kBench);
  AddCallOptions(*bench, words);
  AddBenchFlags(*bench, words.arguments.bench);
  AddCompletion(*add("completion", "Print the completion script of a shell", Command::kCompletion),
                words);
  AddTutorial(*add("tutorial", "Show the commands at work, step by step", Command::kTutorial),
              words);
  app.require_subcommand(1);
}

}  // namespace

CommandLine::CommandLine() {
  words.arguments.target = "localhost:8500";
  app.footer(kFooter);
  target = AddGlobalOptions(app, words);
  contexts = std::make_shared<Contexts>(app);
  app.config_formatter(contexts);
  AddCommands(app, words);
}

}  // namespace opserve::cli
