#pragma once

#include <string>
#include <string_view>

namespace fedarena::results {

/// `text` as HTML prints it as it is, in elements and in attributes within double quotes. Line feeds and tabs
/// stay, other control characters become spaces, and bytes that are not UTF-8 become U+FFFD.
std::string html_escaped(std::string_view text);

/// An element with escaped text: <p class="note">text</p>. `attributes` is HTML, not text.
std::string html_element(std::string_view name, std::string_view text, std::string_view attributes = {});

/// JSON so that it can stand between <script type="application/json"> and </script>, whatever its texts
/// hold.
std::string json_for_script(std::string_view json);

/// `text` so that Markdown prints it as it is inside a table cell.
std::string markdown_escaped(std::string_view text);

/// `text` with “ and ” in turn for its quotation marks.
std::string with_paired_quotes(std::string_view text);

/// `text` so that LaTeX prints it as it is, but for paired quotation marks.
std::string latex_escaped(std::string_view text);

/// Bytes in base 64 (RFC 4648, section 4), padded.
std::string base64(std::string_view bytes);

}  // namespace fedarena::results
