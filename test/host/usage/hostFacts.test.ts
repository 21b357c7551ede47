import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { expect, test } from '@jest/globals';
import { lowestTaskLimit, parseBootTime, parseMemoryTotals, parseTaskCount } from '../../../host/usage/hostFacts.ts';

test('parses the boot time, the number and limit of tasks, and the memory', () => {
  expect(parseBootTime('cpu 1 2\nbtime 1700000000\nprocesses 5\n')).toBe(1_700_000_000_000);
  expect(parseTaskCount('1.36 3.49 4.53 2/3518 3715089\n')).toBe(3518);
  expect(lowestTaskLimit('4194304\n', '31234\n')).toBe(31_234);
  expect(lowestTaskLimit(undefined, '31234\n')).toBe(31_234);
  expect(parseMemoryTotals('MemTotal:       16 kB\nMemFree: 1 kB\nSwapTotal:  4 kB\n')).toEqual({
    memory: 16_384,
    swap: 4_096,
  });
});

test('missing values are undefined', () => {
  expect([parseBootTime(''), parseTaskCount('none'), lowestTaskLimit(undefined, 'max'), parseMemoryTotals('')]).toEqual(
    [undefined, undefined, undefined, {}],
  );
});

test('parses the files of this host', () => {
  const read = (name: string) => readFileSync(`/proc/${name}`, 'utf8');
  expect(parseBootTime(read('stat'))).toBeGreaterThan(0);
  expect(parseTaskCount(read('loadavg'))).toBeGreaterThan(1);
  expect(parseMemoryTotals(read('meminfo')).memory).toBe(totalmem());
});
