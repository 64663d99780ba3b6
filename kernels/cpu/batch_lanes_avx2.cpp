// Batches of small circuits with the avx2 instruction set.
#include <cstddef>

#define QSIM_BATCH_LANES_BODY
#include "kernels/cpu/batch_lanes.h"

namespace qsim::cpu {

BatchLanes batch_lanes_avx2() { return kBatchLanesHere; }

}  // namespace qsim::cpu
