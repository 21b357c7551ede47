import { describe, expect, test } from '@jest/globals';
import type { Point } from '../../../../testing/apiserver/metrics/resourceMetrics.ts';
import { UsageHistory } from '../../../../testing/apiserver/metrics/usageHistory.ts';

const EVERY_MS = 15_000;
const CORE = 1e9;

const point = (at: number, cpuNanos: number, more: Partial<Point> = {}): Point => ({
  at,
  cpuNanos,
  startedAt: 0,
  memory: 100,
  ...more,
});

/** Returns a history after these scrapes of the node `n1` and the containers of the pod `default/web`. */
function historyOf(
  ...scrapes: readonly { readonly node?: Point; readonly containers?: Readonly<Record<string, Point>> }[]
) {
  const history = new UsageHistory();
  for (const { node, containers } of scrapes)
    history.store(
      {
        nodes: new Map(node ? [['n1', node]] : []),
        pods: new Map(containers ? [['default/web', new Map(Object.entries(containers))]] : []),
      },
      EVERY_MS,
    );
  return history;
}

describe('the usage of a node', () => {
  test('is measured between the last two samples', () => {
    const history = historyOf({ node: point(1_000, CORE) }, { node: point(16_000, 4 * CORE, { memory: 7 }) });
    expect(history.ofNode('n1')).toEqual({ cpuNanos: 0.2 * CORE, memory: 7, at: 16_000, windowMs: 15_000 });
  });

  test('is unknown after one sample, for an unknown node, and if the latest scrape lacks the node', () => {
    expect(historyOf({ node: point(1_000, CORE) }).ofNode('n1')).toBeUndefined();
    const both = [{ node: point(1_000, CORE) }, { node: point(16_000, CORE) }];
    expect(historyOf(...both).ofNode('n2')).toBeUndefined();
    expect(historyOf(...both, {}).ofNode('n1')).toBeUndefined();
  });

  test('is not changed by a repeated sample', () => {
    const [first, second] = [{ node: point(1_000, CORE) }, { node: point(16_000, 2 * CORE) }];
    expect(historyOf(first, second, second).ofNode('n1')).toEqual(historyOf(first, second).ofNode('n1'));
  });

  test('is unknown after a counter reset', () => {
    const all = [{ node: point(1_000, 5 * CORE) }, { node: point(16_000, CORE) }];
    expect(historyOf(...all).ofNode('n1')).toBeUndefined();
  });
});

describe('the usage of a pod', () => {
  test('contains each container if all have two samples', () => {
    const before = { a: point(101_000, CORE), b: point(102_000, CORE) };
    const after = { a: point(111_000, 2 * CORE), b: point(112_000, CORE) };
    const usages = historyOf({ containers: before }, { containers: after }).ofPod('default', 'web');
    expect([...(usages ?? [])].map(([name, { cpuNanos, at }]) => [name, cpuNanos, at])).toEqual([
      ['a', 0.1 * CORE, 111_000],
      ['b', 0, 112_000],
    ]);
    const fewer = historyOf({ containers: { a: point(101_000, CORE) } }, { containers: after });
    expect(fewer.ofPod('default', 'web')).toBeUndefined();
  });

  test('is unknown after a restart of a container until it is old enough to be compared with its start', () => {
    const restarted = (age: number) =>
      historyOf(
        { containers: { a: point(100_000, 50 * CORE) } },
        { containers: { a: point(115_000, CORE, { startedAt: 115_000 - age }) } },
      ).ofPod('default', 'web');
    expect(restarted(9_000)).toBeUndefined();
    expect(restarted(12_500)?.get('a')).toMatchObject({ cpuNanos: 0.08 * CORE, windowMs: 12_500 });
  });
});
