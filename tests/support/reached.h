// Tables of what plans, programs and passes have reached. What is found must be what the table says: more is a loss,
// and less is a gain that the table has to hold from then on, or a wrong count.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

namespace qsim::test {

/// `found` and `reached` are arrays of numbers; `tolerance` is relative.
template <class Values>
void expect_reached(const Values& found, const Values& reached, double tolerance = 0) {
  bool same = true;
  std::string row;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto now = static_cast<double>(found[i]), before = static_cast<double>(reached[i]);
    same = same && std::abs(now - before) <= tolerance * std::abs(before);
    char text[32];
    std::snprintf(text, sizeof(text), "%s%.9g", row.empty() ? "" : ", ", now);
    row += text;
  }
  EXPECT_TRUE(same) << "the table's row would now be {" << row << "}";
}

}  // namespace qsim::test
