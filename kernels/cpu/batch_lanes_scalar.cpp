// Batches of small circuits with the scalar instruction set.
#include <cstddef>

#define QSIM_BATCH_LANES_BODY
#include "kernels/cpu/batch_lanes.h"

namespace qsim::cpu {

BatchLanes batch_lanes_scalar() { return kBatchLanesHere; }

}  // namespace qsim::cpu
