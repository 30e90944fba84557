#include "results/images/npy_file.hpp"

#include <charconv>
#include <limits>

#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

// A file of version 1.0 as NumPy's documentation of the format describes it.
std::string file_of(std::string header, std::string_view values) {
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + std::string(values);
}

constexpr std::string_view kTwoFloats("\x00\x00\x80\x3F\x00\x00\x00\xC0", 8);  // 1, -2
const std::string kGoodHeader = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";

class NpyFileTest : public WithFolder {};

TEST_F(NpyFileTest, HasTheDocumentedLayout) {
  EXPECT_EQ(to_npy({{2}, Floats{1, -2}}), file_of(kGoodHeader, kTwoFloats));
  const std::string bytes = to_npy({{2, 1}, Integers{-2, 258}});
  ASSERT_EQ(bytes.size(), 128U + 16U);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, 60), "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1), } ");
  EXPECT_EQ(bytes.substr(70, 57), std::string(57, ' '));
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes.substr(128), std::string("\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02\x01\0\0\0\0\0\0", 16));
  EXPECT_EQ(to_npy({{1}, Doubles{-2}}), file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
                                                std::string_view("\0\0\0\0\0\0\0\xC0", 8)));
}

TEST_F(NpyFileTest, ReadsWhatItWrites) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Array& array :
       {Array{{2, 1, 2}, Floats{0.1F, -infinity, 1e-45F, 3}}, Array{{}, Floats{7}}, Array{{0, 3}, Floats{}},
        Array{{3}, Integers{std::numeric_limits<std::int64_t>::min(), 0, 5}}, Array{{0}, Integers{}},
        Array{{2}, Doubles{0.1, -infinity}}}) {
    put(folder_ / "a.npy", to_npy(array));
    EXPECT_EQ(read_npy(folder_ / "a.npy"), array);
  }
}

TEST_F(NpyFileTest, ReadsHeadersThatOthersLayOut) {
  for (const char* header : {"{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
                             "{'descr':'<f4','fortran_order':False,'shape':(2,)}",
                             "{'descr': '<f4', 'fortran_order': False, 'shape': (2 ,   1), }"}) {
    put(folder_ / "a.npy", file_of(header, kTwoFloats));
    EXPECT_EQ(std::get<Floats>(read_npy(folder_ / "a.npy").values), (Floats{1, -2})) << header;
  }
}

TEST_F(NpyFileTest, SaysWhatIsWrong) {
  const auto problem = [&](const std::string& bytes) {
    put(folder_ / "a.npy", bytes);
    const std::string message = message_of([&] { read_npy(folder_ / "a.npy"); });
    EXPECT_THAT(message, StartsWith((folder_ / "a.npy").string() + ": "));
    return message.substr(std::min(message.size(), (folder_ / "a.npy").string().size() + 2));
  };
  const auto of_header = [&](const std::string& header) { return problem(file_of(header, kTwoFloats)); };
  const std::string good = file_of(kGoodHeader, kTwoFloats);
  std::string version = good;
  version[6] = 2;
  EXPECT_THAT(problem(""), HasSubstr("is no .npy file\n  the file is damaged"));
  EXPECT_THAT(problem("P6 255"), HasSubstr("is no .npy file"));
  EXPECT_THAT(problem(version), HasSubstr("has version 2.0 of the format; allowed: 1.0"));
  EXPECT_THAT(problem(good.substr(0, 9)), HasSubstr("is cut short in its header"));
  EXPECT_THAT(problem(good.substr(0, 40)), HasSubstr("is cut short in its header"));
  EXPECT_THAT(problem(good.substr(0, good.size() - 1)),
              HasSubstr("holds 7 bytes of values, which does not fit its shape (2,)"));
  EXPECT_THAT(problem(good + "x"), HasSubstr("holds 9 bytes of values"));
  EXPECT_THAT(of_header("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }"),
              HasSubstr("its values are of the type '>f4'; allowed: '<f4', '<f8' or '<i8'"));
  EXPECT_THAT(of_header("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }"),
              HasSubstr("its fortran_order is True; allowed: False"));
  EXPECT_THAT(of_header("{'descr': '<f4', 'shape': (2,), }"), HasSubstr("its header has no 'fortran_order'"));
  EXPECT_THAT(of_header("{'descr': '<f4', 'fortran_order': False, }"),
              HasSubstr("its header has no 'shape'"));
  EXPECT_THAT(of_header("{'descr': '<f4', 'fortran_order': False, 'shape': 2, }"),
              HasSubstr("is not a tuple"));
  EXPECT_THAT(of_header("{'descr': '<f4', 'fortran_order': False, 'shape':"), HasSubstr("is not a tuple"));
  EXPECT_THAT(of_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }"),
              HasSubstr("its shape is (-2,)"));
  EXPECT_THAT(of_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2x,), }"),
              HasSubstr("its shape is (2x,)"));
  EXPECT_THAT(of_header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
              HasSubstr("its shape is (9999"));
  // In 64 bits the product of these is 2 again.
  EXPECT_THAT(of_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 6148914691236517206), }"),
              HasSubstr("does not fit its shape"));
  EXPECT_THAT(of_header("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }"),
              HasSubstr("holds 8 bytes of values, which does not fit its shape (2,)"));
}

