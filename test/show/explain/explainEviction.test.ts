import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { EvictionFigures } from '../../../kubernetes/eviction/outlook.ts';
import type { Threshold } from '../../../kubernetes/eviction/thresholds.ts';
import { evictionSentences, thresholdSentences } from '../../../show/explain/explainEviction.ts';
import { aPod } from '../../kubernetes/fixtures.ts';

const MI = 2 ** 20;
const HARD: Threshold = { signal: 'memory.available', value: '100Mi', graceMs: 0 };
const SOFT: Threshold = { signal: 'memory.available', value: '20%', graceMs: 90_000 };
const PIDS: Threshold = { signal: 'pid.available', value: '1000', graceMs: 0 };

const observation = (mebibytes: number, at: number) => ({
  'memory.available': { available: mebibytes * MI, capacity: 1_000 * MI, at },
});

test('each threshold is a sentence about the remaining amount, and when it is met at the current rate', () => {
  expect(thresholdSentences([HARD, SOFT, PIDS], observation(400, 120_000), observation(500, 0))).toEqual([
    'memory.available: 400Mi of 1000Mi left, evicts below 100Mi; at the present rate in 6m',
    'memory.available: 400Mi of 1000Mi left, evicts below 20% (200Mi) for 90s; at the present rate in 3m59s',
    'pid.available: not measured, evicts below 1000',
  ]);
  expect(thresholdSentences([HARD], observation(50, 0))).toEqual([
    'memory.available: 50Mi of 1000Mi left, evicts below 100Mi; it is below that now',
  ]);
  expect(thresholdSentences([HARD], observation(500, 0))).toEqual([
    'memory.available: 500Mi of 1000Mi left, evicts below 100Mi',
  ]);
});

test('a threshold in percent is shown as it is written, with its amount as kubectl shows quantities', () => {
  const capacity = 270_553_178_112;
  const observed = { available: 150_000_000_000, capacity, at: 0 };
  const thresholds: Threshold[] = [
    { signal: 'nodefs.available', value: '10%', graceMs: 0 },
    { signal: 'nodefs.inodesFree', value: '5%', graceMs: 0 },
    { signal: 'imagefs.available', value: '15%', graceMs: 0 },
  ];
  const observations = {
    'nodefs.available': observed,
    'nodefs.inodesFree': { available: 900_001, capacity: 1_000_020, at: 0 },
  };
  expect(thresholdSentences(thresholds, observations)).toEqual([
    'nodefs.available: 140Gi of 252Gi left, evicts below 10% (25802Mi)',
    'nodefs.inodesFree: 900001 of 1000020 left, evicts below 5% (50001)',
    'imagefs.available: not measured, evicts below 15%',
  ]);
});

describe('the explanation of a node', () => {
  const figures: EvictionFigures = {
    thresholds: [HARD, PIDS],
    layout: 'single',
    observations: observation(500, 0),
    usages: { 'uid-1': { memoryBytes: 30 * MI, processes: 3, containers: [], volumes: [] } },
  };
  const web = aPod();
  const ended = { ...aPod({}, { name: 'ended', uid: 'ended' }), status: { phase: 'Failed' as const } };
  const outlook = (pods: readonly Pod[], mebibytes?: number) => {
    const shortage = mebibytes === undefined ? undefined : { signal: HARD.signal, available: mebibytes * MI };
    return evictionSentences(pods, figures, shortage);
  };

  test('names the first pod to be evicted for each signal, but none that has terminated', () => {
    expect(outlook([ended, web])).toEqual([
      'memory.available: the first pod to be evicted would be web, because it uses 30Mi of memory, 30Mi more than it requests, and has priority 0',
      'pid.available: the first pod to be evicted would be web, because it has priority 0 and 3 processes',
    ]);
    expect(outlook([ended])).toEqual([
      'memory.available, pid.available: no pod could be evicted, because all of them are critical',
    ]);
  });

  test('names the pods that would be evicted in a shortage', () => {
    expect(outlook([web], 80)).toEqual([
      'if memory.available were 80Mi, which is below 100Mi, these pods would be evicted in this order, if nothing else could be reclaimed:',
      'web: it uses 30Mi of memory, 30Mi more than it requests, and has priority 0',
    ]);
    expect(outlook([web], 50).at(-1)).toBe('and even that would not suffice');
    expect(outlook([], 50)).toEqual([
      'if memory.available were 50Mi, which is below 100Mi, no pod could be evicted, because all are critical',
    ]);
    const soft = { ...figures, thresholds: [SOFT] };
    const [sentence] = evictionSentences([web], soft, { signal: 'memory.available', available: 150 * MI });
    expect(sentence).toMatch(/^if memory.available were 150Mi, which is below 20% \(200Mi\) for 90s, /);
    expect(outlook([web], 100)).toEqual([
      'if memory.available were 100Mi, no pod would be evicted, because no threshold would be met',
    ]);
  });
});
