// The page of `run --report` in a browser: by lamp and by daylight, on a telephone and on a wide screen.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

using Json = nlohmann::json;

/// What a browser without a screen makes of the page at `address`.
ProgramRun show(const std::string& browser, const std::string& profile, bool dark, const std::string& address) {
  return run_command({browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                      "--window-size=1700,1000", "--user-data-dir=" + profile,
                      std::string("--blink-settings=preferredColorScheme=") + (dark ? "0" : "1"), "--dump-dom",
                      address});
}

/// A browser that shows an empty page here; empty where there is none.
std::string find_browser(const std::string& profile) {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "chrome"}) {
    if (run_command({name, "--version"}).exit_code != 0) continue;
    const ProgramRun empty = show(name, profile, false, "about:blank");
    if (empty.exit_code == 0 && empty.out.find("<html") != std::string::npos) return name;
  }
  return "";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}
/// As the value of an attribute.
std::string as_attribute(const std::string& markup) { return replaced(replaced(markup, "&", "&amp;"), "\"", "&quot;"); }

/// Appended to the page: says how wide it is beside its window, and which texts are hard to read (the contrast of WCAG
/// 2 below 4.5) on what lies beneath them.
constexpr const char* kProbe = R"js(<script>
(() => {
  const numbers = text => (text.match(/[\d.]+/g) || []).map(Number);
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const paint = one => {
    const style = getComputedStyle(one);
    if (!(one instanceof SVGElement)) return numbers(style.backgroundColor);
    return one instanceof SVGGeometryElement && style.fillOpacity > 0.5 ? numbers(style.fill) : [];
  };
  const hard = [];
  let texts = 0;
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some(one => one.nodeType === 3 && one.textContent.trim());
    if (!own || node.closest("script, style, title")) continue;
    const box = node.getBoundingClientRect();
    const beneath = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (!beneath.includes(node)) continue;  // scrolled out of sight
    texts += 1;
    const colors = beneath.slice(beneath.indexOf(node)).map(paint).filter(c => c.length === 3 || c[3] > 0.5);
    if (!(node instanceof SVGElement) || colors.length === 0) colors.push(numbers(getComputedStyle(document.body).backgroundColor));
    const style = getComputedStyle(node);
    const found = contrast(numbers(node instanceof SVGElement ? style.fill : style.color), colors[0]);
    if (!(found >= 4.5)) hard.push(found.toFixed(2) + " " + node.textContent.trim().slice(0, 40));
  }
  window.told = {width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches, texts, hard,
    beyond: document.documentElement.scrollWidth - innerWidth,
    fetched: performance.getEntriesByType("resource").length
};
})();
</script>)js";

TEST(ReportPage, IsReadInAnyLightAndOnAnyScreen) {
  const TemporaryFolder folder;
  const std::string browser = find_browser(folder.file("profile"));
  if (browser.empty()) GTEST_SKIP() << "no chromium that runs here";
  const std::string circuit = folder.file("a_circuit_with_rather_a_long_name.qasm", R"(OPENQASM 2.0;
include "qelib1.inc";
qreg q[5]; creg c[5];
h q[0]; cx q[0],q[1]; cx q[1],q[2]; rz(0.3) q[2]; cx q[2],q[3]; ry(0.7) q[4]; cx q[3],q[4]; cu1(0.4) q[0],q[4];
measure q -> c;
)");
  const ProgramRun run =
      run_qsim({circuit, "--seed", "3", "--marginals", "--ranks", "2", "--report", folder.file("page.html")});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::string page = read_text(folder.file("page.html"));
  const std::size_t end = page.rfind("</body>");
  ASSERT_NE(end, std::string::npos);
  page.insert(end, kProbe);
  const std::vector<int> widths{400, 600, 1000, 1600};
  std::string frames = "<title></title>";
  for (const int width : widths) {
    frames += "<iframe width=\"" + std::to_string(width) + "\" height=\"8000\" style=\"border:0\" srcdoc=\"" +
              as_attribute(page) + "\"></iframe>";
  }
  frames +=
      "<script>addEventListener('load', () => { document.title = JSON.stringify("
      "[...document.querySelectorAll('iframe')].map(frame => frame.contentWindow.told)); });</script>";
  const std::string address = "file://" + folder.file("frames.html", frames);
  for (const bool dark : {true, false}) {
    SCOPED_TRACE(dark ? "dark" : "light");
    const ProgramRun shown = show(browser, folder.file("profile"), dark, address);
    ASSERT_EQ(shown.exit_code, 0) << shown.err;
    const std::size_t from = shown.out.find("<title>"), to = shown.out.find("</title>");
    ASSERT_TRUE(from != std::string::npos && to != std::string::npos) << shown.out;
    const Json all = Json::parse(replaced(shown.out.substr(from + 7, to - from - 7), "&amp;", "&"));
    ASSERT_EQ(all.size(), widths.size());
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const Json& one = all[i];
      SCOPED_TRACE(one.dump());
      EXPECT_EQ(one.at("width"), widths[i]);
      EXPECT_EQ(one.at("dark"), dark);
      EXPECT_LE(one.at("beyond"), 0) << "the page is wider than its window";
      EXPECT_GT(one.at("texts"), 60);
      EXPECT_TRUE(one.at("hard").empty());
      EXPECT_EQ(one.at("fetched"), 0);
    }
  }
}

}  // namespace
}  // namespace qsim::test
