#include "cli/io/result/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/io/values.h"
#include "simulator/answers.h"

namespace qsim::cli {
namespace {

constexpr std::size_t kMaxLines = 25;

std::vector<std::string> header(const Result& result) {
  const CircuitSummary& circuit = result.circuit;
  const RunSummary& run = result.run;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {}, {}, depth {}, {}", circuit.file, counted(circuit.qubits, "qubit"),
                              counted(circuit.operations, "operation"), circuit.depth,
                              counted(circuit.clbits, "classical bit")));
  std::string where = run.backend + (run.device.empty() ? "" : ": " + run.device);
  if (run.ranks > 1) where += fmt::format(", {} ranks", run.ranks);
  if (!run.exchange.empty()) where += " over " + run.exchange;
  lines.push_back(fmt::format("  ran on     {}", where));
  if (!run.reason.empty()) lines.push_back(fmt::format("  because    {}", run.reason));
  lines.push_back(fmt::format("  precision  {}; state {}, {} a rank at most", std::string(name_of(run.precision)),
                              bytes_text(result.memory.state_bytes), bytes_text([&] {
                                std::uint64_t peak = result.memory.predicted_bytes_per_rank;
                                for (const auto bytes : result.memory.peak_bytes_per_rank) peak = std::max(peak, bytes);
                                return peak;
                              }())));
  lines.push_back(fmt::format("  time       {} (start {}, parse {}, plan {}, simulate {}, read-out {}); {}, {}",
                              seconds_text(result.time.total), seconds_text(result.time.start),
                              seconds_text(result.time.parse), seconds_text(result.time.plan),
                              seconds_text(result.time.simulate), seconds_text(result.time.read_out),
                              counted(result.work.sweeps, "sweep"), counted(result.work.exchanges, "exchange")));
  const Verification& verification = result.verification;
  lines.push_back(verification.norm ? fmt::format("  norm       {:.12f} ({})", *verification.norm, verification.status)
                                    : fmt::format("  norm       not checked (--verify {})", verification.status));
  if (run.shots > 0) {
    lines.push_back(fmt::format("  seed       {}{}", run.seed,
                                run.seed_given ? "" : fmt::format(" (drawn; --seed {} repeats it)", run.seed)));
  }
  return lines;
}

std::vector<std::string> details(const Result& result) {
  const EnvironmentSummary& build = result.environment;
  const Verification& verification = result.verification;
  const WorkSummary& work = result.work;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("  program    qsim {}{}, {}", build.version,
                              build.commit.empty() ? "" : " (" + build.commit + ")", build.compiler));
  lines.push_back(fmt::format("  threads    {} a rank", result.run.threads));
  lines.push_back(fmt::format("  memory     {} a rank predicted; read-outs {} of it at most",
                              bytes_text(result.memory.predicted_bytes_per_rank),
                              bytes_text(result.memory.read_out_bytes_per_rank)));
  lines.push_back(fmt::format("  work       {} swept a rank at {:.3g} GB/s, {} exchanged",
                              bytes_text(work.bytes_swept_per_rank), work.memory_gbps,
                              bytes_text(work.bytes_exchanged_per_rank)));
  lines.push_back(
      fmt::format("  gates      {} planned, {} applied", verification.gates_planned, verification.gates_applied));
  return lines;
}

/// Writes the sections: those that were asked for in full, the others as far as `room` lines go, each an equal share
/// of what the former leave, short ones leaving theirs to the next. None is left out: a few lines stand of each.
void write_sections(const std::vector<Section>& sections, std::size_t room, const LineSink& line) {
  constexpr std::size_t kFewest = 5;
  std::size_t shared = 0;
  for (const Section& section : sections) {
    if (!section.asked) ++shared;
    if (section.asked) room -= std::min(room, section.total + 1);
  }
  for (const Section& section : sections) {
    line(section.title);
    if (section.asked) {
      section.write(section.total, line);
      continue;
    }
    const std::size_t share = std::max(room / shared--, kFewest);
    const bool all = section.total <= share - 1;
    const std::size_t shown = all ? section.total : share - 2;
    section.write(shown, line);
    if (!all) {
      const std::string by_name = section.argument.empty() ? "" : "--" + section.argument + " or ";
      line(fmt::format("  ... and {} more ({}--json has all)", section.total - shown, by_name));
    }
    room -= std::min(room, 1 + shown + (all ? 0 : 1));
  }
}

}  // namespace

void write_result_report(const Result& result, const ReportScope& scope, const TextSink& sink) {
  std::vector<std::string> lines;
  if (scope.header) {
    lines = header(result);
    if (scope.details) {
      for (std::string& line : details(result)) lines.push_back(std::move(line));
    }
    const std::size_t most =
        scope.details || scope.all ? result.warnings.size() : 10 - std::min<std::size_t>(lines.size(), 10);
    for (std::size_t i = 0; i < result.warnings.size(); ++i) {
      if (i + 1 >= most && i + 1 < result.warnings.size()) {
        lines.push_back(fmt::format("  warning    {} more of {} (--verbose or --json has all)",
                                    result.warnings.size() - i, result.warnings.size()));
        break;
      }
      lines.push_back("  warning    " + result.warnings[i]);
    }
  }
  const LineSink line = [&sink](const std::string& text) { sink(escape_lines(text) + "\n"); };
  for (const std::string& text : lines) line(text);
  write_sections(answer_sections(result, scope), kMaxLines - std::min(kMaxLines, lines.size()), line);
}

}  // namespace qsim::cli
