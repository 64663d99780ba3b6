#include "cpu/direct/direct_sweep.h"

#include <algorithm>

#include "base/numbers/complex.h"
#include "cpu/direct/fuse.h"
#include "device/numbers/probability.h"
#include "plan/once.h"

namespace qsim::cpu {
namespace {

constexpr std::uint32_t kFusedFrom = 12;  // on smaller states multiplying matrices takes longer than applying them

}  // namespace

bool runs_directly(const Sweep& sweep, std::uint32_t local_bits) {
  return sweep.once && local_bits <= kMostOnceBits && sweep.active.size() == local_bits &&
         sweep.ops.size() <= kMostOnceOperations;
}

DirectProgram::DirectProgram(const Sweep& sweep, std::uint32_t local_bits, DirectMachine machine)
    : sweep_(local_bits < kFusedFrom ? sweep : fused(sweep)), geometry_(sweep, local_bits), machine_(machine) {
  tile_.resize(2 * std::max(lanes(), Index{1} << local_bits));
}

template <typename T>
double DirectProgram::run(std::complex<T>* shard, bool norm) {
  const Index places = geometry_.load.size();
  const Complex factor = geometry_.tile_factor(0);
  for (Index place = 0; place < places; ++place) {
    Complex value = geometry_.reads ? Complex(shard[geometry_.load[place]]) : Complex(1);
    if (!geometry_.start.empty())
      value = geometry_.reads ? times(value, geometry_.start[place]) : geometry_.start[place];
    value = times(value, factor);
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
