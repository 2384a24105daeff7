-- SPDX-License-Identifier: GPL-3.0-or-later
-- Schema 5: a run's stack says its release, as plans write it ("megatron-core@25.11"). Until now only the plan did.
UPDATE runs SET stack = stack || '@' || (SELECT json_extract(p.document, '$.stack.release') FROM plans p WHERE p.id = runs.plan)
WHERE EXISTS (SELECT 1 FROM plans p WHERE p.id = runs.plan AND CASE WHEN json_valid(p.document) THEN
    json_extract(p.document, '$.stack.id') = runs.stack AND json_type(p.document, '$.stack.release') = 'text'
    AND json_extract(p.document, '$.stack.release') <> '' ELSE 0 END);
