// Pictures that flags of runs and plans write.
#include <gtest/gtest.h>

#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

const std::string kTurn =
    "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[2];\ncreg c[2];\nry(0.7) q[0];\nx q[1];\nmeasure q -> c;\n";

TEST(HistogramFlag, ShowsTheCountsOfTheRun) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kTurn), picture = folder.file("h.svg");
  const ProgramRun plain = run_qsim({circuit, "--seed", "3", "--json"});
  const ProgramRun run = run_qsim({circuit, "--seed", "3", "--json", "--histogram", picture});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string svg = read_text(picture);
  for (const char* bits : {"10", "11"}) {
    const std::string key = std::string("\"") + bits + "\": ";
    const std::size_t at = run.out.find(key);
    ASSERT_NE(at, std::string::npos) << run.out;
    const std::string times = std::to_string(std::stoi(run.out.substr(at + key.size())));
    EXPECT_NE(svg.find(std::string("<title>") + bits + ": " + times + ", "), std::string::npos) << svg;
  }
  EXPECT_NE(svg.find("of 1024 shots"), std::string::npos);
  EXPECT_EQ(svg.find(">00</text>"), std::string::npos);
}

TEST(HistogramFlag, ShowsTheDistributionWhereThatIsAskedFor) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kTurn), picture = folder.file("h.svg");
  const ProgramRun run = run_qsim({circuit, "--distribution", "--shots", "0", "--histogram", picture});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string svg = read_text(picture);
  EXPECT_NE(svg.find("<title>10: 0.882421</title>"), std::string::npos) << svg;  // cos(0.35)^2
  EXPECT_NE(svg.find("probability"), std::string::npos);
}

TEST(HistogramFlag, IsRefusedWhereItHasNoEffectOrWouldReplaceAFile) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kTurn), picture = folder.file("h.svg");
  EXPECT_EQ(run_qsim({circuit, "--shots", "0", "--histogram", picture}).exit_code, 2);
  EXPECT_EQ(read_text(picture), "");
  EXPECT_EQ(run_qsim({circuit, "--histogram", circuit}).exit_code, 2);
  EXPECT_EQ(run_qsim({circuit, "--histogram", picture, "--output", picture}).exit_code, 2);
  EXPECT_EQ(run_qsim({circuit, "--histogram", "/nowhere/h.svg"}).exit_code, 9);
  const ProgramRun full = run_qsim({circuit, "--histogram", "/dev/full"});
  EXPECT_EQ(full.exit_code, 9);
  EXPECT_EQ(full.out, "");
  EXPECT_EQ(read_text(circuit), kTurn);
}

TEST(PlanSvg, GoesWithTextAndJson) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kTurn), picture = folder.file("p.svg");
  const ProgramRun text = run_qsim({"plan", circuit, "--device", "h200", "--svg", picture});
  EXPECT_EQ(text.out, run_qsim({"plan", circuit, "--device", "h200"}).out);
  EXPECT_NE(read_text(picture).find("Plan of 2 qubits in double on 1 rank of h200"), std::string::npos);
  const std::string dynamic = folder.file(
      "d.qasm",
      "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[1];\ncreg c[1];\nh q[0];\nmeasure q -> c;\nif(c==1) x q[0];\n");
  EXPECT_EQ(run_qsim({"plan", dynamic, "--svg", picture, "--json"}).exit_code, 0);
  EXPECT_NE(read_text(picture).find("Program of 1 qubit"), std::string::npos);
  EXPECT_EQ(run_qsim({"plan", circuit, "--svg", circuit}).exit_code, 2);
  EXPECT_EQ(read_text(circuit), kTurn);
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

TEST(ReportFlag, HasEverySectionAndNothingFromOutside) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("<c>.qasm", kTurn), page = folder.file("r.html");
  const ProgramRun run = run_qsim({circuit, "--seed", "3", "--marginals", "--report", page});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string html = read_text(page);
  EXPECT_EQ(html.compare(0, 15, "<!DOCTYPE html>"), 0);
  for (const char* title : {"Results", "Circuit", "Plan", "Time line", "Sweeps", "Memory"}) {
    EXPECT_EQ(times(html, std::string("<h2>") + title + "</h2>"), 1u) << title;
  }
  EXPECT_EQ(times(html, "<svg "), 5u);  // histogram, circuit, plan, time line, sweeps
  EXPECT_EQ(times(html, "<svg "), times(html, "</svg>"));
  EXPECT_EQ(times(html, "<section>"), times(html, "</section>"));
  for (const char* outside : {"<script", "<link", "<img", "@import", "url(", "href", "src="}) {
    EXPECT_EQ(times(html, outside), 0u) << outside;
  }
  // The one address is the name of SVG's language.
  EXPECT_EQ(times(html, "http"), times(html, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(times(html, "<c>"), 0u);
  EXPECT_GT(times(html, "&lt;c&gt;.qasm"), 0u);
  EXPECT_NE(html.find("prefers-color-scheme: dark"), std::string::npos);
  // What the terminal says is on the page: every result, without the header above them.
  const std::size_t counts = run.out.find("counts of 1024 shots");
  ASSERT_NE(counts, std::string::npos);
  const std::string line = run.out.substr(counts, run.out.find('\n', counts) - counts);
  EXPECT_NE(html.find(line), std::string::npos) << line;
  EXPECT_NE(html.find("0.117578"), std::string::npos);  // sin(0.35)^2, the marginal of q[0]
}

TEST(ReportFlag, LargeCircuitsAreCutAndProgramsHaveNoSweeps) {
  const TemporaryFolder folder;
  const std::string page = folder.file("r.html");
  std::string text = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[3];\n";
  for (int i = 0; i < 250; ++i) text += "h q[" + std::to_string(i % 3) + "];\n";
  ASSERT_EQ(run_qsim({folder.file("c.qasm", text), "--report", page}).exit_code, 0);
  EXPECT_NE(read_text(page).find("The first 200 of 250 operations"), std::string::npos);
  EXPECT_EQ(times(read_text(page), ">H</text>"), 200u);
  const std::string loop =
      "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit q;\nbit c;\nh q;\nc = measure q;\nwhile (c) { h q; c = measure "
      "q; }\n";
  const ProgramRun run = run_qsim({folder.file("l.qasm", loop), "--report", page, "--seed", "1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(times(read_text(page), ">while c</text>"), 1u);
  EXPECT_EQ(times(read_text(page), "<h2>Sweeps</h2>"), 0u);
  EXPECT_EQ(times(read_text(page), "<h2>Plan</h2>"), 1u);
}

TEST(ReportFlag, ChangesNoAnswerAndReplacesNoInput) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kTurn), page = folder.file("r.html");
  const ProgramRun with = run_qsim({circuit, "--seed", "3", "-q", "--report", page, "--ranks", "2"});
  EXPECT_EQ(with.out, run_qsim({circuit, "--seed", "3", "-q", "--ranks", "2"}).out);
  const ProgramRun document = run_qsim({circuit, "--seed", "3", "--json", "--report", page});
  EXPECT_NE(document.out.find("\"files\": null"), std::string::npos) << document.out;
  EXPECT_EQ(run_qsim({circuit, "--report", circuit}).exit_code, 2);
  EXPECT_EQ(read_text(circuit), kTurn);
}

}  // namespace
}  // namespace qsim::test
