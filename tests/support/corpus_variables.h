// Values of a program's variables against those that the corpus expects.
#pragma once

#include <vector>

#include "classical/control.h"
#include "support/corpus.h"

namespace qsim::test {

/// Whether `values`, those of `variables` one after the other, are the ones of `wanted` as far as that names them.
bool has_values(const CorpusVariables& wanted, const std::vector<FlowOutput>& variables,
                const std::vector<Scalar>& values, double tolerance);
/// Adds `probability` to the first of `wanted` that has these values.
void add_probability(const std::vector<CorpusVariables>& wanted, const std::vector<FlowOutput>& variables,
                     const std::vector<Scalar>& values, double tolerance, double probability,
                     std::vector<double>& found);
/// "a=1, b=2,3" of what is wanted, cut.
std::string text_of(const CorpusVariables& wanted);

}  // namespace qsim::test