TEST_F(NpyFileTest, SaysWhatIsMissing) {
  expect_refused("none.npy: cannot be read: No such file", [&] { read_npy(folder_ / "none.npy"); });
}

// numpy.savez_compressed(w=numpy.array([[1, -2]], "f4"), b=numpy.array([0.5], "f8")), by NumPy 1.26.
constexpr std::string_view kByNumPy =
    "504b03042d00000008000000210091c5fd07ffffffffffffffff05001400772e6e70790100100088000000000000004e0000"
    "00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc"
    "294e058a17672416a402f91a863a0a469a3a0ab50a64032e0686067b0606860300504b03042d000000080000002100eac519"
    "9dffffffffffffffff05001400622e6e707901001000880000000000000049000000000000009bec17ea1b10c9c850c650ad"
    "9e925a9c5ca46ea5a06e9366a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a863a9a3a0a"
    "b50a14002e063078600f00504b01022d032d00000008000000210091c5fd074e000000880000000500000000000000000000"
    "00800100000000772e6e7079504b01022d032d000000080000002100eac5199d490000008800000005000000000000000000"
    "0000800185000000622e6e7079504b0506000000000200020066000000050100000000";

std::string bytes_of(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    unsigned value = 0;
    std::from_chars(hex.data() + 2 * index, hex.data() + 2 * index + 2, value, 16);
    bytes[index] = static_cast<char>(value);
  }
  return bytes;
}

const NamedArrays kTwoArrays = {{"w", {{1, 2}, Floats{1, -2}}}, {"b", {{1}, Doubles{0.5}}}};

using NpzFileTest = NpyFileTest;

TEST_F(NpzFileTest, ReadsWhatNumPyAndItselfWrite) {
  for (const std::string& bytes : {bytes_of(kByNumPy), to_npz(kTwoArrays)}) {
    put(folder_ / "a.npz", bytes);
    EXPECT_EQ(read_npz(folder_ / "a.npz"), kTwoArrays);
  }
}

TEST_F(NpzFileTest, IsAnArchiveOfFilesThatAreNotCompressed) {
  const std::string bytes = to_npz(kTwoArrays);
  EXPECT_THAT(bytes, StartsWith("PK\x03\x04"));
  for (const auto& [name, array] : kTwoArrays) EXPECT_THAT(bytes, has_all(name + ".npy", to_npy(array)));
  EXPECT_EQ(to_npz(kTwoArrays), bytes) << "no times, no owners";
}

TEST_F(NpzFileTest, HasTheHashOfItsContent) {
  const NamedArrays turned = {kTwoArrays[1], kTwoArrays[0]};
  EXPECT_EQ(content_hash(turned), content_hash(kTwoArrays));
  for (const NamedArrays& other : {NamedArrays{{"v", kTwoArrays[0].second}, kTwoArrays[1]},
                                   NamedArrays{kTwoArrays[0], {"b", {{1}, Doubles{0.25}}}},
                                   NamedArrays{kTwoArrays[0], {"b", {{1}, Floats{0.5}}}},
                                   NamedArrays{{"w", {{2}, Floats{1, -2}}}, kTwoArrays[1]}})
    EXPECT_NE(content_hash(other), content_hash(kTwoArrays));
}

TEST_F(NpzFileTest, SaysWhatIsWrong) {
  const auto problem = [&](const std::string& bytes) {
    put(folder_ / "a.npz", bytes);
    return message_of([&] { read_npz(folder_ / "a.npz"); });
  };
  const std::string good = bytes_of(kByNumPy), none = "a.npz: is no .npz file, or it is damaged or cut off (";
  for (const std::string& bad : {std::string(), to_npy(kTwoArrays[0].second), good.substr(0, good.size() / 2),
                                 good.substr(0, good.size() - 30)})
    EXPECT_THAT(problem(bad), HasSubstr(none));
  std::string flipped = to_npz(kTwoArrays);
  flipped[flipped.find("\x93NUMPY") + 128] ^= 1;
  EXPECT_THAT(problem(flipped), HasSubstr(none + "ZIP bad CRC"));
  EXPECT_THAT(problem(to_npz({kTwoArrays[0], kTwoArrays[0]})), HasSubstr("a.npz: holds \"w\" twice"));
  std::string text = to_npz(kTwoArrays);
  for (std::size_t at = 0; (at = text.find("w.npy", at)) != std::string::npos;) text.replace(at, 5, "w.txt");
  EXPECT_THAT(problem(text),
              HasSubstr("a.npz: holds \"w.txt\", which is not an array; allowed: files NAME.npy"));
  // What NumPy would unpickle.
  expect_refused("w.npy: its values are of the type '|O'; allowed: '<f4', '<f8' or '<i8'\n  no", [&] {
    parse_npy(file_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "x"), "w.npy", "no");
  });
}

}  // namespace
}  // namespace fedarena::results
