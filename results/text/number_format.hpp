#pragma once

#include <string>

namespace fedarena::results {

/// What stands in a table where there is no value.
inline constexpr const char* kNothing = "-";

/// A number of bytes with three significant digits and a binary unit: "512 B", "1.46 KiB", "10.0 MiB".
std::string human_bytes(double bytes);

/// A number of things with three significant digits and a decimal unit (k, M, G, T, P, E): "640", "12.3 k",
/// "1.50 G".
std::string human_count(double count);

/// Seconds with about three significant digits: "0.42", "12.3", "1234".
std::string human_seconds(double seconds);

/// A fraction in percent with two decimals: 0.71234 is "71.23".
std::string percent(double fraction);

/// A measured quantity, at least 0, with four significant digits and no exponent: "0.6312", "7665", "123456".
std::string measured(double value);

/// `value` with as many decimals as `measured` gives `beside`: the spread of a mean.
std::string measured_beside(double beside, double value);

/// An epsilon with two decimals, "inf" where it is infinite. It is an upper bound, hence rounded up: the text
/// read back as a double is never below it (2.79 is "2.79", and so is 2.78664).
std::string epsilon_text(double epsilon);

/// The shortest decimal text that reads back as the same number, without zeros in the exponent: "1e-5".
std::string short_number(double value);

/// The shortest decimal text that reads back as the same number; whole numbers have no point; also "nan",
/// "inf".
std::string exact_number(double value);

}  // namespace fedarena::results
