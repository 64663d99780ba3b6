// What happens when: rows of boxes along an axis of time.
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

}  // namespace qsim::picture
