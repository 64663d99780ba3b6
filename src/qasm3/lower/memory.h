// Classical memory while a program is lowered: cells with known values or with variables of the flow program, and a log
// that undoes what a branch wrote.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "classical/flow.h"

namespace qsim::qasm3 {

/// A scalar: known, or an expression of the flow program.
struct Value {
  Scalar scalar;                 // known: the value; else only its type counts
  std::uint32_t expression = 0;  // 0 = known
  bool known() const { return expression == 0; }
  ScalarType type() const { return scalar.type; }
  friend bool operator==(const Value& a, const Value& b) {
    return a.expression == b.expression && a.scalar.type == b.scalar.type &&
           (a.expression != 0 || a.scalar == b.scalar);
  }
};

inline Value known_value(const Scalar& scalar) { return {scalar, 0}; }

/// Scalars without repetition, in the order in which they came.
class ValueSet {
 public:
  void add(const Scalar& value) {
    if (seen_.insert(value).second) values_.push_back(value);
  }
  std::size_t size() const { return values_.size(); }
  std::vector<Scalar> take() { return std::move(values_); }

 private:
  struct Hash {
    std::size_t operator()(const Scalar& value) const {
      const auto low = static_cast<std::uint64_t>(value.word), high = static_cast<std::uint64_t>(value.word >> 64);
      return std::hash<std::uint64_t>()(low ^ (high * 0x9e3779b97f4a7c15u));
    }
  };
  std::unordered_set<Scalar, Hash> seen_;
  std::vector<Scalar> values_;
};

/// Cells with their new values, by number.
using Changes = std::vector<std::pair<std::uint32_t, Value>>;

class Memory {
 public:
  std::uint32_t size() const { return static_cast<std::uint32_t>(cells_.size()); }
  /// Cells of a variable called number `name` of Control::names (from 1); 0: they are no variable's.
  std::uint32_t allocate(std::uint32_t count, const Value& value, std::uint32_t name = 0) {
    const std::uint32_t first = size();
    cells_.resize(cells_.size() + count, Cell{value, 0, {}});
    for (std::uint32_t i = 0; name != 0 && i < count; ++i) cells_[first + i].name = {name, i};
    return first;
  }
  FlowName name(std::uint32_t cell) const { return cells_[cell].name; }
  void release(std::uint32_t size) { cells_.resize(size); }
  const Value& operator[](std::uint32_t cell) const { return cells_[cell].value; }
  void write(std::uint32_t cell, const Value& value) {
    Cell& at = cells_[cell];
    if (!marks_.empty() && at.logged <= marks_.back().log) {
      log_.push_back({cell, at.value, at.logged});
      at.logged = static_cast<std::uint32_t>(log_.size());
    }
    at.value = value;
  }

  /// From now on writes can be undone; marks nest.
  void mark() { marks_.push_back({static_cast<std::uint32_t>(log_.size()), size()}); }
  std::size_t marks() const { return marks_.size(); }
  /// What has changed since mark number `mark` (from 0), among the cells that were there then.
  Changes changes(std::size_t mark) const;
  /// Back to what was there at the last mark, which stays.
  void undo();
  /// Forgets the last mark; what was written stays.
  void forget();

 private:
  struct Cell {
    Value value;
    std::uint32_t logged = 0;  // length of the log once its last entry was made; 0 = never
    FlowName name;
  };
  struct Entry {
    std::uint32_t cell;
    Value before;
    std::uint32_t logged;
  };
  struct Mark {
    std::uint32_t log, cells;
  };
  std::vector<Cell> cells_;
  std::vector<Entry> log_;
  std::vector<Mark> marks_;
};

}  // namespace qsim::qasm3
