import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodRequests } from '../../../kubernetes/resources/requests.ts';
import type { AdmissionResult } from '../../../machines/shared/events/events.ts';
import { aPod, requestsWith } from '../../kubernetes/fixtures.ts';
import { admission, asker } from '../support/stand.ts';

const requests = (over: Partial<PodRequests> = {}): PodRequests => requestsWith({ cpuMillis: 1_000, ...over });
const small = { cpuMillis: 2_000, memoryBytes: 2 ** 30, pods: 3 };
const http = { port: 80, protocol: 'TCP', hostIp: '' } as const;

interface Asking {
  readonly pod?: Pod;
  readonly requests?: PodRequests;
  readonly allocated?: PodRequests;
  readonly adopted?: boolean;
  readonly fullName?: string;
}

/** Requests the admission of a pod and records the responses. */
function ask(of: ReturnType<typeof admission>, uid: string, asking: Asking = {}) {
  const { holder, heard } = asker<AdmissionResult>(of);
  const fullName = asking.fullName ?? `default/${uid}`;
  const send = ({ requests: wanted = requests(), adopted: isAdopted = false, allocated }: Asking) =>
    of.send({
      type: 'admission.request',
      uid,
      fullName,
      pod: asking.pod ?? aPod(),
      requests: wanted,
      isAdopted,
      holder,
      ...(allocated ? { allocated } : {}),
    });
  send(asking);
  return { answers: () => heard().map((answer) => ('reason' in answer ? answer.reason : 'admitted')), again: send };
}

const allocatedOf = (of: ReturnType<typeof admission>, uid: string) =>
  of.getSnapshot().context.entries.find((entry) => entry.uid === uid)?.allocated?.cpuMillis;

describe('admission', () => {
  test('admits pods while resources last, then rejects them with the reason of the kubelet', () => {
    const of = admission(small);
    expect(ask(of, 'a').answers()).toEqual(['admitted']);
    expect(ask(of, 'b').answers()).toEqual(['admitted']);
    expect(ask(of, 'c').answers()).toEqual(['OutOfcpu']);
    expect(ask(of, 'd', { requests: requests({ cpuMillis: 0, memoryBytes: 2 ** 31 }) }).answers()).toEqual([
      'OutOfmemory',
    ]);
    expect(allocatedOf(of, 'c')).toBeUndefined();
  });

  test('limits the number of pods', () => {
    const of = admission(small);
    const none = { requests: requests({ cpuMillis: 0 }) };
    expect(['a', 'b', 'c', 'd'].flatMap((uid) => ask(of, uid, none).answers())).toEqual([
      'admitted',
      'admitted',
      'admitted',
      'OutOfpods',
    ]);
  });

  test('C24: grants a host port to one pod only; a critical pod that cannot preempt is rejected with a different reason', () => {
    const of = admission(small);
    ask(of, 'a', { requests: requests({ hostPorts: [http], cpuMillis: 2_000, critical: true }) });
    expect(ask(of, 'b', { requests: requests({ hostPorts: [http], cpuMillis: 0 }) }).answers()).toEqual(['NodePorts']);
    expect(ask(of, 'c', { requests: requests({ critical: true }) }).answers()).toEqual(['UnexpectedAdmissionError']);
  });

  test('grants released resources to other pods', () => {
    const of = admission(small);
    ask(of, 'a', { requests: requests({ cpuMillis: 2_000, hostPorts: [http] }) });
    const late = ask(of, 'b', { requests: requests({ hostPorts: [http] }) });
    expect(late.answers()).toEqual(['OutOfcpu']);
    of.send({ type: 'admission.release', uid: 'a' });
    late.again({ requests: requests({ hostPorts: [http] }) });
    expect(late.answers()).toEqual(['OutOfcpu', 'admitted']);
  });

  test('never rejects a pod that runs already, and counts its resources', () => {
    const of = admission(small);
    ask(of, 'a', { requests: requests({ cpuMillis: 2_000 }) });
    expect(ask(of, 'b', { adopted: true }).answers()).toEqual(['admitted']);
    of.send({ type: 'admission.release', uid: 'a' });
    expect(ask(of, 'c', { requests: requests({ cpuMillis: 1_500 }) }).answers()).toEqual(['OutOfcpu']);
  });

  test('does not count a rejected pod', () => {
    const of = admission(small);
    ask(of, 'a', { requests: requests({ cpuMillis: 3_000 }) });
    expect(ask(of, 'b', { requests: requests({ cpuMillis: 2_000 }) }).answers()).toEqual(['admitted']);
  });
});

