import { describe, expect, test } from '@jest/globals';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { PodRequests } from '../../../kubernetes/resources/requests.ts';
import type { AdmissionEvent, AdmissionFact, AdmissionResult } from '../../../machines/shared/events/events.ts';
import { aPod, requestsWith } from '../../kubernetes/fixtures.ts';
import { admission, asker, ear } from '../support/stand.ts';

const small = { cpuMillis: 1_000, memoryBytes: 2 ** 30, pods: 10 };
const large = { ...small, cpuMillis: 4_000 };

/** Creates the admission of a node with one core in zone a. */
function stand() {
  const reports = ear<AdmissionFact>();
  const of = admission(small, reports.ref, { labels: { zone: 'a' } });
  const ask = (
    uid: string,
    cpuMillis: number,
    over: Partial<PodRequests> = {},
    spec: Partial<PodSpec> = {},
    isResize = false,
  ) => {
    const { holder, heard } = asker<AdmissionResult>(of);
    const requests = requestsWith({ cpuMillis, ...over });
    const fullName = `default/${uid.split('-')[0]}`;
    of.send({
      type: 'admission.request',
      uid,
      fullName,
      pod: aPod(spec),
      requests,
      isAdopted: false,
      isResize,
      holder,
    });
    return () => heard().map((answer) => ('reason' in answer ? answer.reason : 'admitted'));
  };
  return {
    ask,
    send: of.send,
    ended: () => reports.heard().flatMap(({ uids }) => uids),
    change: (now: Omit<Extract<AdmissionEvent, { type: 'admission.nodeChanged' }>, 'type'>) =>
      of.send({ type: 'admission.nodeChanged', ...now }),
    context: () => of.getSnapshot().context,
  };
}

const inZone = (zone: string): Partial<PodSpec> => ({ nodeSelector: { zone } });

