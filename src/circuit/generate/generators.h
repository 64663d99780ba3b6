// The families' makers, grouped by file; generators.cpp lists them.
#pragma once

#include "circuit/generate/families.h"

namespace qsim::generator {

// Fixed circuits (generators_standard.cpp).
Circuit make_ghz(const GeneratorOptions& options);
Circuit make_qft(const GeneratorOptions& options);
Circuit make_qft_noswap(const GeneratorOptions& options);
Circuit make_iqft(const GeneratorOptions& options);
Circuit make_ghz_qft(const GeneratorOptions& options);
Circuit make_wstate(const GeneratorOptions& options);
Circuit make_bv(const GeneratorOptions& options);

// Circuits with layers (generators_layered.cpp).
Circuit make_random(const GeneratorOptions& options);
Circuit make_qv(const GeneratorOptions& options);
Circuit make_supremacy(const GeneratorOptions& options);
Circuit make_ising(const GeneratorOptions& options);
Circuit make_heisenberg(const GeneratorOptions& options);
Circuit make_qaoa(const GeneratorOptions& options);

// Circuits of the ASC20-21 challenge that are given by a rule (generators_asc.cpp).
Circuit make_asc_ghz_qft(const GeneratorOptions& options);
Circuit make_inv_qft(const GeneratorOptions& options);
Circuit make_qft_inv_qft(const GeneratorOptions& options);
Circuit make_shor(const GeneratorOptions& options);

// One gate with one angle, with and without a control.
void rotate(Circuit& circuit, Gate gate, double angle, Qubit target);
void rotate(Circuit& circuit, Gate gate, double angle, Qubit control, Qubit target);
/// angle / 2^halvings, exactly.
double halved(double angle, std::uint32_t halvings);

}  // namespace qsim::generator
