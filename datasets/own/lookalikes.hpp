#pragma once

#include <string>
#include <string_view>

namespace fedarena {

// What texts in UTF-8 hold that people do not see, or that looks like something else.

/// Whether nothing can be seen of the text: blanks of all kinds, and characters that only steer how others
/// are shown.
bool looks_empty(std::string_view text);

/// The text with what people type instead of it: one blank for each of Unicode's, a hyphen for its minus
/// signs, an apostrophe for the curved one, and nothing for what is not seen.
std::string as_typed(std::string_view text);

/// The text without blanks and what else is not seen, and with each accent of Latin letters behind its
/// letter, whether it was written so or as one character.
std::string as_seen(std::string_view text);

/// How many characters people see in such a text: accents are part of their letters.
std::size_t seen_letters(std::string_view text);

/// The text in double quotes, with the numbers of characters that cannot be seen or told from others:
/// "caf\u00e9", or rather "cafe\u0301".
std::string quoted_exactly(std::string_view text);

}  // namespace fedarena
