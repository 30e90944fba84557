#include "results/images/npy_file.hpp"

#include <limits>

#include "tests/matchers.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

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
}

TEST_F(NpyFileTest, ReadsWhatItWrites) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Array& array :
       {Array{{2, 1, 2}, Floats{0.1F, -infinity, 1e-45F, 3}}, Array{{}, Floats{7}}, Array{{0, 3}, Floats{}},
        Array{{3}, Integers{std::numeric_limits<std::int64_t>::min(), 0, 5}}, Array{{0}, Integers{}}}) {
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
    EXPECT_THAT(message, ::testing::StartsWith((folder_ / "a.npy").string() + ": "));
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
              HasSubstr("its values are of the type '>f4'; allowed: '<f4' or '<i8'"));
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
  EXPECT_THAT(message_of([&] { read_npy(folder_ / "none.npy"); }),
              HasSubstr("none.npy: cannot be read: No such file"));
}

}  // namespace
}  // namespace fedarena::results
