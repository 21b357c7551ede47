import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { generateChunks } from '../../../kubelet-api/metrics/exposition.ts';
import { resourceFamilies } from '../../../kubelet-api/metrics/resource.ts';
import { type PodStats, type Summary, statsTime } from '../../../stats/node/summary.ts';

const AT = 1_795_340_689_155;
const time = statsTime(AT);

const used = {
  cpu: { time, usageCoreNanoSeconds: 22_147_395 },
  memory: { time, workingSetBytes: 1_048_576 },
  swap: { time, swapUsageBytes: 4_096, swapAvailableBytes: 61_440 },
};

const podCalled = (namespace: string, name: string, startedAt = AT): PodStats => ({
  podRef: { name, namespace, uid: `${name}-${startedAt}` },
  startTime: statsTime(startedAt),
  ...used,
  containers: [{ name: 'main', startTime: statsTime(startedAt + 500), ...used }],
});

const textOf = (pods: readonly PodStats[], isComplete = true) => {
  const summary: Summary = { node: { nodeName: 'node', startTime: time, ...used }, pods };
  return [...generateChunks(resourceFamilies(summary, isComplete))].join('');
};

test('C42: the text equals that of a kubelet, byte for byte', () => {
  const expected = readFileSync(join(import.meta.dirname, 'resource.txt'), 'utf8');
  expect(textOf([podCalled('vol', 'vols'), podCalled('portal', 'p')])).toBe(expected);
});

test('of two pods with the same name only the later one is included', () => {
  const text = textOf([podCalled('a', 'b', AT + 9_000), podCalled('a', 'b')]);
  const lines = text.split('\n').filter((line) => line.startsWith('container_start_time_seconds'));
  expect(lines).toEqual(['container_start_time_seconds{container="main",namespace="a",pod="b"} 1.795340698655e+09']);
});

test('unknown values are omitted, and so are families without samples', () => {
  const bare = { ...podCalled('a', 'b'), cpu: undefined, memory: undefined, swap: undefined };
  const text = textOf([{ ...bare, containers: [{ name: 'main', startTime: statsTime(0) }] }], false);
  expect(text).not.toMatch(/(pod|container)_/);
  expect(text).toMatch(/^resource_scrape_error 1$/m);
});
