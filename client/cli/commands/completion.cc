#include "client/cli/commands/completion.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands/command_line.h"
#include "client/cli/commands/connecting.h"

namespace opserve::cli {
namespace {

constexpr absl::Duration kCompletionPatience = absl::Seconds(1);

// Of bash the words are split anew, as it takes "=" and ":" for ends of words; what it completes is
// the part behind the last of them.
constexpr std::string_view kBash = R"(_opserve() {
  local line=${COMP_LINE:0:COMP_POINT} word IFS=$'\n'
  local -a words
  IFS=$' \t' read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[${#words[@]} - 1]}
  local before=${word%"${word##*[=:]}"} candidate
  COMPREPLY=()
  while read -r candidate; do
    case $candidate in
      :files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "${word#"$before"}")) ;;
      *) COMPREPLY+=("${candidate#"$before"}") ;;
    esac
  done < <("${words[0]}" __complete "${words[@]:1}" 2> /dev/null)
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -F _opserve opserve
)";

constexpr std::string_view kZsh = R"(_opserve() {
  local -a candidates
  candidates=("${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  if (( ${candidates[(Ie):files]} )); then
    _files
    candidates=(${candidates:#:files})
  fi
  compadd -S '' -- ${(M)candidates:#*=}
  compadd -- ${candidates:#*=}
}
compdef _opserve opserve
)";

constexpr std::string_view kFish = R"(function __opserve_complete
  set -l words (commandline -opc)
  for candidate in ($words[1] __complete $words[2..] (commandline -ct) 2> /dev/null)
    switch $candidate
      case ':files'
        __fish_complete_path (commandline -ct)
      case '*'
        echo $candidate
    end
  end
end
complete -c opserve -f -a '(__opserve_complete)'
)";

bool IsOption(const std::string& word) { return word.starts_with("-") && word != "-"; }

// Goes through the words before the last one.
class Walk {
 public:
  explicit Walk(const std::vector<std::string>& words) {
    for (size_t i = 0; i + 1 < words.size(); ++i) Take(words[i]);
  }

  Completion Complete(const std::string& last) {
    if (waiting_ != nullptr) {
      CompleteValue(*waiting_);
    } else if (IsOption(last)) {
      AddOptions();
    } else {
      CompletePositional();
    }
    std::erase_if(made_.words, [&](const std::string& word) { return !word.starts_with(last); });
    made_.connection = Connection();
    return std::move(made_);
  }

 private:
  void Take(const std::string& word) {
    if (waiting_ != nullptr) {
      if (IsGlobal(*waiting_)) global_words_.push_back(word);
      waiting_ = nullptr;
    } else if (IsOption(word)) {
      TakeOption(word);
    } else if (CLI::App* const command = CommandNamed(word); command != nullptr) {
      command_ = command;
    } else if (!has_positional_) {
      has_positional_ = true;
      made_.op = word;
    }
  }

  void TakeOption(const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    const CLI::Option* const option = OptionNamed(name);
    if (option == nullptr) return;
    if (IsGlobal(*option)) global_words_.push_back(word);
    const bool takes_value = option->get_items_expected_min() > 0;
    if (takes_value && word.find('=') == std::string::npos) waiting_ = option;
  }

  CLI::App* CommandNamed(const std::string& word) const {
    for (CLI::App* const command : Commands())
      if (command->get_name() == word) return command;
    return nullptr;
  }
  std::vector<CLI::App*> Commands() const {
    return command_->get_subcommands([](const CLI::App*) { return true; });
  }

  // Of the command and those that it is of.
  template <typename Visit>
  void ForEachOption(const Visit& visit) const {
    for (CLI::App* app = command_; app != nullptr; app = app->get_parent()) {
      for (const CLI::Option* option : app->get_options()) visit(*option);
    }
  }
  const CLI::Option* OptionNamed(const std::string& name) const {
    const CLI::Option* found = nullptr;
    ForEachOption([&](const CLI::Option& option) {
      if (found == nullptr && !option.get_positional() && option.check_name(name)) found = &option;
    });
    return found;
  }
  bool IsGlobal(const CLI::Option& option) const {
    const std::vector<const CLI::Option*> global = line_.app.get_options();
    return std::find(global.begin(), global.end(), &option) != global.end();
  }

  void AddOptions() {
    ForEachOption([&](const CLI::Option& option) {
      for (const std::string& name : option.get_lnames()) made_.words.push_back("--" + name);
      for (const std::string& name : option.get_snames()) made_.words.push_back("-" + name);
    });
  }

  void CompleteValue(const CLI::Option& option) {
    using Of = Completion::Of;
    const std::vector<std::string>& names = option.get_lnames();
    const auto is = [&](std::string_view name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    const bool is_of_program =
        command_->get_parent() != nullptr && command_->get_parent()->get_name() == "program";
    if (is("device")) {
      made_.of = Of::kDevice;
    } else if (is_of_program) {
      made_.of = Of::kFile;
    } else if (is("input")) {
      made_.of = Of::kInput;
    } else if (is("attribute")) {
      made_.of = Of::kAttribute;
    } else if (is("output") || is("dtype")) {
      made_.of = Of::kOutput;
    } else {
      made_.of = Of::kFile;
    }
  }

  void CompletePositional() {
    for (const CLI::App* const command : Commands()) made_.words.push_back(command->get_name());
    if (!made_.words.empty() || has_positional_) return;
    const std::string& name = command_->get_name();
    if (name == "completion") {
      made_.words = {"bash", "zsh", "fish"};
    } else if (command_->get_parent()->get_name() == "program") {
      made_.of = Completion::Of::kFile;
    } else if (name == "ops" || name == "plan" || name == "run" || name == "bench") {
      made_.of = Completion::Of::kOperator;
    }
  }

  Arguments Connection() const {
    std::vector<const char*> words = {"opserve"};
    for (const std::string& word : global_words_) words.push_back(word.c_str());
    words.push_back("info");
    const auto parsed = ParseArguments(static_cast<int>(words.size()), words.data());
    const auto* const arguments = std::get_if<Arguments>(&parsed);
    return arguments == nullptr ? Arguments() : *arguments;
  }

  CommandLine line_;
  CLI::App* command_ = &line_.app;
  const CLI::Option* waiting_ = nullptr;  // for its value
  bool has_positional_ = false;
  std::vector<std::string> global_words_;
  Completion made_;
};

// What only a server knows.
class Asking {
 public:
  static std::vector<std::string> Names(const Completion& completion) {
    const Arguments& connection = completion.connection;
    absl::StatusOr<client::ConnectOptions> options = ConnectOptionsOf(connection);
    if (!options.ok()) return {};
    absl::StatusOr<client::Client> client =
        client::Client::Connect(connection.target, *std::move(options));
    if (!client.ok()) return {};
    return Asking(*client).NamesOf(completion);
  }

 private:
  using Of = Completion::Of;

  explicit Asking(const client::Client& client) : client_(client) {}

  std::vector<std::string> NamesOf(const Completion& completion) const {
    if (completion.of == Of::kDevice) return Devices();
    std::vector<std::string> names;
    const bool is_any = completion.of == Of::kOperator;
    if (!is_any && completion.op.empty()) return names;
    const auto schemas = client_.ListOperators(
        is_any ? std::vector<std::string>() : std::vector<std::string>{completion.op},
        {.timeout = kCompletionPatience});
    if (!schemas.ok()) return names;
    for (const client::OperatorSchema& schema : *schemas) {
      if (is_any) names.push_back(schema.name);
      if (completion.of == Of::kInput) AddTensors(schema.inputs, names);
      if (completion.of == Of::kOutput) AddTensors(schema.outputs, names);
      if (completion.of == Of::kAttribute) AddAttributes(schema, names);
    }
    return names;
  }

  std::vector<std::string> Devices() const {
    std::vector<std::string> names;
    const auto devices = client_.ListDevices({.timeout = kCompletionPatience});
    if (!devices.ok()) return names;
    for (const auto& device : *devices) names.push_back(device.name);
    return names;
  }

  static void AddTensors(const std::vector<client::TensorParameter>& tensors,
                         std::vector<std::string>& names) {
    for (const client::TensorParameter& tensor : tensors) names.push_back(tensor.name + "=");
  }
  static void AddAttributes(const client::OperatorSchema& schema, std::vector<std::string>& names) {
    for (const client::AttributeParameter& attribute : schema.attributes) {
      if (attribute.choices.empty()) names.push_back(attribute.name + "=");
      for (const client::AttributeChoice& choice : attribute.choices)
        names.push_back(absl::StrCat(attribute.name, "=", choice.name));
    }
  }

  const client::Client& client_;
};

// Others may come from a server, and mean something to a shell.
bool IsPlain(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == ':' ||
           c == '=' || c == '-';
  });
}

}  // namespace

Completion CompletionOf(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  return Walk(words).Complete(words.back());
}

std::string CompletionLines(const std::vector<std::string>& words) {
  Completion completion = CompletionOf(words);
  using Of = Completion::Of;
  if (completion.of != Of::kNothing && completion.of != Of::kFile) {
    for (std::string& name : Asking::Names(completion)) {
      if (name.starts_with(words.back()) && IsPlain(name))
        completion.words.push_back(std::move(name));
    }
  }
  // A value of an input or an output, and what no name fits, may be a file.
  if (completion.of == Of::kFile || (completion.of != Of::kNothing && completion.words.empty()))
    completion.words.emplace_back(":files");
  std::string lines;
  for (const std::string& word : completion.words) absl::StrAppend(&lines, word, "\n");
  return lines;
}

std::string_view CompletionScript(std::string_view shell) {
  if (shell == "bash") return kBash;
  return shell == "zsh" ? kZsh : kFish;
}

}  // namespace opserve::cli
