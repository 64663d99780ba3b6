// The log of writes.
#include "qasm3/lower/memory.h"

#include <algorithm>

namespace qsim::qasm3 {

Changes Memory::changes(std::size_t mark) const {
  std::vector<std::uint32_t> cells;
  for (std::size_t i = marks_[mark].log; i < log_.size(); ++i) {
    if (log_[i].cell < marks_[mark].cells) cells.push_back(log_[i].cell);
  }
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  Changes changes;
  for (const std::uint32_t cell : cells) changes.emplace_back(cell, cells_[cell].value);
  return changes;
}

void Memory::undo() {
  const Mark mark = marks_.back();
  release(std::min(size(), mark.cells));
  while (log_.size() > mark.log) {
    const Entry& entry = log_.back();
    if (entry.cell < size()) {
      cells_[entry.cell].value = entry.before;
      cells_[entry.cell].logged = entry.logged;
    }
    log_.pop_back();
  }
}

void Memory::forget() {
  marks_.pop_back();
  if (!marks_.empty()) return;
  for (const Entry& entry : log_) {
    if (entry.cell < size()) cells_[entry.cell].logged = 0;
  }
  log_.clear();
}

}  // namespace qsim::qasm3
