#include "datasets/own/lookalikes.hpp"

#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "fedarena/base/text.hpp"

namespace fedarena {
namespace {

// Unicode's categories Zs, Zl and Zp, and the controls that move on.
constexpr std::array<char32_t, 22> kBlanks = {0x09,   0x0d,   0x20,   0x20,   0x85,   0x85,   0xa0,   0xa0,
                                              0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f,
                                              0x205f, 0x205f, 0x2800, 0x2800, 0x3000, 0x3000};
// Default_Ignorable_Code_Point, without the tags of which flags are made, and interlinear marks.
constexpr std::array<char32_t, 28> kUnseen = {0xad,   0xad,   0x34f,  0x34f,  0x61c,  0x61c,  0x115f,
                                              0x1160, 0x17b4, 0x17b5, 0x180b, 0x180f, 0x200b, 0x200f,
                                              0x202a, 0x202e, 0x2060, 0x206f, 0x3164, 0x3164, 0xfe00,
                                              0xfe0f, 0xfeff, 0xfeff, 0xffa0, 0xffa0, 0xfff9, 0xfffb};
constexpr std::array<char32_t, 8> kMinuses = {0x2010, 0x2013, 0x2212, 0x2212, 0xfe63, 0xfe63, 0xff0d, 0xff0d};

struct Accented {
  char32_t accent;
  std::u32string_view pairs;  // a letter, and the same one with the accent
};

// The letters of Latin-1 and Latin Extended-A that Unicode decomposes, and Romanian's commas. Not of other
// scripts, and none with two accents.
constexpr std::array<Accented, 14> kAccented = {{{0x300, U"AÀEÈIÌOÒUÙaàeèiìoòuù"},
                                                 {0x301, U"AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzź"},
                                                 {0x302, U"AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷ"},
                                                 {0x303, U"AÃNÑOÕaãnñoõIĨiĩUŨuũ"},
                                                 {0x304, U"AĀaāEĒeēIĪiīOŌoōUŪuū"},
                                                 {0x306, U"AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭ"},
                                                 {0x307, U"CĊcċEĖeėGĠgġIİZŻzż"},
                                                 {0x308, U"AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸ"},
                                                 {0x30a, U"AÅaåUŮuů"},
                                                 {0x30b, U"OŐoőUŰuű"},
                                                 {0x30c, U"CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzž"},
                                                 {0x326, U"SȘsșTȚtț"},
                                                 {0x327, U"CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţ"},
                                                 {0x328, U"AĄaąEĘeęIĮiįUŲuų"}}};

// Takes each character of well-formed UTF-8: its number and its bytes.
template <typename Take>
void for_each_character(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const std::string_view bytes = text.substr(0, length);
    take(code_point(bytes), bytes);
    text.remove_prefix(bytes.size());
  }
}

bool is_accent(char32_t code) { return 0x300 <= code && code <= 0x36f; }

// Appends the letter and its accent; false where the character is not known as such.
bool append_apart(std::string& text, char32_t code) {
  if (code < 0xc0 || code > 0x21b) return false;
  for (const auto& [accent, pairs] : kAccented) {
    for (std::size_t at = 1; at < pairs.size(); at += 2) {
      if (pairs[at] != code) continue;
      text += static_cast<char>(pairs[at - 1]);
      text += static_cast<char>(0xc0 | accent >> 6);
      text += static_cast<char>(0x80 | (accent & 0x3f));
      return true;
    }
  }
  return false;
}

}  // namespace

bool looks_empty(std::string_view text) {
  bool empty = true;
  for_each_character(text, [&](char32_t code, std::string_view) {
    empty = empty && (is_in(kBlanks, code) || is_in(kUnseen, code));
  });
  return empty;
}

std::string as_typed(std::string_view text) {
  std::string typed;
  for_each_character(text, [&](char32_t code, std::string_view bytes) {
    if (is_in(kUnseen, code)) return;
    if (is_in(kBlanks, code))
      typed += ' ';
    else if (is_in(kMinuses, code))
      typed += '-';
    else if (code == 0x2019)
      typed += '\'';
    else
      typed += bytes;
  });
  return typed;
}

std::string as_seen(std::string_view text) {
  std::string seen;
  for_each_character(text, [&](char32_t code, std::string_view bytes) {
    if (is_in(kUnseen, code) || is_in(kBlanks, code) || append_apart(seen, code)) return;
    seen += bytes;
  });
  return seen;
}

std::size_t seen_letters(std::string_view text) {
  std::size_t count = 0;
  for_each_character(text, [&](char32_t code, std::string_view) { count += is_accent(code) ? 0 : 1; });
  return count;
}

std::string quoted_exactly(std::string_view text) {
  std::string exactly;
  for_each_character(quoted(text), [&](char32_t code, std::string_view bytes) {
    const bool told_apart = code == ' ' || !(is_in(kBlanks, code) || is_in(kUnseen, code) ||
                                             is_in(kMinuses, code) || is_accent(code));
    exactly += told_apart ? std::string(bytes) : fmt::format("\\u{:04x}", static_cast<unsigned>(code));
  });
  return exactly;
}

}  // namespace fedarena
