// Batches of small circuits with the avx512 instruction set.
#include <cstddef>

#define QSIM_BATCH_LANES_BODY
#include "kernels/cpu/batch_lanes.h"

namespace qsim::cpu {

BatchLanes batch_lanes_avx512() { return kBatchLanesHere; }

}  // namespace qsim::cpu
