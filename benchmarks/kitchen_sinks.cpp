// Quantum kitchen sinks (Wilson et al., 2018) on the "picture frames" set: two square frames, one inside the other,
// which no straight line separates. Random affine encodings of a point become angles of small RX + CNOT circuits; their
// measured bits are the features of a plain logistic regression. Prints a qsim.table/1 document.
//
//   qsim_kitchen_sinks [--episodes N,N..] [--points N] [--backends cpu,cuda] [--least ACCURACY]
//
// --least: exit 8 when the best accuracy on the test set is below it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "benchmarks/table_document.h"
#include "qsim/batch.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace {

using namespace qsim;
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Point {
  double x = 0, y = 0;
  bool outer = false;
};

/// Points on the sides of squares with half sides of 1 and 2, a little off the line.
std::vector<Point> picture_frames(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> along(-1, 1), off(-0.1, 0.1);
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    const bool outer = i % 2 == 1;
    const double half = outer ? 2 : 1, u = half * along(random), v = half + off(random);
    const double signed_v = random() % 2 == 0 ? v : -v;
    points.push_back(random() % 2 == 0 ? Point{u, signed_v, outer} : Point{signed_v, u, outer});
  }
  return points;
}

/// RX(angle of its own) on every qubit, then CNOTs that join neighbours and, with four qubits, the two pairs.
Circuit encoding_circuit(std::uint32_t qubits) {
  Circuit circuit(qubits);
  for (Qubit q = 0; q < qubits; ++q) circuit.rx(Parameter{std::to_string(q)}, q);
  for (Qubit q = 0; q + 1 < qubits; q += 2) circuit.cx(q, q + 1);
  for (Qubit q = 0; q + 2 < qubits; ++q) circuit.cx(q, q + 2);
  return circuit;
}

/// A row of numbers for every point, and a weight for every column; the last column is 1.
struct Features {
  std::size_t columns = 0;
  std::vector<float> values;
  const float* row(std::size_t i) const { return values.data() + i * columns; }
};

Features linear_features(const std::vector<Point>& points) {
  Features features{3, {}};
  for (const Point& point : points) {
    features.values.insert(features.values.end(), {static_cast<float>(point.x), static_cast<float>(point.y), 1.0F});
  }
  return features;
}

/// The same random encodings for every call with one seed: angle = weights . point + bias, one shot an episode.
Features sink_features(const std::vector<Point>& points, std::uint32_t qubits, std::size_t episodes,
                       const std::string& backend, std::uint64_t draws) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> weight(0, 1);
  std::uniform_real_distribution<double> bias(0, 6.283185307179586);
  std::vector<double> encodings(episodes * qubits * 3);
  for (std::size_t i = 0; i < encodings.size(); ++i) encodings[i] = i % 3 == 2 ? bias(random) : weight(random);
  std::vector<double> angles;
  angles.reserve(points.size() * episodes * qubits);
  for (const Point& point : points) {
    for (std::size_t e = 0; e < episodes * qubits; ++e) {
      const double* const code = encodings.data() + 3 * e;
      angles.push_back(code[0] * point.x + code[1] * point.y + code[2]);
    }
  }
  BatchOptions options;
  options.target.backend = choice_of<BackendKind>(backend);
  options.marginals = false;
  options.shots = 1;
  options.seed = draws;
  const BatchResult result = run_batch(encoding_circuit(qubits), angles, options);
  Features features{episodes * qubits + 1, {}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t e = 0; e < episodes; ++e) {
      const std::uint32_t outcome = result.outcomes[i * episodes + e];
      for (std::uint32_t q = 0; q < qubits; ++q) features.values.push_back((outcome >> q & 1) != 0 ? 1.0F : -1.0F);
    }
    features.values.push_back(1.0F);
  }
  return features;
}

