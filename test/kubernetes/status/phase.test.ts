import { describe, expect, test } from '@jest/globals';
import { podPhase } from '../../../kubernetes/status/phase.ts';
import { rowsOf } from '../support/podRow.ts';
import { ending, podView } from '../views.ts';

/** The columns are: restartPolicy | init | sidecars | main | ephemeral | pod | phase. podRow.ts explains the words. */
const tables: Readonly<Record<string, string>> = {
  'C1: regular containers that may always run again': `
    Always    |  |  | -             |        |                     | Pending
    Always    |  |  | -, -          |        |                     | Pending
    Always    |  |  | wait          |        |                     | Pending
    Always    |  |  | run           |        |                     | Running
    Always    |  |  | run?          |        |                     | Running
    Always    |  |  | run, run      |        |                     | Running
    Always    |  |  | run, -        |        |                     | Pending
    Always    |  |  | run, wait     |        |                     | Pending
    Always    |  |  | run, loop 1   |        |                     | Running
    Always    |  |  | run, 0        |        |                     | Running
    Always    |  |  | run, 1        |        |                     | Running
    Always    |  |  | 0             |        |                     | Running
    Always    |  |  | 1             |        |                     | Running
    Always    |  |  | 0, 1          |        |                     | Running
    Always    |  |  | loop 0        |        |                     | Running
    Always    |  |  | loop 1        |        |                     | Running
    Always    |  |  | loop 1, 0     |        |                     | Running
    Always    |  |  | loop 1, wait  |        |                     | Pending
    Always    |  |  | loop 1, -     |        |                     | Pending`,
  'C1: regular containers that run again after a failure': `
    OnFailure |  |  | wait          |        |                     | Pending
    OnFailure |  |  | run, run      |        |                     | Running
    OnFailure |  |  | run, 0        |        |                     | Running
    OnFailure |  |  | run, 1        |        |                     | Running
    OnFailure |  |  | 0, -          |        |                     | Pending
    OnFailure |  |  | 0, wait       |        |                     | Pending
    OnFailure |  |  | 0, 0          |        | ended               | Succeeded
    OnFailure |  |  | 0             |        | ended               | Succeeded
    OnFailure |  |  | 1, 1          |        |                     | Running
    OnFailure |  |  | 0, 1          |        |                     | Running
    OnFailure |  |  | 0, loop 1     |        |                     | Running
    OnFailure |  |  | loop 137      |        |                     | Running`,
  'C1: regular containers that run once': `
    Never     |  |  | -             |        |                     | Pending
    Never     |  |  | wait          |        |                     | Pending
    Never     |  |  | run, run      |        |                     | Running
    Never     |  |  | run, -        |        |                     | Pending
    Never     |  |  | run, 0        |        |                     | Running
    Never     |  |  | run, 1        |        |                     | Running
    Never     |  |  | 1, -          |        |                     | Pending
    Never     |  |  | 0, wait       |        |                     | Pending
    Never     |  |  | 0, 0          |        | ended               | Succeeded
    Never     |  |  | 1, 2          |        | ended               | Failed
    Never     |  |  | 0, 1          |        | ended               | Failed
    Never     |  |  | 137           |        | ended               | Failed`,
  'C1: an ephemeral container counts nothing': `
    Always    |  |  | run           | 1      |                     | Running
    Always    |  |  | wait          | run    |                     | Pending
    Always    |  |  | run           | -      |                     | Running
    Never     |  |  | 0             | run    | ended               | Succeeded
    Never     |  |  | 0             | 1      | ended               | Succeeded
    Never     |  |  | 1             | 0      | ended               | Failed`,
  'C1: init containers of a pod that restarts': `
    Always    | -       |  | -      |        |                     | Pending
    Always    | wait    |  | wait   |        |                     | Pending
    Always    | run     |  | wait   |        |                     | Pending
    Always    | 1       |  | wait   |        |                     | Pending
    Always    | loop 1  |  | wait   |        |                     | Pending
    Always    | 0, run  |  | wait   |        |                     | Pending
    Always    | 0, 1    |  | wait   |        |                     | Pending
    Always    | 0, -    |  | -      |        |                     | Pending
    Always    | 0       |  | wait   |        |                     | Pending
    Always    | 0       |  | run    |        |                     | Running
    Always    | 0, 0    |  | run    |        |                     | Running
    Always    | 0       |  | loop 1 |        |                     | Running
    Always    | 0       |  | 1, run |        |                     | Running
    OnFailure | 1       |  | wait   |        |                     | Pending
    OnFailure | loop 1  |  | wait   |        |                     | Pending
    OnFailure | 0       |  | 0      |        | ended               | Succeeded
    OnFailure | 0       |  | 1      |        |                     | Running`,
  'C1: init containers of a pod that runs once': `
    Never     | -       |  | -      |        |                     | Pending
    Never     | run     |  | wait   |        |                     | Pending
    Never     | 0       |  | wait   |        |                     | Pending
    Never     | 0       |  | run    |        |                     | Running
    Never     | 1       |  | wait   |        | ended               | Failed
    Never     | 0, 1    |  | wait   |        | ended               | Failed
    Never     | 1       |  | wait   |        | was Pending         | Pending
    Never     | 1       |  | wait   |        | ended, static, terminating | Failed
    Never     | 0       |  | 0      |        | ended               | Succeeded
    Never     | 0       |  | 1      |        | ended               | Failed`,
  'C1: init containers in a new sandbox': `
    Always    | run     |  | loop 1 |        | reset, was Running  | Pending
    Always    | 0       |  | loop 1 |        | reset, was Running  | Running
    Always    | -       |  | loop 1 |        | reset, was Running  | Pending
    Always    | 0, run  |  | loop 1 |        | reset, was Running  | Pending
    Always    | 0, 0    |  | run    |        | reset, was Running  | Running`,
  'C1: sidecars before the regular containers': `
    Always    |      | -         | -      |        |                | Pending
    Always    |      | wait      | wait   |        |                | Pending
    Always    |      | run?      | wait   |        |                | Pending
    Always    |      | run       | wait   |        |                | Pending
    Always    |      | loop 1    | wait   |        |                | Pending
    Always    |      | run, wait | wait   |        |                | Pending
    Always    |      | run, run? | wait   |        |                | Pending
    Always    | 0    | run?      | wait   |        |                | Pending
    Always    | run  | run       | wait   |        |                | Pending
    Never     | 1    | run       | wait   |        |                | Pending
    Never     | 1    | 143       | wait   |        | ended          | Failed`,
  'C1: sidecars beside the regular containers': `
    Always    |      | run       | run    |        |                | Running
    Always    |      | run?      | run    |        |                | Running
    Always    |      | loop 1    | run    |        |                | Running
    Always    |      | 1         | run    |        |                | Running
    Always    |      | run       | loop 1 |        |                | Running
    Always    |      | run?      | loop 1 |        |                | Pending
    Always    |      | loop 1    | loop 1 |        |                | Running
    Always    |      | -         | run    |        |                | Pending
    Always    |      | run       | run, - |        |                | Pending
    Always    | 0    | run, run  | run    |        |                | Running
    OnFailure |      | run       | 0      |        |                | Running
    OnFailure |      | loop 1    | 1      |        |                | Running
    Never     |      | run       | 0      |        |                | Running
    Never     |      | run       | 1      |        |                | Running
    Never     |      | 137       | 0      |        | ended          | Succeeded
    Never     |      | 0         | 3      |        | ended          | Failed
    Never     | 0    | 143, 143  | 0, 0   |        | ended          | Succeeded
    OnFailure | 0    | 143       | 0      |        | ended          | Succeeded`,
  'C1: containers with a restartPolicy of their own': `
    Never     |         |  | 1@Always            |  |                | Running
    Never     |         |  | 0@Always            |  |                | Running
    Never     |         |  | 1@OnFailure         |  |                | Running
    Never     |         |  | 0@OnFailure         |  | ended          | Succeeded
    Never     |         |  | loop 1@OnFailure, 1 |  |                | Running
    Never     |         |  | 0@OnFailure, 1      |  | ended          | Failed
    Always    |         |  | 1@Never             |  | ended          | Failed
    Always    |         |  | 0@Never             |  | ended          | Succeeded
    Always    |         |  | 1@Never, run        |  |                | Running
    Always    |         |  | 1@Never, 0          |  |                | Running
    Always    |         |  | 1@Never, 0@Never    |  | ended          | Failed
    OnFailure |         |  | 1@Never, 0          |  | ended          | Failed
    OnFailure |         |  | 1@Never, 1          |  |                | Running
    Never     | 1@OnFailure  |  | wait           |  |                | Pending
    Never     | loop 1@Always |  | wait          |  |                | Pending
    Always    | 1@Never |  | wait                |  | ended          | Failed
    Always    | 0@Never |  | run                 |  |                | Running`,
  'C1: containers with restart rules': `
    Never     |         |  | 3@on 3              |  |                | Running
    Never     |         |  | 4@on 3              |  | ended          | Failed
    Never     |         |  | 0@on 3              |  | ended          | Succeeded
    Never     |         |  | loop 3@on 3, 0      |  |                | Running
    Never     |         |  | 4@on 3 4, 1         |  |                | Running
    Never     |         |  | 5@on 3 4, 1         |  | ended          | Failed
    Always    |         |  | 3@on 3              |  |                | Running
    Always    |         |  | 4@on 3              |  | ended          | Failed
    Never     | 3@on 3  |  | wait                |  |                | Pending
    Never     | 4@on 3  |  | wait                |  | ended          | Failed`,
  'C2: a terminal phase stays, and is not reported while a container may still run': `
    Always    |         |  | run                 |  | was Succeeded           | Succeeded
    Always    |         |  | run                 |  | was Failed              | Failed
    Never     |         |  | 0                   |  | ended, was Failed       | Failed
    Never     |         |  | 1                   |  | ended, was Succeeded    | Succeeded
    Never     |         |  | 0                   |  | was Running             | Running
    Never     |         |  | 0                   |  |                         | Running
    Never     |         |  | 1                   |  |                         | Running
    Never     | 1       |  | wait                |  |                         | Pending
    Never     |         |  | -                   |  | was Failed              | Failed
    Always    |         |  | run                 |  | evicted, was Running    | Running
    Always    |         |  | wait                |  | evicted                 | Pending
    Always    |         |  | 0                   |  | evicted, ended          | Succeeded
    Always    |         |  | 0, 143              |  | evicted, ended          | Failed
    Always    |         |  | 137                 |  | evicted, ended          | Failed
    Always    |         |  | wait                |  | evicted, ended          | Failed
    Always    |         |  | loop 0              |  | evicted, ended          | Failed
    Always    | 0       |  | 0                   |  | evicted, ended, static  | Failed
    Never     |         |  | 0                   |  | evicted, ended, static  | Succeeded
    Always    |         |  | run                 |  | overdue, was Running    | Running
    Always    |         |  | 0                   |  | overdue, ended          | Failed
    Never     |         |  | 0                   |  | overdue, ended, static  | Failed
    Always    |         |  | -                   |  | refused, ended          | Failed
    Always    |         |  | run                 |  | refused                 | Running`,
  'C2: a terminating pod': `
    Always    |         |  | run                 |  | terminating, was Running        | Running
    Always    |         |  | wait                |  | terminating, was Pending        | Pending
    Always    |         |  | 0, run              |  | terminating, was Running        | Running
    Always    |         |  | 0                   |  | terminating, was Running        | Running
    Always    |         |  | 0                   |  | terminating, ended, was Running | Succeeded
    Always    |         |  | 0, 143              |  | terminating, ended, was Running | Failed
    OnFailure |         |  | 137                 |  | terminating, ended, was Running | Failed
    Never     |         |  | 0                   |  | terminating, ended              | Succeeded
    Always    |         |  | loop 1              |  | terminating, ended, was Running | Failed
    Always    |         |  | wait                |  | terminating, ended, was Pending | Failed
    Always    |         |  | -                   |  | terminating, ended              | Failed
    Always    | 143     |  | wait                |  | terminating, ended, was Pending | Failed
    Always    |         | 143 | 0                |  | terminating, ended, was Running | Succeeded`,
  'C24: a terminating static pod gets no forced phase': `
    Always    |         |  | 137                 |  | static, terminating, ended, was Running | Running
    Always    |         |  | 0                   |  | static, terminating, ended, was Running | Running
    OnFailure |         |  | 1                   |  | static, terminating, ended              | Running
    OnFailure |         |  | 0                   |  | static, terminating, ended              | Succeeded
    Never     |         |  | 1                   |  | static, terminating, ended              | Failed
    Never     |         |  | 1@Always            |  | static, terminating, ended              | Running
    Always    |         |  | 1@Never             |  | static, terminating, ended              | Failed
    Always    |         |  | wait                |  | static, terminating, ended              | Pending
    Always    |         |  | -                   |  | static, terminating, ended, was Running | Running
    Always    |         |  | -                   |  | static, terminating, ended              | Pending
    Never     |         |  | 0                   |  | static, ended                           | Succeeded`,
};

describe.each(Object.entries(tables))('%s', (_, table) => {
  test.each(rowsOf(table).map((row) => [row.title, row.expected, row] as const))('%s: %s', (_title, phase, row) => {
    expect(podPhase(row.view, row.previous)).toBe(phase);
  });
});

test('C1: the tables of phases are complete', () => {
  expect(Object.values(tables).flatMap(rowsOf).length).toBeGreaterThan(150);
});

test('C1: a pod has not succeeded if no container is known', () => {
  const orphan = { ...podView({}), ...ending({ reason: 'Orphaned' }) };
  expect(podPhase(orphan)).toBe('Pending');
  expect(podPhase({ ...orphan, hasEnded: true })).toBe('Failed');
});
