#include "cli/io/input/matrix_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/file/files.h"
#include "base/file/npy.h"
#include "base/text.h"
#include "qsim/error.h"

namespace qsim::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

constexpr std::array<std::string_view, 6> kKinds{"c16", "c8", "f8", "f4", "i8", "i4"};
constexpr std::uint64_t kMostOrder = 1 << 15;

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), text_(read_file(path, kMostBytes)) {}

  Matrix matrix() const {
    const NpyHeader header = read_npy_header(text_);
    if (!header.fault.empty()) refuse(header.fault);
    const std::string kind = header.kind.starts_with('<') ? header.kind.substr(1) : "";
    if (std::ranges::find(kKinds, kind) == kKinds.end()) {
      refuse("its numbers are neither complex nor real, of 4 or 8 bytes each");
    }
    if (header.shape.size() != 2 || std::ranges::max(header.shape) > kMostOrder) {
      refuse("its shape is not that of a matrix");
    }
    const std::uint64_t order = header.shape[0], count = order * order;
    if (header.shape[1] != order) refuse("it is not square");
    const std::size_t width = kind == "c16" ? 16 : kind.back() == '4' ? 4 : 8;
    if (text_.size() - header.bytes != count * width) refuse("it has another length than its header says");
    Matrix matrix(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const char* const at = text_.data() + header.bytes + i * width;
      matrix[header.columns_first ? i % order * order + i / order : i] = number(kind, at);
    }
    return matrix;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw FileError("'" + escape_text(path_) + "' holds no matrix: " + what,
                    "numpy.save(FILE, matrix) writes one, of complex or real numbers");
  }

  template <class Number>
  static Number read_as(const char* at) {
    Number value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static Complex number(const std::string& kind, const char* at) {
    if (kind == "c16") return {read_as<double>(at), read_as<double>(at + 8)};
    if (kind == "c8") return {read_as<float>(at), read_as<float>(at + 4)};
    if (kind == "f8") return read_as<double>(at);
    if (kind == "f4") return read_as<float>(at);
    return kind == "i8" ? static_cast<double>(read_as<std::int64_t>(at))
                        : static_cast<double>(read_as<std::int32_t>(at));
  }

  std::string path_, text_;
};

}  // namespace

Matrix read_matrix(const std::string& path) { return Reader(path).matrix(); }

std::map<std::string, Matrix> unitaries_of(const std::vector<std::string>& given) {
  std::map<std::string, Matrix> unitaries;
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      throw UsageError("--unitary '" + escape_text(text, 60) + "' is not NAME=FILE.npy");
    }
    const std::string name = text.substr(0, equals);
    if (unitaries.contains(name)) throw UsageError("--unitary: '" + escape_text(name, 60) + "' has two matrices");
    unitaries[name] = read_matrix(text.substr(equals + 1));
  }
  return unitaries;
}

}  // namespace qsim::cli
