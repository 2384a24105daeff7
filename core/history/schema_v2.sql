-- SPDX-License-Identifier: GPL-3.0-or-later
-- Schema 2: what a list shows of a run lies in the run's own row, so that a list of thousands reads no step.
-- core/history/migrations.cpp fills the columns for the runs that are there.
ALTER TABLE runs ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN first_loss REAL;
ALTER TABLE runs ADD COLUMN last_loss REAL;
ALTER TABLE runs ADD COLUMN eval_loss REAL;
ALTER TABLE runs ADD COLUMN measured_memory_gib REAL;
-- The headline is stored when a run has ended; until then it is taken from the steps.
ALTER TABLE runs ADD COLUMN measured_tps_per_gpu REAL;
ALTER TABLE runs ADD COLUMN measured_step_time_s REAL;
ALTER TABLE runs ADD COLUMN tps_spread REAL;
ALTER TABLE runs ADD COLUMN headline_rule TEXT NOT NULL DEFAULT '';
CREATE INDEX runs_by_created ON runs (created);
