// Text of the command line to checked values. Every function throws UsageError naming the flag and the text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qsim/types.h"

namespace qsim::cli {

/// A decimal number 0 .. 2^64-1 (at most `most`), also as 1e6 or 2.5e3 where that is whole.
std::uint64_t parse_unsigned(const std::string& flag, const std::string& text, std::uint64_t most = UINT64_MAX);
/// "512MiB", "1.5G", "4096": bytes; K, M, G, T are powers of 1024.
std::uint64_t parse_bytes(const std::string& flag, const std::string& text);
/// "90%" or "90": a share above 0 and up to 1.
double parse_share(const std::string& flag, const std::string& text);
/// "0,3,5": decimal numbers separated by commas, at least one.
std::vector<std::uint64_t> parse_list(const std::string& flag, const std::string& text);
/// Of a rank: --threads, at least 1.
int parse_threads(const std::string& text);
/// --gpu-ids: a power of two of them.
std::vector<int> parse_gpu_ids(const std::string& text);
/// A list of different qubits, each below `qubits`.
std::vector<Qubit> parse_qubits(const std::string& flag, const std::string& text, std::uint32_t qubits);
/// Basis states of `qubits` qubits: "0,3,5" by index, or "000,011,101" by all their bits, qubit 0 right-most. A list is
/// one or the other, and what could be either is refused.
std::vector<std::uint64_t> parse_basis_states(const std::string& flag, const std::string& text, std::uint32_t qubits);
/// Checks that `ranks` is a power of two; the error names the nearest usable counts.
void check_rank_count(std::uint64_t ranks, const std::string& what);

/// "1.50 GiB"
std::string bytes_text(std::uint64_t bytes);
/// "12.3 ms"
std::string seconds_text(double seconds);

/// `text` of the library, which writes its arguments as `max_memory`, with the flags that set them: --max-memory.
std::string in_flags(std::string text);

}  // namespace qsim::cli
