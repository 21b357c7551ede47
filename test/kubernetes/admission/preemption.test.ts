import { describe, expect, test } from '@jest/globals';
import { decideAdmission } from '../../../kubernetes/admission/decide.ts';
import {
  distanceOf,
  isNoLarger,
  type Occupant,
  type ResourceNeed,
  remainingNeeds,
  selectVictims,
} from '../../../kubernetes/admission/preemption.ts';
import type { PodRequests } from '../../../kubernetes/resources/requests.ts';
import { aPod, requestsWith } from '../fixtures.ts';
import {
  ADMISSIONS,
  CHOICES,
  DISTANCES,
  type Need,
  POD_FIGURES,
  type PodName,
  REMAINDERS,
  SIZE_COMPARISONS,
} from './preemptionVectors.ts';

const MiB = 2 ** 20;

/** A pod that requests millicores and MiB. */
function occupant(uid: string, cpuMillis: number, mib: number, over: Partial<PodRequests> = {}): Occupant {
  const requests = requestsWith({ cpuMillis, memoryBytes: mib * MiB, priority: 0, ...over });
  return { uid, requests, currentRequests: requests };
}

const critical = requestsWith({ critical: true, priority: 2_000_000_000 });
const needs = (amounts: Record<string, number>) =>
  Object.entries(amounts).map(([resource, requested]) => ({
    resource,
    requestedAmount: requested,
    usedAmount: 10,
    capacity: 10,
    holders: [],
  }));
const chosen = (amounts: Record<string, number>, occupants: Occupant[], by = critical) => {
  const found = selectVictims(by, needs(amounts), occupants);
  return 'victims' in found ? found.victims.map(({ uid }) => uid) : found.unmet;
};

const bestEffort = occupant('best-effort', 0, 0, { qos: 'BestEffort' });
const burstable = occupant('burstable', 100, 100);
const large = occupant('large', 300, 300);
const guaranteed = occupant('guaranteed', 100, 100, { qos: 'Guaranteed' });
const all = [bestEffort, burstable, large, guaranteed];

describe('C24: victims of a critical pod', () => {
  test.each<[string, Record<string, number>, string[]]>([
    ['for a place, one that takes nothing else', { pods: 1 }, ['best-effort']],
    ['for two places, a burstable one too, the smaller', { pods: 2 }, ['best-effort', 'burstable']],
    ['for cpu, the burstable one that suffices and is smaller', { cpu: 100 }, ['burstable']],
    ['for more, the one that suffices alone', { cpu: 200 }, ['large']],
    ['for all that burstable ones have, both', { cpu: 400 }, ['large', 'burstable']],
    ['for still more, the guaranteed one as well', { cpu: 450 }, ['large', 'burstable', 'guaranteed']],
    ['for two resources, the one that gives both', { cpu: 250, memory: 250 * MiB }, ['large']],
    ['a guaranteed one that must end anyway spares a lower one', { cpu: 500 }, ['large', 'burstable', 'guaranteed']],
  ])('%s', (_, amounts, expected) => {
    expect(chosen(amounts, all)).toEqual(expected);
  });

  test('spares a Burstable pod if a Guaranteed pod must be preempted anyway', () => {
    const huge = occupant('huge', 1_000, 0, { qos: 'Guaranteed' });
    expect(chosen({ cpu: 500 }, [bestEffort, burstable, huge])).toEqual(['huge']);
  });

  test('include users of extended resources', () => {
    const holder = occupant('holder', 500, 500, { extra: { 'example.com/gpu': 1 } });
    expect(chosen({ 'example.com/gpu': 1 }, [...all, holder])).toEqual(['holder']);
  });

  test('are none if preempting all pods is not enough, and the remaining shortage is reported', () => {
    expect(chosen({ cpu: 600, memory: 100 }, all)).toBe('[(res: cpu, q: 100), ]');
    expect(chosen({ cpu: 1, memory: 2 }, [])).toBe('[(res: cpu, q: 1), (res: memory, q: 2), ]');
  });
});

describe('C24: protected pods', () => {
  const other = (over: Partial<PodRequests>) => occupant('other', 500, 500, over);

  test.each<[string, Partial<PodRequests>, Partial<PodRequests>, boolean]>([
    ['a noncritical pod is preempted for a critical pod', { priority: null }, { priority: null }, true],
    ['a noncritical pod is preempted whatever its priority', { priority: 7 }, { priority: 1_000_000_000 }, true],
    ['a critical pod is not preempted', {}, { critical: true, priority: 2_000_000_000 }, false],
    ['a static pod without a priority is not preempted', {}, { critical: true, priority: null }, false],
    [
      'a critical pod of lower priority is preempted',
      { priority: 2_000_001_000 },
      { critical: true, priority: 2_000_000_000 },
      true,
    ],
  ])('%s', (_, by, over, ends) => {
    const unmet = '[(res: cpu, q: 100), ]';
    expect(chosen({ cpu: 100 }, [other(over)], { ...critical, ...by })).toEqual(ends ? ['other'] : unmet);
  });

  test('ranks a pod by its current request, and frees the admitted request', () => {
    const grown = { ...burstable, currentRequests: requestsWith({ critical: true, cpuMillis: 900 }) };
    expect(chosen({ cpu: 100 }, [grown])).toBe('[(res: cpu, q: 100), ]');
    const shrunk = { ...burstable, currentRequests: requestsWith({ cpuMillis: 0 }) };
    expect(chosen({ cpu: 100 }, [shrunk])).toEqual(['burstable']);
  });
});

