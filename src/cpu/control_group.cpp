// Limits of control groups, version 1 and 2: a process is held by those of its own group and of every group above it.
#include <algorithm>
#include <sstream>
#include <vector>

#include "base/file/files.h"
#include "cpu/cpu_info.h"

namespace qsim::cpu {
namespace {

struct Hierarchy {
  std::string controllers;   // ",memory,"; empty for version 2
  std::string root, folder;  // what of the hierarchy is mounted, and where
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Lines of /proc/self/mountinfo: number, parent, device, root, folder, options, ... - type, source, options.
std::vector<Hierarchy> hierarchies(const std::string& root) {
  std::vector<Hierarchy> found;
  std::istringstream lines(read_system_file(root + "/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    if (dash[1] == "cgroup2") found.push_back({"", words[3], words[4]});
    if (dash[1] == "cgroup") found.push_back({"," + dash[3] + ",", words[3], words[4]});
  }
  return found;
}

/// The first number of the file, or its n-th; 0 where there is none or the file says "max".
double number_in(const std::string& file, std::size_t place = 0) {
  const std::vector<std::string> words = words_of(read_system_file(file));
  double value = 0;
  if (words.size() <= place || !(std::istringstream(words[place]) >> value)) return 0;
  return std::max(value, 0.0);  // -1: no limit
}

void read_memory(const std::string& file, ControlGroup& limits) {
  constexpr double kNoLimit = 0x1p62;  // version 1 writes the largest number of pages
  const double bytes = number_in(file);
  if (bytes <= 0 || bytes >= kNoLimit) return;
  const auto whole = static_cast<std::uint64_t>(bytes);
  if (limits.memory_bytes != 0 && whole >= limits.memory_bytes) return;
  limits.memory_bytes = whole;
  limits.memory_file = file;
}

void read_cores(double quota, double period, const std::string& file, ControlGroup& limits) {
  if (quota <= 0 || period <= 0) return;
  if (limits.cores > 0 && quota / period >= limits.cores) return;
  limits.cores = quota / period;
  limits.cores_file = file;
}

void read_group(const Hierarchy& hierarchy, const std::string& folder, ControlGroup& limits) {
  const auto controls = [&](const char* name) { return hierarchy.controllers.find(name) != std::string::npos; };
  if (hierarchy.controllers.empty()) {
    read_memory(folder + "/memory.max", limits);
    const std::string file = folder + "/cpu.max";
    read_cores(number_in(file, 0), number_in(file, 1), file, limits);
  }
  if (controls(",memory,")) read_memory(folder + "/memory.limit_in_bytes", limits);
  if (controls(",cpu,")) {
    const std::string file = folder + "/cpu.cfs_quota_us";
    read_cores(number_in(file), number_in(folder + "/cpu.cfs_period_us"), file, limits);
  }
}

/// Where the group is under the mounted part: a container may see its own group as the root, or its place outside.
std::string below_mount(const std::string& group, const std::string& mounted) {
  if (mounted == "/") return group;
  if (group.compare(0, mounted.size(), mounted) == 0) return group.substr(mounted.size());
  return "/";
}

}  // namespace

ControlGroup control_group(const std::string& root) {
  ControlGroup limits;
  static const std::vector<Hierarchy> own = hierarchies("");  // which nobody mounts anew while a process runs
  const std::vector<Hierarchy> all = root.empty() ? own : hierarchies(root);
  std::istringstream lines(read_system_file(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {  // number:controllers:group
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    for (const Hierarchy& hierarchy : all) {
      const bool same =
          hierarchy.controllers.empty()
              ? controllers.empty()
              : !controllers.empty() && ("," + controllers + ",").find(hierarchy.controllers) != std::string::npos;
      const bool shares =
          !hierarchy.controllers.empty() && !controllers.empty() &&
          hierarchy.controllers.find("," + controllers.substr(0, controllers.find(',')) + ",") != std::string::npos;
      if (!same && !shares) continue;
      std::string group = below_mount(line.substr(second + 1), hierarchy.root);
      while (true) {
        while (!group.empty() && group.back() == '/') group.pop_back();
        read_group(hierarchy, root + hierarchy.folder + group, limits);
        if (group.empty()) break;
        group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
      }
    }
  }
  return limits;
}

}  // namespace qsim::cpu
