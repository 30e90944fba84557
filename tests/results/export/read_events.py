"""Prints what TensorBoard reads from an event file's folder: scalars by tag, and the text of the settings."""

import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0})
events.Reload()
scalars = {
    tag: [[event.wall_time, event.step, repr(event.value)] for event in events.Scalars(tag)]
    for tag in events.Tags()["scalars"]
}
metadata = events.SummaryMetadata("settings")
text = events.Tensors("settings")[0].tensor_proto.string_val[0].decode()
print(json.dumps({"scalars": scalars, "plugin": metadata.plugin_data.plugin_name, "settings": text}))
