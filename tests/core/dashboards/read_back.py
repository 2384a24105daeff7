#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What TensorBoard's and Weights & Biases' own packages read of files that Fourfold wrote.

read_back.py FOLDER RUN: prints one JSON object: "tensorboard", by tag its [step, value] in order; "wandb", the kinds of
all records, the run's id, name and config, the rows of its history, its last summary and its exit code.
"""
import importlib.util
import json
import pathlib
import sys
import types

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def scalars(folder):
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {tag: [[event.step, event.value] for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def records(file):
    """With the package's own reader. The package itself wants to be set up for an account: its parts do not."""
    root = next(path for path in (pathlib.Path(entry) / "wandb" for entry in sys.path) if (path / "sdk").is_dir())
    package = types.ModuleType("wandb")
    package.__path__ = [str(root)]
    package._assert_is_internal_process = True
    sys.modules["wandb"] = package
    spec = importlib.util.spec_from_file_location("datastore", root / "sdk" / "internal" / "datastore.py")
    datastore = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(datastore)
    from wandb.proto import wandb_internal_pb2

    store = datastore.DataStore()
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


def main():
    folder, run = pathlib.Path(sys.argv[1]), sys.argv[2]
    (file,) = folder.glob(f"wandb/offline-run-*-{run}/run-{run}.wandb")
    print(json.dumps({"tensorboard": scalars(folder / run), "wandb": run_of(file), "folder": file.parent.name}))


main()
