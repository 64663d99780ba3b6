// The table of a benchmark for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/bench.h"
#include "bench/names.h"
#include "qsim/error.h"
#include "simulator/simulator.h"

namespace qsim {
namespace bench {

std::string start_name(Start start) {
  switch (start) {
    case Start::kZero:
      return "zero";
    case Start::kRandom:
      return "random";
    case Start::kState:
      return "state";
  }
  throw Error("unknown start " + std::to_string(static_cast<int>(start)));
}

std::string status_name(BenchStatus status) {
  switch (status) {
    case BenchStatus::kOk:
      return "ok";
    case BenchStatus::kFailed:
      return "failed";
    case BenchStatus::kSkipped:
      return "skipped";
  }
  throw Error("unknown status " + std::to_string(static_cast<int>(status)));
}

std::string seconds_text(double seconds) {
  for (const auto& [unit, name] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}}) {
    if (seconds >= unit || unit == 1e-6) return fmt::format("{:.3g} {}", seconds / unit, name);
  }
  return "";
}

std::string short_number(double value) { return fmt::format("{:.2g}", value); }

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string row_label(const BenchRow& row) {
  std::string name = base_name(row.name);
  if (name.size() > 28) name = name.substr(0, 25) + "...";
  std::string text = fmt::format("{} {}, from {}", name, row.qubits, start_name(row.start));
  if (row.precision == Precision::kSingle) text += ", single";
  return text;
}

namespace {

using Cells = std::vector<std::string>;

std::string percent(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:.0f} %", 100 * *fraction) : "-";
}

/// The first good row of the same circuit and conditions: what speed-up counts from.
const BenchRow* base_of(const BenchReport& report, const BenchRow& row) {
  for (const BenchRow& other : report.rows) {
    if (other.name == row.name && other.circuit_hash == row.circuit_hash && other.start == row.start &&
        other.precision == row.precision && other.status == BenchStatus::kOk) {
      return &other;
    }
  }
  return nullptr;
}

std::string check_text(const BenchRow& row) {
  if (row.status == BenchStatus::kFailed) return "FAILED";
  std::string names;
  for (const BenchCheck& check : row.checks) {
    if (check.name != "norm" || row.checks.size() == 1) names += (names.empty() ? "" : ", ") + check.name;
  }
  if (!row.unchecked.empty()) names += names.empty() ? "unchecked" : " (part unchecked)";
  return names.empty() ? "unchecked" : names;
}

/// What the clock counts beside the work, as the largest share of a row's time.
std::string overhead_text(const BenchReport& report) {
  double most = 0;
  bool measured = false;
  for (const BenchRow& row : report.rows) {
    const double median = row.simulate.median();
    if (row.status != BenchStatus::kOk || !row.overhead_seconds || median <= 0) continue;
    most = std::max(most, *row.overhead_seconds / median);
    measured = true;
  }
  return measured ? fmt::format("the measurement's own share of a time: at most {:.2g} %\n", 100 * most) : "";
}

Cells row_cells(const BenchReport& report, const BenchRow& row) {
  Cells cells{row_label(row).substr(0, row_label(row).find(" " + std::to_string(row.qubits) + ",")),
              std::to_string(row.qubits),
              std::to_string(row.operations),
              start_name(row.start),
              std::string(name_of(row.precision)),
              std::to_string(row.ranks)};
  if (row.status != BenchStatus::kOk) {
    // A time that belongs to a wrong state is not a time.
    const Cells blanks{"-", "-", "-", "-", "-", "-", "-", "-"};
    cells.insert(cells.end(), blanks.begin(), blanks.end());
    cells.push_back(row.status == BenchStatus::kFailed ? "FAILED" : "skipped");
    return cells;
  }
  const BenchRow* base = base_of(report, row);
  const double median = row.simulate.median();
  cells.insert(
      cells.end(),
      {seconds_text(median), seconds_text(row.simulate.minimum()), fmt::format("{:.0f} %", 100 * row.simulate.spread()),
       row.reads_out ? seconds_text(row.read_out.median()) : "-",
       fmt::format("{}+{}", row.work.sweeps, row.work.exchanges), fmt::format("{:.3g}", row.memory_gbps()),
       percent(row.memory_fraction()),
       base != nullptr && median > 0 ? fmt::format("{:.2f}", base->simulate.median() / median) : "-", check_text(row)});
  return cells;
}

