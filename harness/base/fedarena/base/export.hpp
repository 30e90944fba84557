#pragma once

/// Marks what plugins and other programs may link to; everything else stays hidden.
#define FEDARENA_API __attribute__((visibility("default")))
