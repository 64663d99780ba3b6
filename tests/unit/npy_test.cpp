// Headers of .npy files: what is written is read again, what numpy writes is read, and what is neither is refused.
#include "base/file/npy.h"

#include <gtest/gtest.h>

namespace qsim {
namespace {

/// A header of any version as numpy writes it.
std::string header_of(char version, const std::string& text) {
  std::string header = "\x93NUMPY";
  header += {version, 0};
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) {
    header += static_cast<char>(text.size() >> 8 * byte & 0xff);
  }
  return header + text;
}

TEST(Npy, WhatIsWrittenIsReadAgain) {
  const std::vector<std::vector<std::uint64_t>> shapes{{}, {8}, {std::uint64_t{1} << 40}, {2, 3}, {0, 1, 4}};
  for (const std::vector<std::uint64_t>& shape : shapes) {
    const std::string written = make_npy_header("<c16", shape);
    EXPECT_EQ(written.size() % 64, 0u);
    EXPECT_EQ(written.back(), '\n');
    const NpyHeader header = read_npy_header(written + "numbers");
    EXPECT_EQ(header.fault, "");
    EXPECT_EQ(header.kind, "<c16");
    EXPECT_EQ(header.shape, shape);
    EXPECT_FALSE(header.columns_first);
    EXPECT_EQ(header.bytes, written.size());
    EXPECT_EQ(npy_header_bytes(written.substr(0, kNpyPrefix)), written.size());
  }
  EXPECT_EQ(make_npy_header("<c8", std::vector<std::uint64_t>{8}).substr(10, 59),
            "{'descr': '<c8', 'fortran_order': False, 'shape': (8,), }  ");
}

TEST(Npy, OtherVersionsAndSpellingsAreRead) {
  for (const char version : {'\1', '\2', '\3'}) {
    const std::string file = header_of(version, "{ 'shape' :( 4 ,4 ),'fortran_order': True, 'descr':'<f4'}\n");
    const NpyHeader header = read_npy_header(file);
    EXPECT_EQ(header.fault, "") << int(version);
    EXPECT_EQ(header.kind, "<f4");
    EXPECT_TRUE(header.columns_first);
    EXPECT_EQ(header.shape, (std::vector<std::uint64_t>{4, 4}));
    EXPECT_EQ(header.bytes, file.size());
  }
}

TEST(Npy, WhatIsNoHeaderIsRefused) {
  const std::string good = "{'descr': '<c16', 'fortran_order': False, 'shape': (8,), }\n";
  EXPECT_EQ(read_npy_header(header_of(1, good)).fault, "");
  for (std::size_t size = 0; size < header_of(1, good).size(); ++size) {
    EXPECT_NE(read_npy_header(header_of(1, good).substr(0, size)).fault, "") << size;
  }
  for (const char version : {'\0', '\4', '\377'}) EXPECT_NE(read_npy_header(header_of(version, good)).fault, "");
  EXPECT_EQ(npy_header_bytes(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)), 0u) << "4 GiB of header";
  for (const char* text :
       {"", "{}", "{'descr': '<c16', 'fortran_order': False}", "{'descr': '<c16', 'fortran_order': False, 'shape': 8}",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (8}",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (-8,)}",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (8 8)}",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr' '<c16', 'fortran_order': False, 'shape': (8,)}"}) {
    EXPECT_NE(read_npy_header(header_of(1, std::string(text) + "          ")).fault, "") << text;
  }
  // Numbers with names: no kind at all, which no reader takes for one.
  const NpyHeader named =
      read_npy_header(header_of(1, "{'descr': [('a', '<c16')], 'fortran_order': False, 'shape': (8,), }\n"));
  EXPECT_EQ(named.fault, "");
  EXPECT_EQ(named.kind, "");
}

}  // namespace
}  // namespace qsim