/// Logistic regression by gradient descent with momentum and a small penalty on the weights.
std::vector<float> fit(const Features& features, const std::vector<Point>& points) {
  const auto count = static_cast<float>(points.size());
  std::vector<float> weights(features.columns), speed(features.columns), gradient(features.columns);
  const float rate = 2.0F / static_cast<float>(features.columns), penalty = 1e-3F;
  for (int step = 0; step < 400; ++step) {
    for (std::size_t c = 0; c < features.columns; ++c) gradient[c] = penalty * weights[c];
    for (std::size_t i = 0; i < points.size(); ++i) {
      const float* const row = features.row(i);
      float score = 0;
      for (std::size_t c = 0; c < features.columns; ++c) score += weights[c] * row[c];
      const float wrong = (1 / (1 + std::exp(-score)) - (points[i].outer ? 1.0F : 0.0F)) / count;
      for (std::size_t c = 0; c < features.columns; ++c) gradient[c] += wrong * row[c];
    }
    for (std::size_t c = 0; c < features.columns; ++c) {
      speed[c] = 0.9F * speed[c] - rate * gradient[c];
      weights[c] += speed[c];
    }
  }
  return weights;
}

double accuracy(const Features& features, const std::vector<Point>& points, const std::vector<float>& weights) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    float score = 0;
    for (std::size_t c = 0; c < features.columns; ++c) score += weights[c] * features.row(i)[c];
    right += (score > 0) == points[i].outer;
  }
  return static_cast<double>(right) / static_cast<double>(points.size());
}

struct Options {
  std::vector<std::size_t> episodes{200, 500, 1000, 2000};
  std::size_t points = 2000;
  std::vector<std::string> backends{"cpu", "cuda"};  // what is not here is left out
  double least = 0;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) parts.push_back(one);
  return parts;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--episodes") {
      options.episodes.clear();
      for (const std::string& one : split(value)) options.episodes.push_back(std::stoul(one));
    } else if (flag == "--points") {
      options.points = std::stoul(value);
    } else if (flag == "--backends") {
      options.backends = split(value);
    } else if (flag == "--least") {
      options.least = std::stod(value);
    } else {
      throw UsageError("unknown flag " + flag);
    }
  }
  if (argc % 2 == 0) throw UsageError("a flag without its value");
  return options;
}

int run(const Options& options) {
  const std::vector<Point> train = picture_frames(options.points * 4 / 5, 1),
                           test = picture_frames(options.points / 5, 2);
  table::Document document("kitchen_sinks");
  double best = 0;
  const auto report = [&](const std::string& model, std::size_t episodes, double encode, const Features& of_train,
                          const Features& of_test) {
    const Clock::time_point start = Clock::now();
    const std::vector<float> weights = fit(of_train, train);
    const double reached = accuracy(of_test, test, weights);
    document.row({{"model", table::quoted(model)},
                  {"episodes", std::to_string(episodes)},
                  {"train_accuracy", table::number(accuracy(of_train, train, weights))},
                  {"accuracy", table::number(reached)},
                  {"encode_s", table::number(encode)},
                  {"fit_s", table::number(seconds_since(start))}});
    return reached;
  };
  report("linear", 0, 0, linear_features(train), linear_features(test));
  for (const std::string& backend : options.backends) {
    for (const std::uint32_t qubits : {2u, 4u}) {
      for (const std::size_t episodes : options.episodes) {
        try {
          const Clock::time_point start = Clock::now();
          const Features of_train = sink_features(train, qubits, episodes, backend, 1);
          const Features of_test = sink_features(test, qubits, episodes, backend, 2);
          const double encode = seconds_since(start);
          best = std::max(best,
                          report(std::to_string(qubits) + " qubits, " + backend, episodes, encode, of_train, of_test));
        } catch (const DeviceError& error) {
          std::fprintf(stderr, "%s: %s\n", backend.c_str(), error.what());
        }
      }
    }
  }
  document.print();
  return best >= options.least ? 0 : 8;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kitchen_sinks: %s\n", error.what());
    return 2;
  }
}
