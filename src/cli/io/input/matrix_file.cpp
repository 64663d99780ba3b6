#include "cli/io/input/matrix_file.h"

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/file/files.h"
#include "base/text.h"
#include "qsim/error.h"

namespace qsim::cli {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

/// What the header of a .npy file says.
struct Header {
  std::string kind;  // "c16"
  bool columns_first = false;
  std::uint64_t rows = 0, columns = 0;
  std::size_t begin = 0;  // of the numbers
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), text_(read_file(path, kMostBytes)) {}

  Matrix matrix() const {
    const Header header = read_header();
    if (header.rows != header.columns) refuse("it is not square");
    const std::uint64_t count = header.rows * header.columns;
    const std::size_t width = header.kind == "c16" ? 16 : header.kind.back() == '4' ? 4 : 8;
    if (text_.size() - header.begin != count * width) refuse("it has another length than its header says");
    Matrix matrix(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const char* const at = text_.data() + header.begin + i * width;
      const std::uint64_t place = header.columns_first ? i % header.rows * header.columns + i / header.rows : i;
      matrix[place] = number(header.kind, at);
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

  /// What stands in the header behind `key` and its colon.
  std::string_view behind(std::string_view header, const std::string& key) const {
    const std::size_t at = header.find("'" + key + "':");
    if (at == std::string_view::npos) refuse("its header has no '" + key + "'");
    std::string_view rest = header.substr(at + key.size() + 3);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return rest;
  }

  std::uint64_t order(std::string_view& text) const {
    text.remove_prefix(std::min(text.find_first_not_of("( ,"), text.size()));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value > 1u << 15) refuse("its shape is not that of a matrix");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  }

  Header read_header() const {
    constexpr std::string_view kMagic = "\x93NUMPY";
    if (text_.size() < 12 || !text_.starts_with(kMagic)) refuse("it is no .npy file");
    const bool short_length = text_[6] == 1;
    const std::size_t length =
        short_length ? read_as<std::uint16_t>(text_.data() + 8) : read_as<std::uint32_t>(text_.data() + 8);
    Header header;
    header.begin = (short_length ? 10 : 12) + length;
    if (header.begin > text_.size()) refuse("its header is cut off");
    const std::string_view words = std::string_view(text_).substr(short_length ? 10 : 12, length);
    std::string_view kind = behind(words, "descr");
    for (const std::string_view known : {"c16", "c8", "f8", "f4", "i8", "i4"}) {
      if (kind.starts_with("'<" + std::string(known) + "'")) header.kind = known;
    }
    if (header.kind.empty()) refuse("its numbers are neither complex nor real, of 4 or 8 bytes each");
    header.columns_first = behind(words, "fortran_order").starts_with("True");
    std::string_view shape = behind(words, "shape");
    shape = shape.substr(0, shape.find(')'));
    header.rows = order(shape);
    header.columns = order(shape);
    if (shape.find_first_of("0123456789") != std::string_view::npos) refuse("it has more than two dimensions");
    return header;
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
