import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createHostFacts } from '../../../stats/node/hostFacts.ts';

const procfs = mkdtempSync(join(tmpdir(), 'statelet-proc-'));
afterAll(() => rmSync(procfs, { recursive: true }));

test('no start time is invented without a boot time', () => {
  const facts = createHostFacts([], procfs);
  expect(facts.bootTime).toBeUndefined();
  expect(facts.cgroupCreationTime('/kubepods')).toBeUndefined();
});

test('a cgroup of unknown age has the boot time as its creation time', () => {
  writeFileSync(join(procfs, 'stat'), 'btime 1700000000\n');
  const facts = createHostFacts([], procfs);
  expect(facts.bootTime).toBe(1_700_000_000_000);
  expect(facts.cgroupCreationTime('/kubepods')).toBe(1_700_000_000_000);
});
