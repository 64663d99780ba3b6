// The rows of the table of read-outs agree with each other and with the document.
#include "runtime/answer/read_outs.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "cli/io/result/json.h"
#include "qsim/error.h"

namespace qsim {
namespace {

TEST(ReadOuts, AreAllInTheDocument) {
  std::set<std::string> read, written;
  for (const ReadOut& row : read_out_table()) EXPECT_TRUE(read.insert(row.name).second) << row.name << " twice";
  const auto document = nlohmann::json::parse(cli::result_document({}));
  for (const auto& [name, value] : document["results"].items()) written.insert(name);
  EXPECT_EQ(read, written);
}

TEST(ReadOuts, AreReadFromEveryBranchOrFromTheFinalState) {
  for (const ReadOut& row : read_out_table()) {
    EXPECT_TRUE(row.read != nullptr || row.finish != nullptr) << row.name;
    const bool of_branches = row.answered == Answered::kExactly || row.answered == Answered::kByShots;
    EXPECT_EQ(row.read != nullptr, of_branches) << row.name;
    if (row.answered != Answered::kExactly) continue;
    EXPECT_NE(row.compare, nullptr) << row.name << ": a second walk has an answer too";
    EXPECT_FALSE(row.wanted({})) << row.name << ": nobody asked";
  }
}

TEST(ReadOuts, AreShownInDifferentPlaces) {
  std::set<int> of_json, of_text;
  for (const ReadOut& row : read_out_table()) {
    EXPECT_TRUE(of_json.insert(row.shown.json_place).second) << row.name;
    EXPECT_TRUE(of_text.insert(row.shown.text_place).second) << row.name;
  }
}

TEST(ReadOuts, NeedEveryBranchOrOneStateAsTheirRowsSay) {
  const std::vector<std::vector<Qubit>> lists = {{0}};
  const std::vector<PauliSum> sums = {{"Z0", {{1, {0, 1}}}}};
  const Index index = 1;
  std::map<std::string, ReadOuts> asked;
  asked["counts"].shots = 5;
  asked["distribution"].distribution = true;
  asked["marginals"].marginals = true;
  asked["probabilities"].probabilities = lists;
  asked["expectation"].expectation = sums;
  asked["amplitudes"].amplitudes = true;
  asked["amplitudes"].indices = {&index, 1};
  asked["files"].statevector = "state.npy";
  const std::set<std::string> exact = {"distribution", "marginals", "probabilities", "expectation"};
  Circuit circuit(1, 1);
  circuit.h(0);
  circuit.add_measure(0, 0);
  circuit.h(0);
  for (const ReadOut& row : read_out_table()) {
    if (asked.count(row.name) == 0) continue;  // variables come with the others
    const ReadOuts& wanted = asked.at(row.name);
    EXPECT_TRUE(row.wanted(wanted)) << row.name;
    EXPECT_EQ(wanted.exact(), exact.count(row.name) != 0) << row.name;
    if (row.read != nullptr) {
      EXPECT_NO_THROW(require_read_outs(wanted, circuit)) << row.name;
    } else {
      EXPECT_THROW(require_read_outs(wanted, circuit), UnsupportedError) << row.name;
    }
  }
}

}  // namespace
}  // namespace qsim
