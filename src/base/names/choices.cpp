// The tables of names.
#include "base/names/choices.h"

namespace qsim {

template <>
struct NamesOf<BackendKind> {
  static constexpr Named<BackendKind> kAll[] = {{BackendKind::kAuto, "auto"},
                                                {BackendKind::kCpu, "cpu"},
                                                {BackendKind::kCuda, "cuda"},
                                                {BackendKind::kNull, "null"}};
};
template std::span<const Named<BackendKind>> choices();
template std::string_view name_of(BackendKind);
template BackendKind choice_of(std::string_view);

template <>
struct NamesOf<ExchangeKind> {
  static constexpr Named<ExchangeKind> kAll[] = {{ExchangeKind::kAuto, "auto"},
                                                 {ExchangeKind::kP2p, "p2p"},
                                                 {ExchangeKind::kNccl, "nccl"},
                                                 {ExchangeKind::kMpi, "mpi"},
                                                 {ExchangeKind::kStaged, "staged"}};
};
template std::span<const Named<ExchangeKind>> choices();
template std::string_view name_of(ExchangeKind);
template ExchangeKind choice_of(std::string_view);

template <>
struct NamesOf<InstructionSet> {
  static constexpr Named<InstructionSet> kAll[] = {{InstructionSet::kAuto, "auto"},
                                                   {InstructionSet::kScalar, "scalar"},
                                                   {InstructionSet::kAvx2, "avx2"},
                                                   {InstructionSet::kAvx512, "avx512"}};
};
template std::span<const Named<InstructionSet>> choices();
template std::string_view name_of(InstructionSet);
template InstructionSet choice_of(std::string_view);

template <>
struct NamesOf<Jit> {
  static constexpr Named<Jit> kAll[] = {{Jit::kAuto, "auto"}, {Jit::kOff, "off"}, {Jit::kOnly, "only"}};
};
template std::span<const Named<Jit>> choices();
template std::string_view name_of(Jit);
template Jit choice_of(std::string_view);

template <>
struct NamesOf<Verify> {
  static constexpr Named<Verify> kAll[] = {{Verify::kOff, "off"}, {Verify::kNorm, "norm"}, {Verify::kFull, "full"}};
};
template std::span<const Named<Verify>> choices();
template std::string_view name_of(Verify);
template Verify choice_of(std::string_view);

template <>
struct NamesOf<Precision> {
  static constexpr Named<Precision> kAll[] = {{Precision::kDouble, "double"}, {Precision::kSingle, "single"}};
};
template std::span<const Named<Precision>> choices();
template std::string_view name_of(Precision);
template Precision choice_of(std::string_view);

}  // namespace qsim
