// The larger entry of the first column is divided out: tangents are at most 1.
#include "cuda/factor/gauge.h"

#include <cmath>

#include "base/numbers/matrix2.h"
#include "qsim/error.h"

namespace qsim::cuda {

Gauge find_gauge(const std::vector<Complex>& m) {
  const RotationParts parts = rotation_parts({m[0], m[1], m[2], m[3]});
  const double c = parts.cosine, s = parts.sine;
  const Complex i(0, 1), p0 = parts.around, post = parts.left, q = parts.right;
  struct Candidate {
    Rotation direct, swapped;
    double sign;
    Complex pre, post;
  };
  const Candidate candidates[] = {
      {Rotation::kReal, Rotation::kRealSwap, 1, q, post},
      {Rotation::kReal, Rotation::kRealSwap, -1, -q, -post},
      {Rotation::kRealMinus, Rotation::kRealSwapMinus, 1, -q, post},
      {Rotation::kRealMinus, Rotation::kRealSwapMinus, -1, q, -post},
      {Rotation::kImaginary, Rotation::kImaginarySwap, 1, -i * q, i * post},
      {Rotation::kImaginary, Rotation::kImaginarySwap, -1, i * q, -i * post},
  };
  const Candidate* best = nullptr;
  Gauge gauge{};
  for (const Candidate& candidate : candidates) {
    Gauge trial{};
    trial.pre = candidate.pre;
    trial.post = candidate.post;
    if (c >= s) {
      trial.rotation = candidate.direct;
      trial.tangent = candidate.sign * s / c;
      trial.scale = p0 * c;
    } else {
      trial.rotation = candidate.swapped;
      trial.tangent = candidate.sign * c / s;
      trial.scale = candidate.sign * p0 * s;
    }
    if (best == nullptr || trial.phases() < gauge.phases()) {
      best = &candidate;
      gauge = trial;
    }
  }
  return gauge;
}

std::array<Complex, 4> rotation_matrix(Rotation rotation, double t) {
  const Complex i(0, 1);
  switch (rotation) {
    case Rotation::kNone:
      return {1, 0, 0, 1};
    case Rotation::kReal:
      return {1, -t, t, 1};
    case Rotation::kRealMinus:
      return {1, t, t, -1};
    case Rotation::kImaginary:
      return {1, -i * t, -i * t, 1};
    case Rotation::kRealSwap:
      return {t, -1, 1, t};
    case Rotation::kRealSwapMinus:
      return {t, 1, 1, -t};
    case Rotation::kImaginarySwap:
      return {t, -i, -i, t};
  }
  throw Error("unknown rotation");
}

std::array<Complex, 4> product_of(const Gauge& gauge) {
  const std::array<Complex, 4> form = rotation_matrix(gauge.rotation, gauge.tangent);
  return {gauge.scale * form[0], gauge.scale * form[1] * gauge.pre, gauge.scale * gauge.post * form[2],
          gauge.scale * gauge.post * form[3] * gauge.pre};
}

}  // namespace qsim::cuda
