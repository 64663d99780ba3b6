// Pictures of values: bars and Bloch vectors.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "common.h"

namespace qsim::python {
namespace {

std::string bars(const std::vector<std::string>& labels, const std::vector<double>& values, const std::string& title,
                 const std::string& unit, std::size_t most, std::size_t width) {
  if (labels.size() != values.size()) throw UsageError("as many labels as values are needed");
  std::vector<Bar> all;
  for (std::size_t i = 0; i < labels.size(); ++i) all.push_back({labels[i], values[i]});
  return draw_histogram(all, {title, unit, most, width});
}

std::string spheres(const std::vector<std::string>& labels, const std::vector<std::array<double, 3>>& vectors,
                    std::size_t width) {
  if (labels.size() != vectors.size()) throw UsageError("as many labels as vectors are needed");
  std::vector<BlochVector> all;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    all.push_back({labels[i], vectors[i][0], vectors[i][1], vectors[i][2]});
  }
  return draw_bloch(all, width);
}

}  // namespace

void add_pictures(nb::module_& module) {
  module.def("_bars", bars);
  module.def("_spheres", spheres);
}

}  // namespace qsim::python
