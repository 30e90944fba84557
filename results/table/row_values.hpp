#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/table/table.hpp"

namespace fedarena::results {

/// What a row is about, by key: `experiment`, `dataset`, `partition`, `model` (as the table writes them), the
/// paths of their settings ("partition.kind", "partition.alpha", "data.name"), what a grid gives
/// ("training.rate"), `label`, `algorithm` and its parameters ("mu"), `rounds` (planned), `clients`,
/// `parameters`, `seeds`, `policy`, `epsilon` (RDP) and `epsilon_pld` as tables print them, `delta`, `unit`,
/// `adjacency`.
Sweep row_values(const Row& row);

/// The value of a row under a key; none where the key does not concern it.
std::optional<std::string> row_value(const Row& row, const std::string& key);

/// The keys that any row of the table has, in natural order.
std::vector<std::string> row_keys(const Table& table);

/// The key that `text` names: one of `keys`, another spelling of one ("data set" for `dataset`), or the end
/// of one path ("alpha" for "partition.alpha"). None when there is no such key; Error when `text` ends
/// several.
std::optional<std::string> find_row_key(const std::vector<std::string>& keys, const std::string& text);

/// The Error about a text that names no key.
[[noreturn]] void reject_row_key(const std::vector<std::string>& keys, const std::string& text);

/// Whether the row has that value: the same text, the same number, or a choice of that name ("iid" for
/// "iid (clients = 10)").
bool has_value(const Row& row, const std::string& key, const std::string& value);

/// The keys that tell two rows apart, the most exact ones: "partition.alpha" rather than "partition".
std::vector<std::string> keys_that_differ(const Row& left, const Row& right);

}  // namespace fedarena::results
