#include "cpu/direct/direct_sweep.h"

#include <algorithm>

#include "device/numbers/probability.h"

namespace qsim::cpu {
namespace {

constexpr std::uint32_t kMostBits = 13;  // of larger states an operation takes longer than its translation
// Longer sweeps are translated, whatever it takes: programs lose less to rounding where one gate comes again and again.
constexpr std::size_t kMostOperations = 1 << 12;

}  // namespace

bool runs_directly(const Sweep& sweep, std::uint32_t local_bits) {
  return sweep.once && local_bits <= kMostBits && sweep.active.size() == local_bits &&
         sweep.ops.size() <= kMostOperations;
}

DirectProgram::DirectProgram(const Sweep& sweep, std::uint32_t local_bits, DirectMachine machine)
    : sweep_(sweep), geometry_(sweep, local_bits), machine_(machine) {
  tile_.resize(2 * std::max(lanes(), Index{1} << local_bits));
}

template <typename T>
double DirectProgram::run(std::complex<T>* shard, bool norm) {
  const Index places = geometry_.load.size();
  const Complex factor = geometry_.tile_factor(0);
  for (Index place = 0; place < places; ++place) {
    Complex value = geometry_.reads ? Complex(shard[geometry_.load[place]]) : Complex(1);
    if (!geometry_.start.empty()) value *= geometry_.start[place];
    value *= factor;
    real_part(place) = value.real();
    imaginary_part(place) = value.imag();
  }
  machine_.run(sweep_, tile_.data(), std::max(Index{1}, places / lanes()));
  double sum = 0;
  for (Index place = 0; place < places; ++place) {
    const std::complex<T> value(static_cast<T>(real_part(place)), static_cast<T>(imaginary_part(place)));
    shard[geometry_.store[place]] = value;
    if (norm) sum += probability(value);
  }
  return sum;
}
template double DirectProgram::run(std::complex<float>*, bool);
template double DirectProgram::run(std::complex<double>*, bool);

}  // namespace qsim::cpu
