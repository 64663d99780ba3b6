// The tables of names.
#include <array>

#include "qsim/target.h"

namespace qsim {

std::span<const Named<BackendKind>> choices(BackendKind) {
  static constexpr std::array<Named<BackendKind>, 4> kAll{{{BackendKind::kAuto, "auto"},
                                                           {BackendKind::kCpu, "cpu"},
                                                           {BackendKind::kCuda, "cuda"},
                                                           {BackendKind::kNull, "null"}}};
  return kAll;
}
std::span<const Named<ExchangeKind>> choices(ExchangeKind) {
  static constexpr std::array<Named<ExchangeKind>, 5> kAll{{{ExchangeKind::kAuto, "auto"},
                                                            {ExchangeKind::kP2p, "p2p"},
                                                            {ExchangeKind::kNccl, "nccl"},
                                                            {ExchangeKind::kMpi, "mpi"},
                                                            {ExchangeKind::kStaged, "staged"}}};
  return kAll;
}
std::span<const Named<Jit>> choices(Jit) {
  static constexpr std::array<Named<Jit>, 3> kAll{{{Jit::kAuto, "auto"}, {Jit::kOff, "off"}, {Jit::kOnly, "only"}}};
  return kAll;
}
std::span<const Named<Verify>> choices(Verify) {
  static constexpr std::array<Named<Verify>, 3> kAll{
      {{Verify::kOff, "off"}, {Verify::kNorm, "norm"}, {Verify::kFull, "full"}}};
  return kAll;
}
std::span<const Named<Precision>> choices(Precision) {
  static constexpr std::array<Named<Precision>, 2> kAll{
      {{Precision::kDouble, "double"}, {Precision::kSingle, "single"}}};
  return kAll;
}

}  // namespace qsim