describe('a node whose properties change', () => {
  test('C25: admits a deferred resize once the node has grown', () => {
    const { ask, change } = stand();
    ask('a', 500);
    const grown = ask('a', 2_000);
    expect(grown()).toEqual(['Deferred']);
    change({ capacity: { ...small, cpuMillis: 1_500 } });
    expect(grown()).toEqual(['Deferred', 'Deferred']);
    change({ capacity: large });
    expect(grown()).toEqual(['Deferred', 'Deferred', 'admitted']);
  });

  test('C25: retries deferred resizes in the order of the kubelet: priority, Guaranteed, longest wait', () => {
    const { ask, change } = stand();
    const names = ['late', 'old', 'safe', 'vital'] as const;
    for (const name of names) ask(name, 200);
    const guaranteed = { qos: 'Guaranteed' } as const;
    const grown = {
      old: ask('old', 1_200),
      late: ask('late', 1_200),
      safe: ask('safe', 1_200, guaranteed),
      vital: ask('vital', 1_200, { priority: 10 }),
    };
    // A changed request does not move a deferred resize in the queue.
    grown.old = ask('old', 1_201);
    const admitted = () => names.filter((name) => grown[name]().includes('admitted'));
    change({ capacity: { ...large, cpuMillis: 1_801 } });
    expect(admitted()).toEqual(['vital']);
    change({ capacity: { ...large, cpuMillis: 2_801 } });
    expect(admitted()).toEqual(['safe', 'vital']);
    change({ capacity: { ...large, cpuMillis: 3_802 } });
    expect(admitted()).toEqual(['old', 'safe', 'vital']);
  });

  test('C25: retries a resize that does not raise the requests before one of a higher priority', () => {
    const { ask, change, context } = stand();
    ask('less', 600);
    ask('more', 400);
    change({ capacity: { ...small, cpuMillis: 300 } });
    const more = ask('more', 500, { priority: 10 });
    const less = ask('less', 100);
    expect([more(), less()]).toEqual([['Deferred'], ['Deferred']]);
    change({ capacity: { ...small, cpuMillis: 300 } });
    expect(context().refusedUpdates.map(({ uid }) => uid)).toEqual(['less', 'more']);
  });

  test('C25: defers a resize until another pod has actually given up what it was shrunk by', () => {
    const { ask, send } = stand();
    ask('a', 800);
    ask('b', 200);
    expect(ask('a', 300, {}, {}, true)()).toEqual(['admitted']);
    const grown = ask('b', 500, {}, {}, true);
    const deferred = ask('c', 100);
    expect([grown(), deferred()]).toEqual([['Deferred'], ['OutOfcpu']]);
    send({ type: 'admission.resizeCompleted', uid: 'b' });
    expect(grown()).toEqual(['Deferred']);
    send({ type: 'admission.resizeCompleted', uid: 'a' });
    expect(grown()).toEqual(['Deferred', 'admitted']);
  });

  test('C25: defers a resize while the node is under pressure, as it would refuse a new pod, and admits it afterwards', () => {
    const { ask, change } = stand();
    ask('a', 500);
    change({ node: { pressure: ['DiskPressure'] } });
    const [resized, updated] = [ask('a', 400, {}, {}, true), ask('a', 500)];
    expect([resized(), updated()]).toEqual([['Deferred'], ['admitted']]);
    const waiting = ask('a', 400, {}, {}, true);
    change({ node: { pressure: [] } });
    expect(waiting()).toEqual(['Deferred', 'admitted']);
  });

  test('C25: defers a resize of a pod that the labels of the node no longer match', () => {
    const { ask, change } = stand();
    ask('a', 500, {}, inZone('a'));
    change({ node: { labels: { zone: 'b' } } });
    expect(ask('a', 400, {}, inZone('a'), true)()).toEqual(['Deferred']);
    expect(ask('a', 400, {}, inZone('a'))()).toEqual(['admitted']);
  });

  test('C24: admits a critical pod that waits for preempted pods as soon as there is room beside them', () => {
    const { ask, change, ended } = stand();
    ask('a', 1_000);
    const important = ask('important', 1_000, { critical: true });
    expect([ended(), important()]).toEqual([['a'], []]);
    change({ capacity: large });
    expect(important()).toEqual(['admitted']);
  });

  test('C24: does not reconsider a rejected pod; the next one is decided by the new labels and taints', () => {
    const { ask, change } = stand();
    const refused = ask('refused', 0, {}, inZone('b'));
    expect(refused()).toEqual(['NodeAffinity']);
    change({ node: { labels: { zone: 'b' } } });
    expect([refused(), ask('next', 0, {}, inZone('b'))()]).toEqual([['NodeAffinity'], ['admitted']]);
    expect(ask('late', 0, {}, inZone('a'))()).toEqual(['NodeAffinity']);
    change({ node: { taints: [{ key: 'broken', effect: 'NoExecute' }] } });
    expect(ask('tainted', 0, {}, inZone('b'))()).toEqual(['TaintToleration']);
  });

  test('C24: decides a pod that waits for its name by the node at that time', () => {
    const { ask, change, send } = stand();
    ask('web-1', 0);
    const second = ask('web-2', 0, {}, inZone('b'));
    change({ node: { labels: { zone: 'b' } } });
    expect(second()).toEqual([]);
    send({ type: 'admission.release', uid: 'web-1' });
    expect(second()).toEqual(['admitted']);
  });

  test('leaves undefined properties unchanged, and admitted pods admitted when the node shrinks', () => {
    const { ask, change, context } = stand();
    const first = ask('a', 1_000);
    change({ capacity: { ...small, cpuMillis: 500 } });
    expect(context()).toMatchObject({ node: { labels: { zone: 'a' }, strictGroups: false } });
    change({ node: { strictGroups: true } });
    expect(context()).toMatchObject({
      capacity: { cpuMillis: 500 },
      node: { labels: { zone: 'a' }, strictGroups: true },
    });
    expect([first(), ask('b', 100)()]).toEqual([['admitted'], ['OutOfcpu']]);
  });
});
