// The session that a batch runs in.
#pragma once

#include <cstddef>
#include <functional>

#include "device/backend.h"
#include "device/batch/batch_program.h"
#include "qsim/batch.h"
#include "session/session_impl.h"

namespace qsim {

/// Opened on the one device that the target means for these evaluations of `program`. UsageError for targets of several
/// and for those that compute nothing.
class BatchSession {
 public:
  BatchSession(const BatchProgram& program, std::size_t evaluations, const Target& target,
               const std::function<void(const Progress&)>& progress = {});

  BackendKind backend() const { return session_.target.backend; }
  /// Gives `work` the device and where to tell how far it is; what it throws comes out, as what the caller's progress
  /// function throws does.
  void run(const std::function<void(const BackendOptions&, const std::function<void(double)>&)>& work);

 private:
  Session::Impl session_;
};

}  // namespace qsim
