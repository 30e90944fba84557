#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace fedarena {

/// Exit codes of the program.
inline constexpr int kSuccess = 0;
inline constexpr int kBug = 1;            ///< a broken invariant of ours
inline constexpr int kUserError = 2;      ///< bad input of any kind
inline constexpr int kInterrupted = 130;  ///< stopped by Ctrl-C; what was complete is kept

/// What a command does after its arguments are parsed; returns the exit code.
using Action = std::function<int()>;

/// Each adds its subcommand to the program and sets `action` when it is the one that was called.
void add_run_command(CLI::App& app, Action& action);
void add_submit_command(CLI::App& app, Action& action);
void add_partition_command(CLI::App& app, Action& action);
void add_attack_command(CLI::App& app, Action& action);
void add_fid_command(CLI::App& app, Action& action);
void add_model_command(CLI::App& app, Action& action);
void add_table_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_watch_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_full_verify_command(CLI::App& app, Action& action);  ///< the same, in a program that can load data
void add_privacy_command(CLI::App& app, Action& action);
void add_images_command(CLI::App& app, Action& action);
void add_plot_command(CLI::App& app, Action& action);
void add_export_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_bundle_command(CLI::App& app, Action& action);
void add_replay_command(CLI::App& app, Action& action);
void add_epsilon_command(CLI::App& app, Action& action);
void add_noise_command(CLI::App& app, Action& action);
void add_data_command(CLI::App& app, Action& action);
void add_plugins_command(CLI::App& app, Action& action);
void add_help_command(CLI::App& app, Action& action);

/// Each adds its command below `fedarena data`.
void add_data_list(CLI::App& data, Action& action);
void add_data_info(CLI::App& data, Action& action);
void add_data_verify(CLI::App& data, Action& action);
void add_data_fetch(CLI::App& data, Action& action);
void add_data_preview(CLI::App& data, Action& action);

}  // namespace fedarena
