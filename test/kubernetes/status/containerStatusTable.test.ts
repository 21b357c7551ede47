import { describe, expect, test } from '@jest/globals';
import type { ContainerStatus } from '../../../kubernetes/api/schema/status.ts';
import { containerStatuses } from '../../../kubernetes/status/containerStatuses.ts';
import { rowsOf } from '../support/podRow.ts';

/**
 * The columns are those of podRow.ts. The expected value has a word for each init container and sidecar, then for each
 * regular and each ephemeral container: `waits`, `runs` or its exit code, `<1` for the exit code of the previous run,
 * `+` if it is ready, and `*` if it has started. `unknown` means that the exit code is unknown.
 */
const tables: Readonly<Record<string, string>> = {
  'C13: containers of a pod that keeps running': `
    Always | | | -               | |          | waits
    Always | | | wait            | |          | waits
    Always | | | run             | |          | runs+*
    Always | | | run?            | |          | runs
    Always | | | 0               | |          | 0
    Always | | | 1, run          | |          | 1 runs+*
    Always | | | loop 3          | |          | waits<3
    Always | | | loop 0, wait    | |          | waits<0 waits
    Never  | | | 0, 1            | |          | 0 1
    Never  | | | 1@Always, 0     | |          | 1 0
    Never  | | | 3@on 3          | |          | 3
    Always | | | run             | run |        | runs+* runs
    Always | | | run             | 1 |          | runs+* 1
    Always | | | run             | - |          | runs+* waits`,
  'C3, C4: init containers and sidecars': `
    Always | -       |         | -    | |      | waits waits
    Always | wait    |         | wait | |      | waits waits
    Always | run     |         | wait | |      | runs* waits
    Always | 1       |         | wait | |      | 1 waits
    Always | loop 1  |         | wait | |      | waits<1 waits
    Always | 0, run  |         | wait | |      | 0+ runs* waits
    Always | 0, 0    |         | run  | |      | 0+ 0+ runs+*
    Always |         | run     | wait | |      | runs+* waits
    Always |         | run?    | wait | |      | runs waits
    Always | 0       | loop 1  | run  | |      | 0+ waits<1 runs+*
    Always | 0       | run, -  | wait | |      | 0+ runs+* waits waits
    Never  | 0       | 0       | 1    | |      | 0+ 0 1`,
  'C13: containers of a pod that has ended': `
    Never  |         |         | 0, 3        |   | ended                      | 0 3
    Always |         |         | 143         |   | terminating, ended         | 143
    Always |         |         | run         |   | terminating                | runs+*
    Always |         |         | run         |   | terminating, ended         | unknown
    Always |         |         | wait        |   | terminating, ended         | unknown
    Always |         |         | -           |   | terminating, ended         | unknown
    Always |         |         | loop 3      |   | terminating, ended         | unknown<3
    Always |         |         | 0, loop 2   |   | terminating, ended         | 0 unknown<2
    Always |         |         | run         | 0 | terminating, ended         | unknown 0
    Always |         |         | 143         | - | terminating, ended         | 143 waits
    Always | wait    |         | wait        |   | terminating, ended         | unknown waits
    Always | run     |         | wait        |   | terminating, ended         | unknown waits
    Always | 1       |         | wait        |   | terminating, ended         | 1 waits
    Always | loop 1  |         | wait        |   | terminating, ended         | unknown<1 waits
    Always | 0, wait |         | wait        |   | terminating, ended         | 0+ waits waits
    Always | wait, 1 |         | wait        |   | terminating, ended         | unknown 1 waits
    Always | 0, -    |         | 143         |   | terminating, ended         | 0+ unknown 143
    Always | 0       | 143     | 143         |   | terminating, ended         | 0+ 143 143
    Always |         | loop 1  | 0           |   | terminating, ended         | unknown<1 0
    Always |         | wait    | wait        |   | terminating, ended         | unknown waits
    Always |         | 143     | wait        |   | terminating, ended         | 143 waits
    Always |         |         | 137         |   | evicted, ended             | 137
    Always |         |         | wait        |   | evicted, ended             | unknown
    Always |         |         | -           |   | refused, ended             |
    Always | -       | -       | -, -        |   | refused, ended             |`,
};

function wordOf({ state = {}, lastState, ready, started }: ContainerStatus): string {
  const { running, terminated } = state;
  const end = terminated?.reason === 'ContainerStatusUnknown' ? 'unknown' : terminated?.exitCode;
  const last = lastState?.terminated ? `<${lastState.terminated.exitCode}` : '';
  return `${end ?? (running ? 'runs' : 'waits')}${last}${ready ? '+' : ''}${started ? '*' : ''}`;
}

describe.each(Object.entries(tables))('%s', (_, table) => {
  test.each(rowsOf(table).map((row) => [row.title, row.expected, row] as const))('%s: %s', (_title, expected, row) => {
    const { init, regular, ephemeral } = containerStatuses(row.view, { runtimeName: 'containerd' });
    expect([...init, ...regular, ...ephemeral].map(wordOf).join(' ')).toBe(expected);
  });
});
