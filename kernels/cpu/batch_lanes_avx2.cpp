// Batches of small circuits with the avx2 instruction set.

#define QSIM_BATCH_LANES_BODY
#include "kernels/cpu/batch_lanes.h"

namespace qsim::cpu {

template <>
BatchLanes<float> batch_lanes_avx2() {
  return kLanesHere<float>;
}
template <>
BatchLanes<double> batch_lanes_avx2() {
  return kLanesHere<double>;
}

}  // namespace qsim::cpu
