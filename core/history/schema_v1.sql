-- SPDX-License-Identifier: GPL-3.0-or-later
-- First schema of the history. Never edited once released: later changes are further files.

-- A resolved plan, once for each distinct document. `hash` is the plan's own identity (core/plan/plan.h).
CREATE TABLE plans (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    layout_hash TEXT NOT NULL,
    model TEXT NOT NULL,
    cluster TEXT NOT NULL,
    layout TEXT NOT NULL,
    gpus INTEGER NOT NULL,
    document TEXT NOT NULL
) STRICT;
CREATE INDEX plans_by_hash ON plans (hash);
CREATE INDEX plans_by_layout_hash ON plans (layout_hash);

-- What was expected of a plan; the columns repeat figures of `document` for lists and queries.
CREATE TABLE predictions (
    id INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL REFERENCES plans (id),
    feasible INTEGER NOT NULL,
    tps_per_gpu REAL,
    step_time_s REAL,
    memory_gib REAL,
    document TEXT NOT NULL
) STRICT;
CREATE INDEX predictions_by_plan ON predictions (plan);

CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    stack TEXT NOT NULL,
    state TEXT NOT NULL,
    problem TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL,
    plan INTEGER NOT NULL REFERENCES plans (id),
    prediction INTEGER NOT NULL REFERENCES predictions (id),
    planned_prediction INTEGER REFERENCES predictions (id),
    environment TEXT NOT NULL,
    versions TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX runs_by_plan ON runs (plan);
CREATE INDEX runs_by_prediction ON runs (prediction);
CREATE INDEX runs_by_planned_prediction ON runs (planned_prediction);

CREATE TABLE hosts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE run_hosts (
    run TEXT NOT NULL REFERENCES runs (id),
    position INTEGER NOT NULL,
    host INTEGER NOT NULL REFERENCES hosts (id),
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_hosts_by_host ON run_hosts (host);

CREATE TABLE software_versions (
    run TEXT NOT NULL REFERENCES runs (id),
    component TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (run, component)
) STRICT, WITHOUT ROWID;

-- The event stream as it was received; `kind` repeats the line's "event".
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id),
    stream TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq >= 0),
    kind TEXT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (run, stream, seq)
) STRICT, WITHOUT ROWID;

-- The `step` events of a run's own stream in typed columns. `time` is in seconds since 1970-01-01 UTC.
CREATE TABLE steps (
    run TEXT NOT NULL REFERENCES runs (id),
    seq INTEGER NOT NULL,
    step INTEGER NOT NULL,
    time REAL NOT NULL,
    loss REAL,
    grad_norm REAL,
    learning_rate REAL,
    step_time_s REAL,
    tps_per_gpu REAL,
    tflops_per_gpu REAL,
    mfu REAL,
    memory_peak_gib REAL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- seq of the last stored event of each stream; changes in the same transaction as the rows it counts.
CREATE TABLE cursors (
    run TEXT NOT NULL REFERENCES runs (id),
    stream TEXT NOT NULL,
    last_seq INTEGER NOT NULL,
    PRIMARY KEY (run, stream)
) STRICT, WITHOUT ROWID;
