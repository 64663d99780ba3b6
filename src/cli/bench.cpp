// `qsim bench`: circuits timed and checked, as a table, JSON and a drawing.
#include "bench/bench.h"

#include <unistd.h>

#include "base/file/files.h"
#include "base/text.h"
#include "cli/bench_flags.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/output.h"
#include "cli/io/terminal/progress.h"
#include "cli/io/terminal/terminal.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

std::string failed_bench(const Result& partial) {
  BenchReport report;
  report.environment = partial.environment;
  report.error = partial.error;
  return bench_json(report);
}

/// A line a row while a person waits.
void announce(const BenchRow& row) {
  std::string line = row.name + " " + std::to_string(row.qubits) + ", " + std::to_string(row.ranks) +
                     (row.ranks == 1 ? " rank: " : " ranks: ");
  switch (row.status) {
    case BenchStatus::kOk:
      line += seconds_text(row.simulate.median());
      break;
    case BenchStatus::kFailed:
      line += "FAILED";
      break;
    case BenchStatus::kSkipped:
      line += "skipped";
      break;
  }
  print_error(line);
}

}  // namespace

Output command_bench(std::span<const std::string> arguments, Context& context) {
  context.failure_document = failed_bench;
  Flags flags("qsim bench", "Times circuits and checks what they make.", bench_footer());
  BenchFlags typed;
  BenchRequest request;
  context.together([&] {
    declare_bench(flags, typed);
    flags.parse(arguments);
    context.json = typed.json;
    context.output_file = typed.output;
    request = bench_request(flags, typed, context);
    request.run.communicator = context.communicator();
    context.partial.environment = environment();
    context.require_outputs(flags);
  });
  if (stderr_is_terminal(context.launched())) request.on_row = announce;
  set_phase(context.root() ? Phase::kRunning : Phase::kSilent);
  BenchReport report = run_bench(request);
  context.together([&] {
    if (!context.root()) return;
    if (flags.given("--compare")) compare_bench(report, typed.compare, max_ratio_of(flags, typed));
    if (!typed.svg.empty()) write_file(typed.svg, bench_svg(report));
  });
  const std::size_t columns = typed.output.empty() && !context.launched() ? terminal_columns(STDOUT_FILENO) : 0;
  return {typed.json ? bench_json(report) : escape_lines(bench_text(report, columns)),
          typed.output,
          static_cast<int>(report.exit_code()),
          {},
          !typed.json};
}

}  // namespace qsim::cli
