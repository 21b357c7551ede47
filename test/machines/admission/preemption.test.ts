import { describe, expect, test } from '@jest/globals';
import type { AdmissionNode } from '../../../kubernetes/admission/node.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import type { PodRequests } from '../../../kubernetes/resources/requests.ts';
import type { AdmissionFact, AdmissionResult } from '../../../machines/shared/events/events.ts';
import { aPod, requestsWith } from '../../kubernetes/fixtures.ts';
import { admission, asker, ear } from '../support/stand.ts';

const http = { port: 80, protocol: 'TCP', hostIp: '' } as const;

/** Creates the admission of a node with four cores, with a recorder of the pods to preempt. */
function stand(node: Partial<AdmissionNode> = {}) {
  const reports = ear<AdmissionFact>();
  const of = admission({ cpuMillis: 4_000, memoryBytes: 2 ** 30, pods: 10 }, reports.ref, node);
  const ask = (
    uid: string,
    cpuMillis: number,
    over: Partial<PodRequests> & { adopted?: boolean; spec?: Partial<PodSpec> } = {},
  ) => {
    const { adopted: isAdopted = false, spec = {}, ...more } = over;
    const { holder, heard } = asker<AdmissionResult>(of);
    const requests = requestsWith({ cpuMillis, ...more });
    of.send({
      type: 'admission.request',
      uid,
      fullName: `default/${uid}`,
      pod: aPod(spec),
      requests,
      isAdopted,
      holder,
    });
    return () => heard().map((answer) => ('reason' in answer ? answer.reason : 'admitted'));
  };
  return {
    ask,
    /** Returns the preempted pods, in the order in which admission reported them. */
    ended: () => reports.heard().map(({ uids }) => uids.join('+')),
    settle: (uid: string) => of.send({ type: 'admission.releaseResources', uid }),
    release: (uid: string) => of.send({ type: 'admission.release', uid }),
    see: (strictGroups: boolean) => of.send({ type: 'admission.nodeChanged', node: { strictGroups } }),
    context: () => of.getSnapshot().context,
  };
}

const critical = { critical: true };

