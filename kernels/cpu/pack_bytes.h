// How much an instruction takes at once, by the instruction set that a file is compiled for.
#pragma once

namespace qsim::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int kPackBytes = 64;
#elif defined(__AVX2__)
constexpr int kPackBytes = 32;
#else
constexpr int kPackBytes = 16;
#endif

}  // namespace
}  // namespace qsim::cpu
