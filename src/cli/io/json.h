// The JSON documents of the command line (docs/json.md, docs/schema).
#pragma once

#include <span>
#include <string>

#include "cli/io/output.h"
#include "document/result.h"

namespace qsim::cli {

/// `qsim.result/1`: every key always there, null where it was not computed; `result.error` makes it a failure's.
void write_result_document(const Result& result, const TextSink& sink);
std::string result_document(const Result& result);

/// The bit string of a classical register, bit 0 right-most.
std::string register_text(std::span<const Scalar> bits);
/// The bit string of a basis state: right-most character is qubit 0; "" for no qubits.
std::string bit_string(Index index, std::uint32_t qubits);

}  // namespace qsim::cli
