#include "client/cli/commands/bench_arguments.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "client/loadtest/scenario/settings.h"

namespace opserve::cli {
namespace {

constexpr char kBenchFooter[] = R"(
Inputs that are not given are random, from --seed. VALUE is as in `opserve run --help`, or
  f32[4,2]                    random elements from -1 to 1; 0 or 1 for integers and bools
  i64[128].random(0,9)        random elements from 0 to 9
A load is a closed loop (--concurrency), which keeps a number of calls running, or an open loop (--rate, --steps,
--replay), which sends each call when it is due, even if the server does not keep up. Latencies of an open loop count from
the time when the call was due, so that they show when a server stalls.
--target may name several servers: host:port,host:port. --timeout is the time to connect and to try each call once.
Ctrl-C ends the load and prints the report; a second Ctrl-C ends the program.

Examples:
  opserve bench SmoothL1LossBackward --shape 4096
  opserve bench L1Loss --shape 1000 --rate 1000..64000 --html report.html
  opserve bench L1Loss --shape 1000 --rate 1000 --goal 'p99<5ms'
  opserve bench --scenario training_step.yaml --duration 30s --json
  opserve bench --compare before.json --compare after.json --html both.html)";

}  // namespace

void AddBenchFlags(CLI::App& bench, BenchArguments& arguments) {
  bench
      .add_option("--scenario", arguments.scenario,
                  "YAML file with the whole load test; flags override it")
      ->type_name("FILE");
  bench
      .add_option("--shape", arguments.shape,
                  "shape of inputs that are not given, which are random: 4096, or 64,1000")
      ->type_name("SHAPE");
  bench
      .add_option("--input-dtype", arguments.dtype,
                  "dtype of these inputs; default: f32 if the operator takes it")
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
                 "do not measure, for one more second, what this program reaches without a server");
  bench.add_option("--title", arguments.title, "title of the report")->type_name("TEXT");
  bench.add_flag("--csv", arguments.csv, "print comma-separated values, a line for each level");
  bench.add_option("--save", arguments.save, "also write the report to a file, as JSON")
      ->type_name("FILE");
  bench.add_option("--html", arguments.html, "also write a page with plots to a file")
      ->type_name("FILE");
  bench
      .add_option("--compare", arguments.compare,
                  "JSON of an earlier run to show in the page of --html; repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("FILE");
  bench.footer(kBenchFooter);
}

}  // namespace opserve::cli
