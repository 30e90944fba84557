// The page in a browser: whether its scripts run under its own security policy, and do what they should.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fedarena/base/child_program.hpp"

#include "results/report/report.hpp"
#include "tests/matchers.hpp"
#include "tests/results/recorded_run.hpp"
#include "tests/results/report/sample_runs.hpp"

namespace fedarena::results {
namespace {

using nlohmann::json;

// What a command prints; none where it fails.
std::optional<std::string> output_of(const std::string& command) {
  const auto shell = call_program({"sh", "-c", command});
  return shell && shell->exit_code == 0 ? std::optional(shell->out) : std::nullopt;
}

// Inserted before everything else: what goes wrong in the page, what the policy refuses included.
constexpr const char* kListener = R"(<script>
const faults = [];
addEventListener('error', (event) => faults.push(event.message));
addEventListener('securitypolicyviolation', (event) => faults.push(event.blockedURI + ' ' + event.violatedDirective));
</script>)";

// Inserted after everything else: uses the page as a reader does, and leaves what it sees in an element of
// its own.
constexpr const char* kReader = R"(<script>
addEventListener('load', async () => {
  const seen = {};
  const texts = (cells) => [...cells].map((cell) => cell.textContent);
  const turn = () => new Promise((done) => setTimeout(done, 50));
  const one = (query) => document.querySelector(query);
  const names = (query) => texts(document.querySelectorAll(query + ' tbody tr:not([hidden]) > :first-child'));
  const click = (query, text) => [...document.querySelectorAll(query)].find((button) => button.textContent === text).click();
  const choose = (title, text) => {
    const select = [...document.querySelectorAll('#chart-controls label')].find((label) => label.firstChild.textContent === title).querySelector('select');
    select.value = [...select.options].find((option) => option.textContent === text).value;
    select.dispatchEvent(new Event('change'));
  };
  const coloured = (red, green, blue) => {
    const canvas = one('#chart-canvas');
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let count = 0;
    for (let i = 0; i < pixels.length; i += 4) count += pixels[i] === red && pixels[i + 1] === green && pixels[i + 2] === blue && pixels[i + 3] === 255;
    return count;
  };
  const ends = () => [...document.querySelectorAll('#chart-ends tr')].map((row) => texts(row.cells).join(' | '));
  try {
    await turn();
    seen.blue = coloured(0x00, 0x72, 0xb2);
    seen.orange = coloured(0xd5, 0x5e, 0x00);
    seen.rows = names('#results');
    click('#results th button', 'accuracy (%)');
    seen.ascending = names('#results');
    seen.direction = one('#results th[aria-sort]').getAttribute('aria-sort');
    click('#results th button', 'accuracy (%)');
    seen.descending = names('#results');
    click('#results th button', 'algorithm');
    seen.alphabetical = names('#results');
    seen.sorted = document.querySelectorAll('#results th[aria-sort]').length;
    const search = one('#runs input[type=search]');
    search.value = ' FEDAVG ';
    search.dispatchEvent(new Event('input', {bubbles: true}));
    seen.filtered = names('#runs').length;
    seen.count = one('#runs output').textContent;

    seen.ends = ends();
    choose('Horizontal axis', 'bytes sent, up and down (MiB)');
    choose('Vertical axis', 'loss');
    seen.switched = ends();
    location.hash = 'x=epsilon&y=accuracy&panel=7';
    await turn();
    seen.addressed = ends();
    location.hash = 'x=round&y=radius';
    await turn();
    seen.observed = ends();
    location.hash = 'x=round&y=accuracy';
    await turn();
    one('#chart-curves input').click();
    seen.toggled = ends().length;
    seen.without = coloured(0x00, 0x72, 0xb2);
    const press = (key) => one('#chart-canvas').dispatchEvent(new KeyboardEvent('keydown', {key}));
    press('ArrowRight');
    press('ArrowLeft');
    seen.point = one('#chart-point').textContent;

    const focusable = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')].filter((element) => element.checkVisibility());
    seen.first = focusable[0].textContent;
    seen.jumps = focusable.filter((element) => element.tabIndex !== 0).length;
    seen.nameless = focusable.filter((element) => !(element.textContent.trim() || element.ariaLabel || (element.labels && element.labels[0].textContent.trim()))).map((element) => element.outerHTML);
    seen.unlabelled = [...document.querySelectorAll('svg[role=img], canvas, img, section, nav')].filter((element) => !(element.ariaLabel || element.alt || element.getAttribute('aria-labelledby'))).map((element) => element.outerHTML);
    const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
    seen.twice = ids.filter((id, i) => ids.indexOf(id) !== i);
    seen.wide = document.documentElement.scrollWidth > innerWidth;
    const printed = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.media?.mediaText === 'print');
    const unprinted = printed.flatMap((rule) => [...rule.cssRules]).filter((rule) => rule.style.display === 'none').map((rule) => rule.selectorText).join();
    seen.summaries = document.querySelectorAll('details:not([open]) > summary').length;
    seen.unprinted = [...document.querySelectorAll('summary')].filter((summary) => summary.closest(unprinted)).length;
  } catch (error) {
    faults.push(String(error.stack));
  }
  seen.faults = faults;
  const holder = Object.assign(document.createElement('script'), {type: 'application/json', id: 'seen'});
  holder.textContent = JSON.stringify(seen).replaceAll('<', '\\u003c');
  document.body.append(holder);
});
</script>)";

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (!output_of("command -v chromium")) {
      GTEST_SKIP() << "chromium is not installed: the page is not tried in a browser";
    }
    write_run(folder_ / "runs/a", "fedavg", 1, 0.5);
    write_run(folder_ / "runs/b", "fedavg", 2, 0.6);
    write_run(folder_ / "runs/c", "scaffold", 1, 0.25);
    write_run(folder_ / "runs/d", "zeta", 1, 0.05, {.round = [](RoundRecord& round) {
                round.observed = {{"radius", 0.5 * static_cast<double>(round.round)}};
              }});
    const RecordedRun recorded(folder_ / "runs/e", {});
    html_ = make_report(find_runs(std::vector{folder_ / "runs"})).html;
  }

  // The page as the browser has it when its scripts have run.
  std::string dom_of(const std::string& html, const std::string& options = "") const {
    const std::filesystem::path page = folder_.write("report.html", html);
    const std::string command = fmt::format(
        "timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
        "--user-data-dir={} --virtual-time-budget=5000 {} --dump-dom file://{} 2>/dev/null",
        (folder_ / "profile").string(), options, page.string());
    const std::optional<std::string> dom = output_of(command);
    EXPECT_TRUE(dom) << command;
    return dom.value_or("");
  }

  // What the reader saw. Its scripts need a policy that lets them run.
  json seen(const std::string& options = "--window-size=1200,900") const {
    std::string html = html_;
    const std::size_t begin = html.find("script-src "), end = html.find(';', begin);
    html.replace(begin, end - begin, "script-src 'unsafe-inline'");
    html.insert(html.find("<title>"), kListener);
    html.insert(html.rfind("</body>"), kReader);
    const std::string dom = dom_of(html, options), mark = "id=\"seen\">";
    const std::size_t at = dom.find(mark);
    if (at == std::string::npos) {
      ADD_FAILURE() << "the reader did not finish:\n" << dom.substr(0, 2000);
      return json::object();
    }
    const std::size_t from = at + mark.size();
    return json::parse(dom.substr(from, dom.find("</script>", from) - from));
  }

  const Scratch folder_;
  std::string html_;
};

