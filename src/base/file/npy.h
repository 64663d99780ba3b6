// Headers of .npy files, numpy's format of arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qsim {

struct NpyHeader {
  std::string fault;      // what is wrong with it, as "it is no .npy file"; then the rest says nothing
  std::string kind = {};  // "<c16": byte order, kind of number, bytes
  bool columns_first = false;
  std::vector<std::uint64_t> shape = {};
  std::size_t bytes = 0;  // of the header; the numbers follow
};

/// As many of a file's first bytes tell how long its header is.
constexpr std::size_t kNpyPrefix = 12;
/// Bytes of the header that begins with `prefix`, of at least kNpyPrefix bytes; 0 where it is none,
/// or one of more than 1 MiB.
std::size_t npy_header_bytes(std::string_view prefix);
/// Of what a file begins with, of versions 1 to 3.
NpyHeader read_npy_header(std::string_view file);
/// Version 1, for an array whose last index runs fastest.
std::string make_npy_header(std::string_view kind, std::span<const std::uint64_t> shape);

}  // namespace qsim
