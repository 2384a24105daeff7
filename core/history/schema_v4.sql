-- SPDX-License-Identifier: GPL-3.0-or-later
-- Schema 4: which term of a run's traced step is most off from its prediction, for lists. Who can predict fills it
-- (core/calibration/user/most_off.h); `most_off_due` is 1 while the run has a trace that nobody has compared yet.
ALTER TABLE runs ADD COLUMN most_off TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN most_off_predicted_s REAL;
ALTER TABLE runs ADD COLUMN most_off_measured_s REAL;
ALTER TABLE runs ADD COLUMN most_off_due INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET most_off_due = 1 WHERE id IN (SELECT run FROM events WHERE stream = 'events' AND kind = 'trace');
CREATE INDEX runs_by_most_off_due ON runs (most_off_due) WHERE most_off_due = 1;
