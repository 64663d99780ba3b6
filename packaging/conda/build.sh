#!/usr/bin/env bash
set -euo pipefail
cmake -S . -B build-conda -G Ninja ${CMAKE_ARGS:+$CMAKE_ARGS} -DCMAKE_BUILD_TYPE=Release -DQSIM_MPI=ON -DQSIM_CUDA=OFF \
  -DQSIM_TESTS=OFF -DQSIM_UNITY=ON "-DQSIM_DEPS_PREFIX=$SRC_DIR/random123"
cmake --build build-conda
cmake --install build-conda --prefix "$PREFIX"