describe('C24: preemption for a critical pod', () => {
  test('terminates the pods in its way, and admits it when they have terminated', () => {
    const { ask, ended, settle, context } = stand();
    const [a, b] = [ask('a', 2_000), ask('b', 2_000)];
    const important = ask('important', 3_000, critical);
    expect([a(), b(), important()]).toEqual([['admitted'], ['admitted'], []]);
    expect(ended()).toEqual(['b+a']);
    settle('a');
    expect(important()).toEqual([]);
    settle('b');
    expect(important()).toEqual(['admitted']);
    expect(context().entries.find(({ uid }) => uid === 'b')).toMatchObject({ allocated: null, isPreempted: false });
  });

  test('preempts no pod twice, and other pods for a second critical pod', () => {
    const { ask, ended, settle } = stand();
    ask('a', 2_000);
    ask('b', 2_000);
    const [first, second] = [ask('first', 2_000, critical), ask('second', 2_000, critical)];
    expect(ended()).toEqual(['b', 'a']);
    settle('a');
    // The freed resources suffice for one pod. `first` gets them because it came first, although the victim of
    // `second` terminated first.
    expect([first(), second()]).toEqual([['admitted'], []]);
    settle('b');
    expect(second()).toEqual(['admitted']);
  });

  test('reserves the released resources for the critical pod', () => {
    const { ask, settle } = stand();
    ask('a', 3_000);
    const important = ask('important', 4_000, critical);
    expect(ask('small', 1_000)()).toEqual(['OutOfcpu']);
    settle('a');
    expect(important()).toEqual(['admitted']);
  });

  test('lets a pod that fits beside it wait until the others have terminated', () => {
    const { ask, settle } = stand();
    ask('a', 3_500);
    const important = ask('important', 1_000, critical);
    const small = ask('small', 1_000);
    expect([important(), small()]).toEqual([[], []]);
    settle('a');
    expect([important(), small()]).toEqual([['admitted'], ['admitted']]);
  });

  test('does not delay a pod that needs none of the resources of the preempted pods', () => {
    const { ask } = stand();
    ask('a', 4_000);
    ask('important', 1_000, critical);
    expect(ask('none', 0)()).toEqual(['admitted']);
  });

  test('lets a waiting pod step back for the next critical one', () => {
    const { ask, ended, settle } = stand();
    ask('a', 4_000);
    const important = ask('important', 2_000, critical);
    const small = ask('small', 2_000);
    const second = ask('second', 2_000, critical);
    expect([important(), small(), second()]).toEqual([[], [], []]);
    settle('a');
    // `small` came before `second`, so it is admitted, and is then preempted like a pod that was already running.
    expect([important(), small(), second()]).toEqual([['admitted'], ['admitted'], []]);
    expect(ended()).toEqual(['a', 'small']);
    settle('small');
    expect(second()).toEqual(['admitted']);
  });

  test('does not release a host port until the preempted pod has terminated', () => {
    const { ask, settle } = stand();
    ask('a', 4_000, { hostPorts: [http] });
    ask('important', 1_000, critical);
    const web = ask('web', 0, { hostPorts: [http] });
    expect(web()).toEqual([]);
    settle('a');
    expect(web()).toEqual(['admitted']);
  });

  test('decides the next pods without the critical pod if it is removed before the others have terminated', () => {
    const { ask, settle, release } = stand();
    ask('a', 4_000);
    const important = ask('important', 4_000, critical);
    release('important');
    const next = ask('next', 4_000);
    settle('a');
    expect([important(), next()]).toEqual([[], ['admitted']]);
  });

  test('preempts a pod again that runs again, as after its actor failed', () => {
    const { ask, ended } = stand();
    ask('a', 4_000);
    const important = ask('important', 4_000, critical);
    ask('a', 4_000, { adopted: true });
    expect(ended()).toEqual(['a', 'a']);
    expect(important()).toEqual([]);
  });

  test('preempts for an update of a critical pod, which retains its resources while it waits', () => {
    const { ask, ended, settle, context } = stand();
    ask('a', 2_000);
    ask('important', 1_000, critical);
    const update = ask('important', 3_000, critical);
    expect([update(), ended()]).toEqual([[], ['a']]);
    // Only the requested resources are reserved for the pod, not its current ones in addition.
    const [fits, does] = [ask('fits', 1_000), ask('does', 500)];
    settle('a');
    expect([update(), fits(), does()]).toEqual([['admitted'], ['admitted'], ['OutOfcpu']]);
    expect(context().entries.find(({ uid }) => uid === 'important')?.allocated).toMatchObject({ cpuMillis: 3_000 });
  });

  test('defers an update for which no pod can be preempted', () => {
    const { ask, ended } = stand();
    ask('a', 2_000, critical);
    ask('important', 2_000, critical);
    expect(ask('important', 3_000, critical)()).toEqual(['Deferred']);
    expect(ask('plain', 10)()).toEqual(['OutOfcpu']);
    expect(ended()).toEqual([]);
  });

  test('does not preempt for an update of a pod that is not critical', () => {
    const { ask, ended } = stand();
    ask('a', 2_000);
    ask('plain', 2_000);
    expect(ask('plain', 3_000)()).toEqual(['Deferred']);
    expect(ended()).toEqual([]);
  });

  test('does not preempt for a host port that an update requests', () => {
    const { ask, ended } = stand();
    ask('a', 3_000, { hostPorts: [http] });
    ask('important', 1_000, critical);
    expect(ask('important', 2_000, { ...critical, hostPorts: [http] })()).toEqual(['NodePorts']);
    expect(ended()).toEqual([]);
  });

  test('admits an adopted critical pod at once, without preemption', () => {
    const { ask, ended } = stand();
    ask('a', 4_000);
    expect(ask('important', 4_000, { ...critical, adopted: true })()).toEqual(['admitted']);
    expect(ended()).toEqual([]);
  });
});

describe('properties of the node that pods require', () => {
  test('checks labels, but not for a pod that runs already', () => {
    const { ask } = stand({ labels: { zone: 'a' } });
    const spec = { nodeSelector: { zone: 'b' } };
    expect(ask('new', 0, { spec })()).toEqual(['NodeAffinity']);
    expect(ask('runs', 0, { spec, adopted: true })()).toEqual(['admitted']);
    expect(ask('runs', 100, { spec })()).toEqual(['admitted']);
  });

  test('checks what the runtime supports once the runtime has reported it', () => {
    const { ask, see } = stand();
    const spec = { securityContext: { supplementalGroupsPolicy: 'Strict' as const } };
    expect(ask('early', 0, { spec })()).toEqual(['SupplementalGroupsPolicyNotSupported']);
    see(true);
    expect(ask('late', 0, { spec })()).toEqual(['admitted']);
  });
});
