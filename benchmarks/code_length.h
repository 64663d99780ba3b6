// How long compiled kernels are.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace qsim {

/// Instructions of all functions of a cubin, which is an ELF file; 16 bytes each.
inline std::size_t instructions_of(const std::vector<char>& cubin) {
  constexpr std::size_t kInstructionBytes = 16;
  const auto read = [&](std::size_t at, auto& into) {
    if (at + sizeof into <= cubin.size()) std::memcpy(&into, cubin.data() + at, sizeof into);
  };
  Elf64_Ehdr file{};
  read(0, file);
  const auto section = [&](std::size_t number) {
    Elf64_Shdr header{};
    read(file.e_shoff + number * sizeof header, header);
    return header;
  };
  const std::size_t names = section(file.e_shstrndx).sh_offset;
  std::size_t bytes = 0;
  for (std::size_t number = 0; number < file.e_shnum; ++number) {
    const Elf64_Shdr header = section(number);
    const std::size_t name = names + header.sh_name;
    if (name < cubin.size() && std::string_view(cubin.data() + name).starts_with(".text.")) bytes += header.sh_size;
  }
  return bytes / kInstructionBytes;
}

}  // namespace qsim
