#include "session/callers.h"

#include <array>
#include <string>

#include "base/ranks/agreement.h"
#include "qsim/error.h"

namespace qsim {

void Callers::Turn::require() const {
  if (!taken_) throw UsageError("this session is in use: one thread, and one call, at a time");
}

void Callers::agree(const Call& call) const {
  const auto check = [&] {
    if (ended_) throw UsageError("the session of this state has ended");
    if (call.check) call.check();
  };
  if (!ranks_) return check();
  const std::array<Fact, 2> facts{Fact{"the call", call.name},
                                  Fact{"arguments with the digest", std::to_string(call.arguments)}};
  require_same(*ranks_, facts);
  together(*ranks_, check);
}

}  // namespace qsim
