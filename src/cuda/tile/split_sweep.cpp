#include "cuda/tile/split_sweep.h"

#include <cstddef>

#include "base/bits.h"
#include "qsim/error.h"

namespace qsim::cuda {

std::pair<Sweep, Sweep> split_sweep(const Sweep& sweep) {
  Sweep first = sweep, second = sweep;
  if (sweep.ops.size() >= 2) {
    const auto middle = static_cast<std::ptrdiff_t>(sweep.ops.size() / 2);
    first.ops.erase(first.ops.begin() + middle, first.ops.end());
    second.ops.erase(second.ops.begin(), second.ops.begin() + middle);
  } else if (sweep.ops.size() == 1 && sweep.ops[0].form == Form::kPhases && sweep.ops[0].data_count >= 2) {
    const std::uint32_t half = sweep.ops[0].data_count / 2;
    first.ops[0].data_count = half;
    second.ops[0].data_begin += half;
    second.ops[0].data_count -= half;
  } else {
    throw CapacityError("one operation of a sweep needs more device table space than the pool has; raise `max_memory`",
                        0, 0);
  }
  first.store = first.active;
  for (const Birth& birth : sweep.births) second.unborn &= ~bit_mask(birth.bit);
  second.births.clear();
  second.reads = true;
  return {std::move(first), std::move(second)};
}

}  // namespace qsim::cuda