describe('C24: the vectors of a kubelet', () => {
  const requestsOf = (name: PodName): PodRequests => {
    const figures: { qos: PodRequests['qos']; amount: number; priority?: number } = POD_FIGURES[name];
    const { qos, amount, priority = null } = figures;
    const amounts = { cpuMillis: amount, memoryBytes: amount * MiB };
    return requestsWith({ ...amounts, qos, priority, critical: priority !== null });
  };
  const occupantOf = (name: PodName): Occupant => {
    const requests = requestsOf(name);
    return { uid: name, requests, currentRequests: requests };
  };
  const needsOf = ([cpu, memory, pods]: Need): ResourceNeed[] =>
    [
      { resource: 'cpu', amount: cpu },
      { resource: 'memory', amount: memory * MiB },
      { resource: 'pods', amount: pods },
    ].filter(({ amount }) => amount > 0);
  const shortagesOf = (need: Need) =>
    needsOf(need).map(({ resource, amount }) => ({
      resource,
      requestedAmount: amount,
      usedAmount: 0,
      capacity: 0,
      holders: [],
    }));

  test.each(CHOICES)('choose for a pod: $title', ({ preemptor, pods, need, victims }) => {
    const choice = selectVictims(requestsOf(preemptor), shortagesOf(need), pods.map(occupantOf));
    expect('victims' in choice ? choice.victims.map(({ uid }) => uid).toSorted() : undefined).toEqual(
      victims?.toSorted(),
    );
  });

  test.each(DISTANCES)('have the distance of %s', (_, need, pod, distance) => {
    expect(distanceOf(occupantOf(pod), needsOf(need))).toBe(distance);
  });

  test.each(REMAINDERS)('leave of the needs: %s', (_, need, pod, remainder) => {
    expect(remainingNeeds(needsOf(need), [occupantOf(pod)])).toEqual(needsOf(remainder));
  });

  test.each(SIZE_COMPARISONS)('compare sizes: %s', (_, [cpu, memory], [otherCpu, otherMemory], expected) => {
    const size = (cpuMillis: number, mib: number) => ({ cpuMillis, memoryBytes: mib * MiB });
    expect(isNoLarger(size(cpu, memory), size(otherCpu, otherMemory))).toBe(expected);
  });

  test.each(ADMISSIONS)('$title', ({ admitted, pods, need: [cpu, memory, podCount], hasOtherReason, outcome }) => {
    const [requests, occupants] = [
      requestsOf(admitted),
      pods.map((name, index) => ({ ...occupantOf(name), uid: `${name}/${index}` })),
    ];
    const used = (amountOf: (each: PodRequests) => number) =>
      [requests, ...occupants.map((each) => each.requests)].reduce((sum, each) => sum + amountOf(each), 0);
    const decision = decideAdmission(
      { pod: aPod(hasOtherReason ? { nodeName: 'other' } : {}), requests, wasAdmitted: false },
      {
        node: {
          name: 'node',
          labels: {},
          taints: [],
          sysctls: [],
          appArmor: false,
          strictGroups: false,
          pressure: [],
          isShuttingDown: false,
        },
        capacity: {
          cpuMillis: used(({ cpuMillis }) => cpuMillis) - cpu,
          memoryBytes: used(({ memoryBytes }) => memoryBytes) - memory * MiB,
          pods: occupants.length + 1 - podCount,
        },
        occupants,
        reserved: [],
      },
    );
    if ('reason' in outcome) expect(decision).toMatchObject({ kind: 'refused', reason: outcome.reason });
    else {
      const uids = decision.kind === 'preempting' ? decision.uids.map((uid) => uid.split('/')[0]) : [];
      expect(uids.toSorted()).toEqual(outcome.victims.toSorted());
    }
  });

  test('admit no critical pod while the host shuts down, and preempt nothing for it', () => {
    const node = {
      name: 'node',
      labels: {},
      taints: [],
      sysctls: [],
      appArmor: false,
      strictGroups: false,
      pressure: [],
      isShuttingDown: true,
    };
    const capacity = { cpuMillis: 100, memoryBytes: 100 * MiB, pods: 1 };
    const candidate = { pod: aPod(), requests: requestsOf('clusterCritical'), wasAdmitted: false };
    const decision = decideAdmission(candidate, { node, capacity, occupants: [occupantOf('burstable')], reserved: [] });
    expect(decision).toMatchObject({ kind: 'refused', reason: 'NodeShutdown' });
  });
});
