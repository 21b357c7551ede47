/** The page that lists the hosts on which the node is tested. */
import { describe, expect, test } from '@jest/globals';
import { type HostResults, hostsPage, mergeResults, parseHostResults } from '../../scripts/hostsPage.ts';

const host = {
  os: 'Debian GNU/Linux 13 (trixie)',
  kernel: '6.12.1-cloud-amd64',
  systemd: '257',
  containerd: '1.7.24',
  runc: '1.1.15',
  accelerator: 'tcg',
} as const;

const fileResults = (name: string, date: string, status: string) => ({
  file: `test/vm/${name}.test.ts`,
  date,
  tests: [{ title: `it is a|b in ${name}`, status }],
});

const earlier: HostResults = {
  host,
  files: [fileResults('reboot', '2026-11-01', 'failed'), fileResults('swap', '2026-11-01', 'passed')],
};
const existingFiles = ['test/vm/reboot.test.ts', 'test/vm/swap.test.ts', 'test/vm/eviction.test.ts'];

describe('the results of some test files', () => {
  const run: HostResults = { host, files: [fileResults('reboot', '2026-11-30', 'passed')] };

  test('replace earlier results of the same files, and the other results remain with their dates', () => {
    expect(mergeResults(earlier, run, existingFiles).files).toEqual([run.files[0], earlier.files[1]]);
  });

  test('are the only ones if nothing has run before', () => {
    expect(mergeResults(undefined, run, existingFiles)).toEqual(run);
  });

  test('are the only ones if the host has changed', () => {
    const upgraded = { ...run, host: { ...host, kernel: '6.12.2-cloud-amd64' } };
    expect(mergeResults(earlier, upgraded, existingFiles)).toEqual(upgraded);
  });

  test('are not mixed with those of a test file that no longer exists', () => {
    expect(mergeResults(earlier, run, ['test/vm/reboot.test.ts'])).toEqual(run);
  });
});

test('the page shows each test with its result, how many have passed, and the files without a result', () => {
  const page = hostsPage(earlier, existingFiles);
  expect(page).toContain('| Result | 1 of 2 passed; files without a result: 1 |');
  expect(page).toContain('### [test/vm/reboot.test.ts](../../test/vm/reboot.test.ts), 2026-11-01');
  expect(page).toContain('| it is a\\|b in reboot | failed |');
  expect(page).toContain('### [test/vm/eviction.test.ts](../../test/vm/eviction.test.ts)\n\nThere is no result yet.\n');
  expect(page).toContain('two NUMA nodes, emulated in software |');
});

test('a file that does not contain results of a run is rejected', () => {
  expect(() => parseHostResults(JSON.stringify({ ...earlier, host: {} }))).toThrow();
  expect(parseHostResults(JSON.stringify(earlier))).toEqual(earlier);
});
