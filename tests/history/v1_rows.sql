-- SPDX-License-Identifier: GPL-3.0-or-later
-- What a program of schema 1 left behind: one ended run, one that was under way.
INSERT INTO plans VALUES (1, 'aa11', 'bb22', 'Tiny Llama', 'This computer', 'tp2 cp1 pp1 dp2 mb1', 4,
    '{"fourfold_plan":1,"name":"old plan","gpus":4,"run":{"steps":4}}');
INSERT INTO predictions VALUES (1, 1, 1, 110.0, 2.0, 1.5, '{"feasible":true,"tps_per_gpu":110.0}');
INSERT INTO hosts VALUES (1, 'node-a');
INSERT INTO runs (id, name, target, stack, state, problem, created, plan, prediction, environment, versions) VALUES
    ('OLD1', 'old plan', 'local', 'fourfold', 'ok', '', '2026-01-01T00:00:00.000Z', 1, 1, '{}', '{"software":{"fourfold":"0.0.9"}}'),
    ('OLD2', 'old plan', 'local', 'fourfold', 'running', '', '2026-01-02T00:00:00.000Z', 1, 1, '{}', '{}');
INSERT INTO run_hosts VALUES ('OLD1', 0, 1), ('OLD2', 0, 1);
INSERT INTO software_versions VALUES ('OLD1', 'fourfold', '0.0.9');
INSERT INTO events VALUES
    ('OLD1', 'events', 0, 'step', '{"seq":0,"event":"step","step":1,"loss":5.0,"tps_per_gpu":10.0,"memory_peak_gib":1.25}'),
    ('OLD1', 'events', 1, 'step', '{"seq":1,"event":"step","step":2,"loss":4.0,"tps_per_gpu":90.0,"step_time_s":2.0}'),
    ('OLD1', 'events', 2, 'step', '{"seq":2,"event":"step","step":3,"loss":3.0,"tps_per_gpu":110.0,"step_time_s":4.0}'),
    ('OLD1', 'events', 3, 'eval', '{"seq":3,"event":"eval","loss":3.25}'),
    ('OLD1', 'events', 4, 'end', '{"seq":4,"event":"end","status":"ok"}'),
    ('OLD2', 'events', 0, 'step', '{"seq":0,"event":"step","step":1,"loss":5.0,"tps_per_gpu":10.0}');
INSERT INTO steps (run, seq, step, time, loss, tps_per_gpu, step_time_s, memory_peak_gib) VALUES
    ('OLD1', 0, 1, 100.0, 5.0, 10.0, NULL, 1.25),
    ('OLD1', 1, 2, 101.0, 4.0, 90.0, 2.0, NULL),
    ('OLD1', 2, 3, 102.0, 3.0, 110.0, 4.0, NULL),
    ('OLD2', 0, 1, 100.0, 5.0, 10.0, NULL, NULL);
INSERT INTO cursors VALUES ('OLD1', 'events', 4), ('OLD2', 'events', 0);
