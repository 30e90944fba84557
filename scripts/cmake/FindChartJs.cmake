# Finds Chart.js, which reports embed: the minified script that a browser runs as it is, and its licence. Nothing of it
# is linked.
#
#   ChartJs_SCRIPT    the script
#   ChartJs_LICENCE   the file that states its authors and its licence
#   ChartJs_VERSION   such as 3.9.1
include(FindPackageHandleStandardArgs)

find_file(ChartJs_SCRIPT NAMES chart.min.js chart.umd.js
  PATHS /usr/share /usr/local/share
  PATH_SUFFIXES javascript/chart.js nodejs/chart.js/dist)
find_file(ChartJs_LICENCE NAMES copyright LICENSE.md
  PATHS /usr/share /usr/local/share
  PATH_SUFFIXES doc/libjs-chart.js nodejs/chart.js)
mark_as_advanced(ChartJs_SCRIPT ChartJs_LICENCE)

set(ChartJs_VERSION "")
if(ChartJs_SCRIPT)
  file(READ "${ChartJs_SCRIPT}" _beginning LIMIT 200)
  if(_beginning MATCHES "Chart\\.js v([0-9.]+)")
    set(ChartJs_VERSION "${CMAKE_MATCH_1}")
  endif()
endif()

find_package_handle_standard_args(ChartJs
  REQUIRED_VARS ChartJs_SCRIPT ChartJs_LICENCE
  VERSION_VAR ChartJs_VERSION
  REASON_FAILURE_MESSAGE "Debian: apt-get install libjs-chart.js.")