TEST_F(Browser, RunsTheScriptsUnderTheirOwnPolicy) {
  const std::string dom = dom_of(html_);
  EXPECT_THAT(dom, has_all("data-tables=\"ready\"", "data-curves=\"4\"",
                           "aria-label=\"accuracy (%) over round: dp-fedavg, fedavg, scaffold, zeta."));
}

// What somebody slips into the page does not run.
TEST_F(Browser, RunsNoOtherScript) {
  std::string html = html_;
  html.insert(html.find("</main>"),
              "<script>document.documentElement.dataset.evil = 1</script>"
              "<img src=x onerror=\"document.documentElement.dataset.evil = 1\">");
  const std::string dom = dom_of(html);
  EXPECT_THAT(dom, HasSubstr("data-tables=\"ready\""));
  EXPECT_EQ(dom.find("data-evil"), std::string::npos);
}

TEST_F(Browser, SortsFiltersAndDraws) {
  const json seen = this->seen();
  EXPECT_THAT(seen["faults"], IsEmpty()) << seen["faults"];
  EXPECT_GT(seen["blue"], 200);
  EXPECT_GT(seen["orange"], 200);
  EXPECT_THAT(seen["rows"], ElementsAre("dp-fedavg", "fedavg", "scaffold", "zeta"));
  EXPECT_THAT(seen["ascending"], ElementsAre("zeta", "scaffold", "fedavg", "dp-fedavg"));
  EXPECT_EQ(seen["direction"], "ascending");
  EXPECT_THAT(seen["descending"], ElementsAre("dp-fedavg", "fedavg", "scaffold", "zeta"));
  EXPECT_THAT(seen["alphabetical"], ElementsAre("dp-fedavg", "fedavg", "scaffold", "zeta"));
  EXPECT_EQ(seen["sorted"], 1);
  EXPECT_EQ(seen["filtered"], 3);
  EXPECT_EQ(seen["count"], "3 of 5 rows");
}

