// Charts of a run: what happens when, and how near each sweep comes to what the machine can do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace qsim::picture {

struct TimeBox {
  std::size_t row = 0;
  double begin = 0, end = 0;  // seconds
  std::size_t kind = 0;       // index into Timetable::kinds
  std::string label, tip;     // the label is left out where it does not fit
};

struct Timetable {
  std::string title;
  std::vector<std::string> notes;  // lines below the title
  std::vector<std::string> kinds;  // at most 5, each with a colour of its own; named in a legend
  std::vector<std::string> rows;
  std::vector<TimeBox> boxes;
};

std::string draw_timetable(const Timetable& table, std::size_t width);

/// A sweep under the ceilings of memory and arithmetic.
struct RooflinePoint {
  double memory_seconds = 0, arithmetic_seconds = 0;   // what either alone would take; memory above 0
  double predicted_seconds = 0, measured_seconds = 0;  // 0: not drawn
  std::string tip;
};

/// Share of the memory rate against arithmetic over memory time, both logarithmic. Points without traffic are left out.
std::string draw_roofline(const std::vector<RooflinePoint>& points, const std::string& note, std::size_t width);

}  // namespace qsim::picture
