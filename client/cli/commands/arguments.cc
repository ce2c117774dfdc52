#include "client/cli/commands/arguments.h"

#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/command_line.h"
#include "client/cli/output/report.h"
#include "core/base/status_macros.h"
#include "core/base/strings.h"
#include "core/base/trace_context.h"

namespace opserve::cli {
namespace {

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

absl::StatusOr<Arguments> Finish(CommandWords words) {
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

// "opserve program run": the program and the commands that were given.
std::string CommandText(const CLI::App& app) {
  std::string text = app.get_name();
  for (const CLI::App* command : app.get_subcommands())
    absl::StrAppend(&text, " ", CommandText(*command));
  return text;
}

// Why CLI11 gave up, with the nearest match where a word is unknown.
std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> words = app.remaining(true);
  for (const std::string& word : words) {
    if (word.starts_with("-") && word != "-")
      return Unexpected("option", word.substr(0, word.find('=')), OptionNames(app));
  }
  if (!app.get_subcommands().empty()) {
    if (words.empty()) return absl::StrCat(error.what(), "; see ", CommandText(app), " --help");
    const bool is_named = words.front().find('=') != std::string::npos;
    return absl::StrCat("unexpected argument '", words.front(), "'",
                        is_named ? "; inputs are -i NAME=VALUE, attributes -a NAME=VALUE" : "");
  }
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  if (words.empty())
    return absl::StrCat("want a command: ", absl::StrJoin(commands, ", "),
                        "; see opserve --help, or try opserve tutorial");
  return Unexpected("command", words.front(), commands);
}

}  // namespace

std::variant<Arguments, Notice, Mistake> ParseArguments(int argc, const char* const* argv) {
  OutputFormat format = OutputFormat::kText;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) format = OutputFormat::kJson;
  }
  CommandLine line;
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return Notice{absl::StrCat(version.what(), "\n")};
  } catch (const CLI::CallForHelp&) {
    return Notice{line.app.help()};
  } catch (const CLI::ParseError& error) {
    return Mistake{UsageError(Explain(line.app, error)), format};
  }
  if (const absl::Status status = line.contexts->status(); !status.ok())
    return Mistake{status, format};
  line.words.arguments.target_given = line.target->count() > 0;
  absl::StatusOr<Arguments> arguments = Finish(std::move(line.words));
  if (!arguments.ok()) return Mistake{arguments.status(), format};
  return *std::move(arguments);
}

}  // namespace opserve::cli