TEST_F(Browser, SwitchesAxesAndCurves) {
  const json seen = this->seen();
  EXPECT_THAT(seen["faults"], IsEmpty()) << seen["faults"];
  EXPECT_THAT(seen["ends"],
              ElementsAre("curve | seeds | points | last round | accuracy (%) | round",
                          "dp-fedavg | 1 | 4 | 4 | 75.00 | 4", "fedavg | 2 | 6 | 8 | 55.00 ± 7.07 | 8",
                          "scaffold | 1 | 6 | 8 | 25.00 | 8", "zeta | 1 | 6 | 8 | 5.00 | 8"));
  // fedavg: 8 x (40,960 + 81,920) bytes, and 1,000 x ((seed + round) mod 4) in every round: 12,000.
  EXPECT_EQ(seen["switched"][0],
            "curve | seeds | points | last round | loss | bytes sent, up and down (MiB)");
  EXPECT_EQ(seen["switched"][2], "fedavg | 2 | 6 | 8 | 0.5 ± 0 | 0.94894");
  // The others have no epsilon; a panel that is not there changes nothing.
  EXPECT_THAT(seen["addressed"][1], StartsWith("dp-fedavg | 1 | 4 | 4 | 75.00 | "));
  EXPECT_EQ(seen["addressed"][2], "fedavg | 2 | 0 | - | - | -");
  EXPECT_THAT(seen["observed"], ElementsAre("curve | seeds | points | last round | radius | round",
                                            "dp-fedavg | 1 | 0 | - | - | -", "fedavg | 2 | 0 | - | - | -",
                                            "scaffold | 1 | 0 | - | - | -", "zeta | 1 | 8 | 8 | 4 | 8"));
  EXPECT_EQ(seen["toggled"], 4);
  EXPECT_LT(seen["without"], 20);
  EXPECT_EQ(seen["point"], "fedavg, round 7: accuracy (%) 48.13 ± 6.19, round 7");
}

TEST_F(Browser, CanBeUsedWithAKeyboardAndByEar) {
  const json seen = this->seen();
  EXPECT_EQ(seen["first"], "Skip to the content");
  EXPECT_EQ(seen["jumps"], 0);
  EXPECT_THAT(seen["nameless"], IsEmpty()) << seen["nameless"];
  EXPECT_THAT(seen["unlabelled"], IsEmpty()) << seen["unlabelled"];
  EXPECT_THAT(seen["twice"], IsEmpty()) << seen["twice"];
  EXPECT_EQ(seen["wide"], false);
}

// Their lines hold the claims of a report, which paper cannot open.
TEST_F(Browser, PrintsTheSummariesOfWhatIsClosed) {
  const json seen = this->seen();
  EXPECT_GT(seen["summaries"], 2);
  EXPECT_EQ(seen["unprinted"], 0);
}

// The row that the table marks is among the curves that are drawn at first, and the caption counts these.
TEST_F(Browser, SaysWhichCurvesAreDrawn) {
  const Scratch folder;
  for (int i = 0; i < 12; ++i) {
    const std::string label = fmt::format("algorithm-{:02}", i);
    for (const std::int64_t seed : {1, 2, 3})
      write_run(folder / fmt::format("{}-{}", label, seed), label, seed, i == 11 ? 0.9 : 0.3);
  }
  write_run(folder / "letters", "fedavg", 1, 0.5,
            {.summary = [](Summary& summary) { summary.dataset = "letters"; }});
  const std::string html = make_report(find_runs(std::vector{folder.path()})).html;
  const std::string dom = dom_of(html);
  EXPECT_THAT(dom, has_all("data-curves=\"10\"",
                           "<p id=\"chart-caption\">data set digits: 10 of 12 curves are drawn</p>",
                           "algorithm-08, algorithm-11. The table below"));
}

TEST_F(Browser, FitsANarrowWindow) { EXPECT_EQ(seen("--window-size=500,900")["wide"], false); }

}  // namespace
}  // namespace fedarena::results
