#pragma once

#include <string>

namespace fedarena::results {

/// What stands in a table where there is no value.
inline constexpr const char* kNothing = "-";

/// A number with few digits in a unit: "1.46" and " KiB".
struct ScaledNumber {
  std::string digits;
  std::string unit;  ///< with the space before it
  double value = 0;  ///< of these digits in this unit: 1495.04

  std::string text() const { return digits + unit; }
};

/// A number of bytes with three significant digits and a binary unit: "512 B", "1.46 KiB", "10.0 MiB".
ScaledNumber scaled_bytes(double bytes);
std::string human_bytes(double bytes);

/// A number of things with three significant digits and a decimal unit (k, M, G, T, P, E): "640", "12.3 k",
/// "1.50 G".
ScaledNumber scaled_count(double count);
std::string human_count(double count);

/// Seconds with two or three significant digits: "0.0042", "0.42", "12.3", "1234"; "0.00" only for none.
std::string human_seconds(double seconds);

/// A fraction in percent with two decimals: 0.71234 is "71.23".
std::string percent(double fraction);

/// A measured quantity, at least 0, with four significant digits and no exponent: "0.6312", "7665", "123456".
std::string measured(double value);

/// `value` with as many decimals as `measured` gives `beside`: the spread of a mean.
std::string measured_beside(double beside, double value);

/// The least number of so many significant digits that is not below `number`, and the greatest one that is
/// not above it.
double rounded_up(double number, int digits);
double rounded_down(double number, int digits);

/// An epsilon with two decimals, "inf" where it is infinite. It is an upper bound, hence rounded up: the text
/// read back as a double is never below it (2.79 is "2.79", and so is 2.78664).
std::string epsilon_text(double epsilon);

/// An epsilon, or another upper bound of an accountant, with four decimals, or with four digits where that is
/// more of them, so that nothing but 0 looks like 0; "inf". Rounded up like epsilon_text().
std::string epsilon_number(double number);

/// The same of a lower bound, rounded down.
std::string lower_bound_number(double number);

/// A time for people, in two units at most: "12 s", "3 min 05 s", "2 h 07 min", "3 d 04 h".
std::string duration_text(double seconds);

/// The text of a number without zeros that its exponent does not need: "1e-05" is "1e-5".
std::string short_exponent(std::string text);

/// The shortest decimal text that reads back as the same number, with a short exponent: "1e-5".
std::string short_number(double value);

/// The shortest decimal text that reads back as the same number; whole numbers have no point; also "nan",
/// "inf".
std::string exact_number(double value);

}  // namespace fedarena::results
