#include "client/cli/commands/bench_arguments.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "client/loadtest/scenario/settings.h"

namespace opserve::cli {
namespace {

constexpr char kBenchFooter[] = R"(
Inputs that are not given are made up, from --seed. Besides what `opserve run --help` says, VALUE may be
  f32[4,2]                    random elements from -1 to 1; of integers and bools, 0 or 1
  i64[128].random(0,9)        random elements from 0 to 9
A load is a closed loop (--concurrency), which keeps so many calls under way, or an open loop (--rate, --steps,
--replay), which sends when it is time to, whether or not the server keeps up. Latencies of an open loop count from when
a call was due: a server that stalls shows it.
--target may be several, as host:port,host:port; --timeout is for connecting and for trying each call once.
Ctrl-C ends the load and reports what there is; again, it ends the program.

Examples:
  opserve bench SmoothL1LossBackward --shape 4096
  opserve bench L1Loss --shape 1000 --rate 1000..64000 --html report.html
  opserve bench L1Loss --shape 1000 --rate 1000 --goal 'p99<5ms'
  opserve bench --scenario training_step.yaml --duration 30s --json
  opserve bench --compare before.json --compare after.json --html both.html)";

}  // namespace

void AddBenchFlags(CLI::App& bench, BenchArguments& arguments) {
  bench.add_option("--scenario", arguments.scenario, "YAML file that says all of it; flags win")
      ->type_name("FILE");
  bench
      .add_option("--shape", arguments.shape,
                  "of inputs that are not given: 4096, or 64,1000; they are made up")
      ->type_name("SHAPE");
  bench.add_option("--input-dtype", arguments.dtype, "of them; f32 where the operator takes it")
      ->type_name("DTYPE");
  for (const loadtest::SettingInfo& setting : loadtest::AllSettings()) {
    const std::string name = setting.name;
    bench
        .add_option_function<std::string>(
            "--" + name,
            [&arguments, name](const std::string& text) {
              arguments.settings.emplace_back(name, text);
            },
            setting.help)
        ->type_name(setting.type);
  }
  bench.add_flag("--no-ceiling", arguments.no_ceiling,
                 "do not find out, in a second more, what this program reaches without a server");
  bench.add_option("--title", arguments.title, "of the report")->type_name("TEXT");
  bench.add_flag("--csv", arguments.csv, "print a line for each level, for programs");
  bench.add_option("--save", arguments.save, "write the report as JSON to a file, too")
      ->type_name("FILE");
  bench.add_option("--html", arguments.html, "write a page with plots to a file")
      ->type_name("FILE");
  bench
      .add_option("--compare", arguments.compare,
                  "JSON of an earlier run, for the page of --html; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("FILE");
  bench.footer(kBenchFooter);
}

}  // namespace opserve::cli
