#include "results/text/html.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "results/report/asset.hpp"

namespace fedarena::results {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Html, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(html_escaped("<b a=\"1\" c='2'>&amp;</b>"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(html_escaped("94.07 ± 0.26†"), "94.07 ± 0.26†");
}

TEST(Html, KeepsLinesAndDropsOtherControls) {
  EXPECT_EQ(html_escaped("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(html_escaped(std::string("a\0b\x1B[31m\x7F", 9)), "a b [31m ");
}

// A lone byte of a longer code, and an overlong "<".
TEST(Html, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(html_escaped("a\xC3"), "a\xEF\xBF\xBD");
  EXPECT_THAT(html_escaped("\xC0\xBCscript"), Not(HasSubstr("\xC0")));
}

TEST(Html, ElementsHoldTextAlone) {
  EXPECT_EQ(html_element("p", "1 < 2"), "<p>1 &lt; 2</p>");
  EXPECT_EQ(html_element("p", "x", "class=\"note\""), "<p class=\"note\">x</p>");
}

TEST(Html, JsonCannotEndItsScript) {
  const nlohmann::json json = {{"name", "</script><!--<script>&amp;\u2028"}};
  const std::string text = json_for_script(json.dump());
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_THAT(text, Not(HasSubstr("&")));
  EXPECT_EQ(nlohmann::json::parse(text), json);
}

// The vectors of RFC 4648, section 10.
TEST(Base64, IsThatOfItsStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, TakesBytesOfEveryValue) { EXPECT_EQ(base64("\xFB\xFF\xBE"), "+/++"); }

}  // namespace
}  // namespace fedarena::results
