#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What TensorBoard's and Weights & Biases' own packages read of files that Fourfold wrote, and files that they write.

read_back.py FOLDER RUN: writes a run of each below FOLDER/theirs, and prints one JSON object: "tensorboard", by tag its
[step, value] in order; "hyperparameters", those that its plugin finds, with the plan's text and what it says of each
tag; "wandb", the kinds of all records, the run's id, name and config, the rows of its history, its last summary and its
exit code.
"""
import importlib.util
import json
import pathlib
import struct
import sys
import types

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def scalars(folder):
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {tag: [[event.step, event.value] for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def hyperparameters(folder):
    """What the plugin reads, the text beside it, and what TensorBoard says of each scalar."""
    from google.protobuf.json_format import MessageToDict
    from tensorboard.plugins.hparams import metadata
    from tensorboard.util.tensor_util import make_ndarray

    events = EventAccumulator(str(folder))
    events.Reload()
    content = events.PluginTagToContent("hparams")
    start = metadata.parse_session_start_info_plugin_data(content[metadata.SESSION_START_INFO_TAG])
    end = metadata.parse_session_end_info_plugin_data(content[metadata.SESSION_END_INFO_TAG])
    text = make_ndarray(events.Tensors("plan")[0].tensor_proto).item().decode()
    return {"settings": {name: MessageToDict(value) for name, value in sorted(start.hparams.items())},
            "start": start.start_time_secs, "status": end.status, "end": end.end_time_secs,
            "text": [list(events.PluginTagToContent("text")), text],
            "about": {tag: events.SummaryMetadata(tag).summary_description for tag in events.Tags()["scalars"]}}


def data_store():
    """The package's own reader and writer. The package itself wants to be set up for an account: its parts do not."""
    root = next(path for path in (pathlib.Path(entry) / "wandb" for entry in sys.path) if (path / "sdk").is_dir())
    package = types.ModuleType("wandb")
    package.__path__ = [str(root)]
    package._assert_is_internal_process = True
    sys.modules["wandb"] = package
    spec = importlib.util.spec_from_file_location("datastore", root / "sdk" / "internal" / "datastore.py")
    datastore = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(datastore)
    return datastore.DataStore()


def records(file):
    store = data_store()
    from wandb.proto import wandb_internal_pb2

    store.open_for_scan(str(file))
    while (data := store.scan_data()) is not None:
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        yield record


def values(items):
    return {(item.key or "/".join(item.nested_key)): json.loads(item.value_json) for item in items}


def run_of(file):
    run = {"kinds": [], "history": []}
    for number, record in enumerate(records(file)):
        kind = record.WhichOneof("record_type")
        assert record.num == number + 1
        run["kinds"].append(kind)
        if kind == "run":
            run.update(id=record.run.run_id, name=record.run.display_name, config=values(record.run.config.update),
                       started=record.run.start_time.ToJsonString())
        elif kind == "history":
            run["history"].append([record.history.step.num, values(record.history.item)])
        elif kind == "summary":
            run["summary"] = values(record.summary.update)
        elif kind == "exit":
            run["exit"] = [record.exit.exit_code, record.exit.runtime]
    return run


def write_board(folder, steps):
    """Scalars as TensorFlow 1, PyTorch and TensorFlow 2 write them, among what is no scalar."""
    from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2
    from tensorboard.summary.writer.record_writer import RecordWriter

    folder.mkdir(parents=True)
    with open(folder / "events.out.tfevents.1767225600.host.7.0", "wb") as file:
        writer = RecordWriter(file)
        writer.write(event_pb2.Event(wall_time=1767225600, file_version="brain.Event:2").SerializeToString())
        for step in range(1, steps + 1):
            Value = summary_pb2.Summary.Value
            packed = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[2.0 * step])
            raw = tensor_pb2.TensorProto(dtype=types_pb2.DT_DOUBLE, tensor_content=struct.pack("<d", 3.0 * step))
            values = [Value(tag="Loss/train", simple_value=8.0 / step), Value(tag="grad-norm", tensor=packed),
                      Value(tag="lr", tensor=raw), Value(tag="nothing", simple_value=float("nan")),
                      Value(tag="picture", image=summary_pb2.Summary.Image(height=1, width=1))]
            event = event_pb2.Event(wall_time=1767225600 + step, step=step, summary=summary_pb2.Summary(value=values))
            writer.write(event.SerializeToString())
        writer.flush()


def write_run(folder, steps):
    """Rows of numbers under keys and nested keys, among texts and output."""
    store = data_store()
    from wandb.proto import wandb_internal_pb2 as proto

    folder.mkdir(parents=True)
    store.open_for_write(str(folder / "run-abc123.wandb"))
    store.write(proto.Record(header=proto.HeaderRecord()))
    store.write(proto.Record(run=proto.RunRecord(run_id="abc123", display_name="brisk-wind-1", tags=["paper", "slow"])))
    for step in range(1, steps + 1):
        row = {"train/loss": 8.0 / step, "_step": step, "_timestamp": 1767225600.0 + step, "words": "x" * 200}
        items = [proto.HistoryItem(key=key, value_json=json.dumps(value)) for key, value in row.items()]
        items.append(proto.HistoryItem(nested_key=["optim", "grad_norm"], value_json=json.dumps(2.0 * step)))
        store.write(proto.Record(history=proto.HistoryRecord(item=items, step=proto.HistoryStep(num=step))))
        store.write(proto.Record(output_raw=proto.OutputRawRecord(line="x" * 300)))
    store.write(proto.Record(exit=proto.RunExitRecord(exit_code=0, runtime=steps)))
    store.close()


def main():
    folder, run = pathlib.Path(sys.argv[1]), sys.argv[2]
    write_board(folder / "theirs" / "board", 500)
    write_run(folder / "theirs" / "wandb" / "offline-run-20260101_000000-abc123", 500)
    (file,) = folder.glob(f"wandb/offline-run-*-{run}/run-{run}.wandb")
    (board,) = folder.glob(f"* {run}")
    print(json.dumps({"tensorboard": scalars(board), "hyperparameters": hyperparameters(board), "wandb": run_of(file),
                      "folder": file.parent.name}))


main()