describe('reports requested and admitted resources of a pod', () => {
  test('retains what was admitted before a restart of the agent for a running pod', () => {
    const of = admission(small);
    ask(of, 'a', { adopted: true, requests: requests({ cpuMillis: 1_500 }), allocated: requests({ cpuMillis: 500 }) });
    expect(allocatedOf(of, 'a')).toBe(500);
    expect(ask(of, 'b', { requests: requests({ cpuMillis: 1_500 }) }).answers()).toEqual(['admitted']);
  });

  test('C24: rejects a pod that was admitted before a restart and no longer runs like any other, and frees its resources', () => {
    const of = admission(small);
    ask(of, 'a');
    const other = ask(of, 'b', { requests: requests({ cpuMillis: 500 }) });
    const known = { requests: requests({ cpuMillis: 1_500 }), allocated: requests({ cpuMillis: 300 }) };
    expect(ask(of, 'c', known).answers()).toEqual(['OutOfcpu']);
    expect(allocatedOf(of, 'c')).toBeUndefined();
    other.again({ requests: requests({ cpuMillis: 1_000 }) });
    expect(other.answers()).toEqual(['admitted', 'admitted']);
  });

  test('admits or rejects an update by the resources of the other pods; a rejected update leaves the admitted resources', () => {
    const of = admission(small);
    const pod = ask(of, 'a');
    ask(of, 'b');
    pod.again({ requests: requests({ cpuMillis: 1_500 }) });
    expect(pod.answers()).toEqual(['admitted', 'Deferred']);
    expect(of.getSnapshot().context.entries[0]).toMatchObject({
      desired: { cpuMillis: 1_500 },
      allocated: { cpuMillis: 1_000 },
    });
    pod.again({ requests: requests({ cpuMillis: 500 }) });
    expect(allocatedOf(of, 'a')).toBe(500);
  });

  test('decides a rejected update again whenever resources are released, until it is replaced or its pod is removed', () => {
    const of = admission(small);
    const pod = ask(of, 'a');
    const other = ask(of, 'b');
    pod.again({ requests: requests({ cpuMillis: 1_500 }) });
    other.again({ requests: requests({ cpuMillis: 700 }) });
    expect(pod.answers()).toEqual(['admitted', 'Deferred', 'Deferred']);
    other.again({ requests: requests({ cpuMillis: 500 }) });
    expect(pod.answers()).toEqual(['admitted', 'Deferred', 'Deferred', 'admitted']);
    expect(allocatedOf(of, 'a')).toBe(1_500);
    other.again({ requests: requests({ cpuMillis: 600 }) });
    other.again({ requests: requests({ cpuMillis: 400 }) });
    of.send({ type: 'admission.release', uid: 'a' });
    expect(other.answers()).toEqual(['admitted', 'admitted', 'admitted', 'Deferred', 'admitted']);
    expect(of.getSnapshot().context.refusedUpdates).toEqual([]);
  });
});

describe('pods with the same full name (C24)', () => {
  const web = { fullName: 'default/web', requests: requests({ cpuMillis: 0 }) };

  test('lets the second wait until the first is released, then the third', () => {
    const of = admission();
    ask(of, 'a', web);
    const second = ask(of, 'b', web);
    const third = ask(of, 'c', web);
    expect([second.answers(), third.answers()]).toEqual([[], []]);
    of.send({ type: 'admission.release', uid: 'a' });
    expect([second.answers(), third.answers()]).toEqual([['admitted'], []]);
    of.send({ type: 'admission.release', uid: 'b' });
    expect(third.answers()).toEqual(['admitted']);
  });

  test('releases the resources of a stopped pod, but its name only when nothing of it is left', () => {
    const of = admission({ ...small, pods: 1 });
    ask(of, 'a', web);
    const second = ask(of, 'b', web);
    of.send({ type: 'admission.releaseResources', uid: 'a' });
    expect(second.answers()).toEqual([]);
    expect(ask(of, 'c').answers()).toEqual(['admitted']);
    of.send({ type: 'admission.release', uid: 'c' });
    of.send({ type: 'admission.release', uid: 'a' });
    of.send({ type: 'admission.releaseResources', uid: 'nobody' });
    expect(second.answers()).toEqual(['admitted']);
    expect(of.getSnapshot().context.entries.map(({ uid }) => uid)).toEqual(['b']);
  });

  test('do not block pods of other names', () => {
    const of = admission();
    ask(of, 'a', web);
    ask(of, 'b', web);
    expect(ask(of, 'c').answers()).toEqual(['admitted']);
  });

  test('get no decision if they are removed while they wait', () => {
    const of = admission();
    ask(of, 'a', web);
    const waiting = ask(of, 'b', web);
    of.send({ type: 'admission.release', uid: 'b' });
    of.send({ type: 'admission.release', uid: 'a' });
    expect(waiting.answers()).toEqual([]);
    expect(of.getSnapshot().context).toMatchObject({ entries: [], waitingRequests: [] });
  });

  test('replace a waiting request by a later one', () => {
    const of = admission();
    ask(of, 'a', web);
    const waiting = ask(of, 'b', web);
    waiting.again({ requests: requests({ cpuMillis: 100 }) });
    of.send({ type: 'admission.release', uid: 'a' });
    expect(waiting.answers()).toEqual(['admitted']);
    expect(allocatedOf(of, 'b')).toBe(100);
  });

  test('release the name when they are rejected', () => {
    const of = admission(small);
    expect(ask(of, 'a', { ...web, requests: requests({ cpuMillis: 9_000 }) }).answers()).toEqual(['OutOfcpu']);
    expect(ask(of, 'b', web).answers()).toEqual(['admitted']);
  });

  test('are not decided before the name is free', () => {
    const of = admission();
    let looks = 0;
    const counted = (uid: string, fullName: string) => {
      const wanted = requests({ cpuMillis: 0 });
      const watched = Object.defineProperty({ ...wanted }, 'cpuMillis', {
        get: () => {
          looks += 1;
          return 0;
        },
      });
      return ask(of, uid, { fullName, requests: watched });
    };
    for (const name of ['x', 'y', 'z'])
      ask(of, `${name}-old`, { fullName: name, requests: requests({ cpuMillis: 0 }) });
    const waiting = ['x', 'y', 'z'].map((name) => counted(`${name}-new`, name));
    looks = 0;
    ask(of, 'other', { requests: requests({ cpuMillis: 0 }) });
    of.send({ type: 'admission.releaseResources', uid: 'other' });
    of.send({ type: 'admission.release', uid: 'other' });
    expect(looks).toBe(0);
    of.send({ type: 'admission.release', uid: 'y-old' });
    expect(looks).toBeGreaterThan(0);
    expect(waiting.map((each) => each.answers())).toEqual([[], ['admitted'], []]);
  });
});
