#include "client/cli/commands/contexts.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/cli/output/report.h"

namespace opserve::cli {
namespace {

constexpr std::array<absl::string_view, 8> kKeys = {
    "target", "tls", "cacert", "cert", "key", "server-name", "token-file", "timeout"};
constexpr std::array<absl::string_view, 4> kPaths = {"cacert", "cert", "key", "token-file"};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string DefaultFile() {
  if (std::string file = Variable("OPSERVE_CONTEXTS"); !file.empty()) return file;
  std::filesystem::path folder = Variable("XDG_CONFIG_HOME");
  if (folder.empty()) folder = std::filesystem::path(Variable("HOME")) / ".config";
  return folder / "opserve/contexts.toml";
}

bool Has(std::span<const absl::string_view> words, const std::string& word) {
  return absl::c_linear_search(words, word);
}

// CLI11 tells where a section begins and ends by items of these names.
bool IsMark(const CLI::ConfigItem& item) { return item.name == "++" || item.name == "--"; }

}  // namespace

Contexts::Contexts(CLI::App& app)
    : app_(app),
      name_(app.add_option("--context", "section of --contexts that says how to reach the server")
                ->type_name("NAME")
                ->configurable(false)) {
  app.set_config("--contexts", DefaultFile(),
                 "TOML file of contexts: target, tls, cacert, cert, key, server-name, token-file, "
                 "timeout of each")
      ->type_name("FILE");
}

std::string Contexts::Name() const {
  return name_->count() > 0 ? name_->results().front() : Variable("OPSERVE_CONTEXT");
}

std::string Contexts::File() const { return app_.get_config_ptr()->as<std::string>(); }

std::vector<CLI::ConfigItem> Contexts::from_config(std::istream& text) const {
  was_read_ = true;
  const std::string name = Name();
  if (name.empty()) return {};
  std::vector<CLI::ConfigItem> taken;
  std::vector<std::string> known;
  for (const CLI::ConfigItem& item : ConfigBase::from_config(text)) {
    if (IsMark(item) || item.parents.empty()) continue;
    const std::string section = absl::StrJoin(item.parents, ".");
    if (section == name) status_.Update(Take(item, taken));
    if (!absl::c_linear_search(known, section)) known.push_back(section);
  }
  if (!absl::c_linear_search(known, name)) {
    status_ = UsageError(absl::StrCat("--context: want one of ", File(), " (",
                                      known.empty() ? "it has none" : absl::StrJoin(known, ", "),
                                      "), got '", name, "'"));
  }
  return taken;
}

absl::Status Contexts::Take(const CLI::ConfigItem& item,
                            std::vector<CLI::ConfigItem>& taken) const {
  if (!Has(kKeys, item.name)) {
    return UsageError(absl::StrCat(File(), ": context ", Name(), ": want one of ",
                                   absl::StrJoin(kKeys, ", "), ", got '", item.name, "'"));
  }
  if (item.inputs.size() != 1) {
    return UsageError(absl::StrCat(File(), ": context ", Name(), ": ", item.name,
                                   ": want one value, got ", item.inputs.size()));
  }
  CLI::ConfigItem own{.parents = {}, .name = item.name, .inputs = item.inputs};
  if (Has(kPaths, item.name))
    own.inputs.front() = std::filesystem::path(File()).parent_path() / item.inputs.front();
  taken.push_back(std::move(own));
  return absl::OkStatus();
}

absl::Status Contexts::status() const {
  if (Name().empty() || was_read_) return status_;
  return UsageError(absl::StrCat("--context: want a file of contexts, got none at ", File(),
                                 " (--contexts and $OPSERVE_CONTEXTS name another)"));
}

}  // namespace opserve::cli
