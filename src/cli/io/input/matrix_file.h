// Square matrices from .npy files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "qsim/gate.h"

namespace qsim::cli {

/// The two-dimensional square array in `path`: complex, real or whole numbers of 4 or 8 bytes, little-endian, in
/// either order. FileError.
Matrix read_matrix(const std::string& path);

/// Matrices by name, of --unitary NAME=FILE.npy (each). UsageError, FileError.
std::map<std::string, Matrix> unitaries_of(const std::vector<std::string>& given);

}  // namespace qsim::cli
