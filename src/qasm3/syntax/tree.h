// The syntax tree of OpenQASM 3: nodes in one arena, children named by their index, lists linked through `next`.
// Freeing is truncating: nothing is destroyed one by one, and no depth of nesting matters.
#pragma once

#include <cstdint>
#include <vector>

#include "qasm3/syntax/lexer.h"

namespace qsim::qasm3 {

using NodeId = std::uint32_t;  // 0 = none

enum class NodeKind : std::uint8_t {
  // Expressions.
  kInteger,       // text of [at, at + a)
  kReal,          // likewise
  kImaginary,     // likewise, with "im"
  kTime,          // likewise, with its unit
  kBitString,     // likewise, with quotes
  kTruth,         // a = 0, 1
  kName,          // name
  kPhysical,      // a = number
  kUnary,         // op, a
  kBinary,        // op, a, b
  kIndex,         // a = what is indexed, b = list of items
  kRange,         // a = start, b = step, c = stop; each may be none
  kSet,           // a = list
  kCall,          // name, a = list of arguments
  kCast,          // a = type, b = value
  kConcat,        // a, b
  kMeasure,       // a = what is measured
  kArrayLiteral,  // a = list
  kDurationOf,    // a = block
  // Types: word = the keyword.
  kType,  // a = size, b = element type (array) or part type (complex), c = list of dimensions, flag kDimCount
  // Statements.
  kDeclare,     // name, a = type, b = value; flags kConst, kInput, kOutput; type kWordQubit for qubits
  kAlias,       // name, a = value
  kAssign,      // a = target, b = value; flag kCompound with op
  kExpression,  // a
  kGateCall,    // name, a = list of modifiers, b = list of parameters, c = list of operands; flag kCalled: has ()
  kModifier,    // word, a = argument
  kReset,       // a
  kBarrier,     // a = list of operands
  kDelay,       // a = duration, b = list of operands
  kNop,         // a = list of operands
  kBox,         // a = duration, b = block
  kIf,          // a = condition, b = then, c = else
  kFor,         // name, a = type, b = values, c = body
  kWhile,       // a = condition, b = body
  kSwitch,      // a = value, b = list of cases
  kCase,        // a = list of values (none: default), b = block
  kBreak,
  kContinue,
  kEnd,
  kReturn,       // a = value
  kBlock,        // a = list of statements
  kGate,         // name, a = list of parameters (kName), b = list of qubits (kName), c = block
  kSubroutine,   // name, a = list of arguments (kDeclare), b = type, c = block
  kExtern,       // name, a = list of types, b = type
  kInclude,      // text of [at, at + a) with quotes
  kCalibration,  // cal, defcal, defcalgrammar: word; of a defcal: name, a = list of physical qubits
  kPragma,
};

enum NodeFlag : std::uint8_t {
  kConst = 1,
  kInput = 2,
  kOutput = 4,
  kReadonly = 8,
  kMutable = 16,
  kCompound = 32,
  kDimCount = 32,
  kCalled = 64,
};

struct Node {
  NodeKind kind = NodeKind::kInteger;
  Operator op = Operator::kOr;
  std::uint8_t flags = 0;
  std::uint8_t word = 0;  // Word, where the kind says so
  std::uint32_t at = 0;   // place: offset of its first token among all sources
  std::uint32_t line = 0;
  Name name = kNoName;
  NodeId next = 0;  // of the same list
  std::uint32_t a = 0, b = 0, c = 0;
};

class Tree {
 public:
  Tree() : nodes_(1) {}
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  Node& operator[](NodeId node) { return nodes_[node]; }
  const Node& operator[](NodeId node) const { return nodes_[node]; }
  NodeId add(const Node& node) {
    nodes_.push_back(node);
    return size() - 1;
  }
  void truncate(NodeId size) { nodes_.resize(size); }

 private:
  std::vector<Node> nodes_;
};

/// Builds a list; its elements may stand anywhere in the arena.
class ListMaker {
 public:
  explicit ListMaker(Tree& tree) : tree_(tree) {}
  void add(NodeId node) {
    (last_ == 0 ? first_ : tree_[last_].next) = node;
    last_ = node;
    ++size_;
  }
  NodeId first() const { return first_; }
  std::uint32_t size() const { return size_; }

 private:
  Tree& tree_;
  NodeId first_ = 0, last_ = 0;
  std::uint32_t size_ = 0;
};

/// Elements of the list that begins with `first`: for (NodeId each : list(tree, first)).
class List {
 public:
  struct Iterator {
    const Tree* tree;
    NodeId node;
    NodeId operator*() const { return node; }
    Iterator& operator++() {
      node = (*tree)[node].next;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return node != other.node; }
  };
  List(const Tree& tree, NodeId first) : tree_(&tree), first_(first) {}
  Iterator begin() const { return {tree_, first_}; }
  Iterator end() const { return {tree_, 0}; }
  std::uint32_t size() const {
    std::uint32_t count = 0;
    for (NodeId node = first_; node != 0; node = (*tree_)[node].next) ++count;
    return count;
  }

 private:
  const Tree* tree_;
  NodeId first_;
};

}  // namespace qsim::qasm3
