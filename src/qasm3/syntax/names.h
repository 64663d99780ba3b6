// Every identifier of a program as a small number; reserved words come first.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace qsim::qasm3 {

using Name = std::uint32_t;

/// Reserved words in the order of names.cpp; an identifier has a larger number.
enum Word : Name {
  kNoName,
  kWordOpenQasm,
  kWordInclude,
  kWordDefcalgrammar,
  kWordDef,
  kWordCal,
  kWordDefcal,
  kWordGate,
  kWordExtern,
  kWordBox,
  kWordLet,
  kWordBreak,
  kWordContinue,
  kWordIf,
  kWordElse,
  kWordEnd,
  kWordReturn,
  kWordFor,
  kWordWhile,
  kWordIn,
  kWordSwitch,
  kWordCase,
  kWordDefault,
  kWordNop,
  kWordPragma,
  kWordInput,
  kWordOutput,
  kWordConst,
  kWordReadonly,
  kWordMutable,
  kWordQreg,
  kWordQubit,
  kWordCreg,
  kWordBool,
  kWordBit,
  kWordInt,
  kWordUint,
  kWordFloat,
  kWordAngle,
  kWordComplex,
  kWordArray,
  kWordVoid,
  kWordDuration,
  kWordStretch,
  kWordGphase,
  kWordInv,
  kWordPow,
  kWordCtrl,
  kWordNegctrl,
  kWordDim,
  kWordDurationof,
  kWordDelay,
  kWordReset,
  kWordMeasure,
  kWordBarrier,
  kWordTrue,
  kWordFalse,
  kReservedWords
};

/// Names and their numbers. The texts are views into the sources.
class Names {
 public:
  Names();
  Name intern(std::string_view text);
  std::string_view text(Name name) const { return texts_[name]; }
  std::size_t size() const { return texts_.size(); }

 private:
  void grow();
  std::vector<std::string_view> texts_;
  std::vector<std::uint64_t> hashes_;
  std::vector<Name> table_;  // open addressing; 0 = free
};

}  // namespace qsim::qasm3
