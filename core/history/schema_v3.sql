-- SPDX-License-Identifier: GPL-3.0-or-later
-- Schema 3: what a person says about a run, and runs that were deleted but can still be brought back.
ALTER TABLE runs ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'; -- a JSON list of words, sorted, each once
ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN deleted TEXT; -- when, as `created`; NULL: not deleted
