// Named contexts: how servers are reached, in a file that the user writes once.
#pragma once

#include <CLI/CLI.hpp>
#include <istream>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace opserve::cli {

// Gives CLI11 the options of one context of a TOML file, as if they were a configuration file:
//
//   [gpu]
//   target = "gpu.example.org:8500"
//   cacert = "ca.pem"               # relative to the file's folder
//
// Options of the command line come before those of a context, and these before variables.
class Contexts final : public CLI::ConfigBase {
 public:
  // --context and --contexts are added to `app`, which must outlive this.
  explicit Contexts(CLI::App& app);

  std::vector<CLI::ConfigItem> from_config(std::istream& text) const override;

  // After parsing: a UsageError where a context is named that the file lacks, or has mistakes in.
  absl::Status status() const;

 private:
  std::string Name() const;
  std::string File() const;
  absl::Status Take(const CLI::ConfigItem& item, std::vector<CLI::ConfigItem>& taken) const;

  CLI::App& app_;
  const CLI::Option* name_;
  mutable bool was_read_ = false;
  mutable absl::Status status_;
};

}  // namespace opserve::cli