/// The rows as a table, or as several below each other where `columns` (0: any number) are too few for all cells: each
/// begins with the cells that say which row it is.
std::string aligned(const std::vector<Cells>& rows, std::size_t columns = 0) {
  constexpr std::size_t kNames = 2;
  std::vector<std::size_t> widths(rows.front().size());
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::vector<std::size_t>> tables(1);
  std::size_t used = 0, names = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i < kNames) names += widths[i] + 2;
    if (columns > 0 && i >= kNames && used + widths[i] > columns && tables.back().size() > kNames) {
      tables.push_back({0, 1});
      used = names;
    }
    tables.back().push_back(i);
    used += widths[i] + 2;
  }
  std::string text;
  for (const std::vector<std::size_t>& table : tables) {
    if (!text.empty()) text += "\n";
    for (const Cells& row : rows) {
      std::string line;
      for (const std::size_t i : table) {
        const bool left = i == 0 || i == 3 || i == 4 || i + 1 == row.size();
        line += left ? fmt::format("{:<{}}  ", row[i], widths[i]) : fmt::format("{:>{}}  ", row[i], widths[i]);
      }
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
  }
  return text;
}

std::string remarks(const BenchReport& report) {
  std::string text;
  for (const BenchRow& row : report.rows) {
    const std::string label = fmt::format("{}, {} rank{}", row_label(row), row.ranks, row.ranks == 1 ? "" : "s");
    if (row.status == BenchStatus::kSkipped) text += "skipped: " + label + ": " + row.reason + "\n";
    if (row.status == BenchStatus::kFailed && !row.reason.empty())
      text += "FAILED: " + label + ": " + row.reason + "\n";
    for (const BenchCheck& check : row.checks) {
      if (!check.passed) text += "FAILED: " + label + ": " + check.name + ": " + check.detail + "\n";
    }
    for (const std::string& what : row.unchecked) {
      if (row.status != BenchStatus::kSkipped) text += "unchecked: " + label + ": " + what + "\n";
    }
  }
  return text;
}

std::string comparison_text(const BenchReport& report, std::size_t columns) {
  if (!report.comparison) return "";
  const BenchComparison& comparison = *report.comparison;
  std::vector<Cells> table{{"against the earlier run", "ranks", "then", "now", "ratio", ""}};
  for (const BenchComparison::Pair& pair : comparison.pairs) {
    const BenchRow& row = report.rows.at(pair.row);
    table.push_back({row_label(row), std::to_string(row.ranks), seconds_text(pair.baseline_seconds),
                     seconds_text(row.simulate.median()), fmt::format("{:.2f}", pair.ratio),
                     pair.too_slow ? fmt::format("slower than {:.2f} allows", *comparison.max_ratio) : ""});
  }
  return fmt::format("\nCompared with {} ({}; {}):\n", comparison.baseline_file, comparison.baseline_machine,
                     comparison.baseline_date) +
         aligned(table, columns);
}

}  // namespace
}  // namespace bench

std::string bench_text(const BenchReport& report, std::size_t columns) {
  std::string text = report.machine + "\n";
  const auto first = std::find_if(report.rows.begin(), report.rows.end(),
                                  [](const BenchRow& row) { return row.copy_gbps.has_value(); });
  if (first != report.rows.end()) {
    text += fmt::format("{}; measured copy rate {:.3g} GB/s a rank\n", first->run.device, *first->copy_gbps);
  }
  text += "\n";
  std::vector<bench::Cells> table{{"circuit", "qubits", "gates", "from", "precision", "ranks", "median", "minimum",
                                   "spread", "read-out", "sweeps", "GB/s", "of copy", "speed-up", "checked by"}};
  for (const BenchRow& row : report.rows) table.push_back(bench::row_cells(report, row));
  return text + bench::aligned(table, columns) + "\n" + bench::overhead_text(report) + bench::remarks(report) +
         bench::comparison_text(report, columns) + report.verdict() + "\n";
}

}  // namespace qsim
