import { expect, test } from '@jest/globals';
import { createActor, fromCallback, setup } from 'xstate';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type CpuAssignment, initialAssignments } from '../../../kubernetes/cpus/cpuPolicy.ts';
import { formatCpuSet } from '../../../kubernetes/cpus/cpuSet.ts';
import { requestsOf } from '../../../kubernetes/resources/requests.ts';
import { changedRequests } from '../../../kubernetes/resources/resize.ts';
import { admissionMachine } from '../../../machines/admission/chart.ts';
import { waitDescription } from '../../../machines/admission/context.ts';
import { simulatedCpuManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const { cpuPolicy } = simulatedCpuManager('laptop');

/** A Guaranteed pod with one container. */
function guaranteed(uid: string, cpu: string): Pod {
  const amounts = { cpu, memory: '1Gi' };
  const pod = podWith(uid, {
    containers: [containerWith('main', { resources: { requests: amounts, limits: amounts } })],
  });
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

interface Heard {
  readonly type: string;
  readonly reason?: string;
  readonly message?: string;
  readonly revision?: number;
}

/**
 * Creates the admission of a laptop with eight CPUs, with a fake CPU manager and fake pods that record their events.
 */
function admissionStory(exclusive: readonly CpuAssignment[] = []) {
  const heard: { by: string; event: Heard }[] = [];
  const ear = fromCallback<Heard, string>(({ receive, input: by }) =>
    receive((event) => void heard.push({ by, event })),
  );
  const assignments = { ...initialAssignments(cpuPolicy), exclusive };
  const cpus = { cpuPolicy, assignments, revision: 0, reportedRevision: 0, unconfirmed: [] };
  const node = setup({ actors: { admission: admissionMachine, ear } }).createMachine({
    context: ({ spawn }) => {
      for (const id of ['cpus', 'a', 'b', 'c']) spawn('ear', { id, systemId: id, input: id });
      spawn('admission', {
        id: 'admission',
        input: {
          capacity: { cpuMillis: 8_000, memoryBytes: 2 ** 40, pods: 110 },
          node: {
            name: 'node-1',
            labels: {},
            taints: [],
            sysctls: [],
            appArmor: true,
            strictGroups: false,
            pressure: [],
            isShuttingDown: false,
          },
          cpus,
        },
      });
      return {};
    },
  });
  const root = createActor(node).start();
  const lastPods = new Map<string, Pod>();
  const admission = root.getSnapshot().children.admission as ReturnType<typeof createActor<typeof admissionMachine>>;
  return {
    send: admission.send.bind(admission),
    request: (pod: Pod, isAdopted = false) => {
      const { uid } = pod.metadata;
      const change = { changedRequests: changedRequests(lastPods.get(uid) ?? pod, pod), isAdopted };
      lastPods.set(uid, pod);
      const requests = requestsOf(pod);
      admission.send({ type: 'admission.request', uid, fullName: uid, pod, requests, ...change, holder: [uid] });
    },
    answers: (uid: string) => heard.flatMap(({ by, event }) => (by === uid ? [event.reason ?? event.type] : [])),
    messages: (uid: string) => heard.flatMap(({ by, event }) => (by === uid ? [event.message] : [])),
    revisions: () => heard.flatMap(({ by, event }) => (by === 'cpus' ? [event.revision] : [])),
    shared: () => formatCpuSet(admission.getSnapshot().context.cpus?.assignments.shared ?? []),
    waitOf: (uid: string) => waitDescription(admission.getSnapshot().context, uid),
  };
}

test('exclusive CPUs are reserved at once, and the pod is admitted when they are saved', () => {
  const { send, request, answers, revisions, shared, waitOf } = admissionStory();
  request(guaranteed('a', '2'));
  expect([answers('a'), revisions(), shared()]).toEqual([[], [1], '0,2-4,6-7']);
  expect(waitOf('a')).toBe('the assignment of its exclusive CPUs to be saved');
  send({ type: 'admission.cpusSaved', revision: 1 });
  expect([answers('a'), waitOf('a')]).toEqual([['admission.admitted'], undefined]);
});

test('one write admits all pods that precede it, and none that follow', () => {
  const { send, request, answers, revisions } = admissionStory();
  request(guaranteed('a', '1'));
  request(guaranteed('b', '1'));
  request(guaranteed('c', '1'));
  expect(revisions()).toEqual([1, 2, 3]);
  send({ type: 'admission.cpusSaved', revision: 2 });
  expect(['a', 'b', 'c'].map(answers)).toEqual([['admission.admitted'], ['admission.admitted'], []]);
});

test('a pod without exclusive CPUs does not wait for a write', () => {
  const { request, answers, revisions } = admissionStory();
  request(guaranteed('a', '500m'));
  expect([answers('a'), revisions()]).toEqual([['admission.admitted'], []]);
});

test('a pod that is removed before its CPUs are saved is not admitted later', () => {
  const { send, request, answers, shared } = admissionStory();
  request(guaranteed('a', '2'));
  send({ type: 'admission.release', uid: 'a' });
  send({ type: 'admission.cpusSaved', revision: 2 });
  expect([answers('a'), shared()]).toEqual([[], '0-7']);
});

test.each(['admission.containersStopped', 'admission.releaseResources', 'admission.release'] as const)(
  'the CPUs of a pod are released on %s',
  (type) => {
    const { send, request, revisions, shared } = admissionStory();
    request(guaranteed('a', '2'));
    send({ type, uid: 'a' });
    expect([revisions(), shared()]).toEqual([[1, 2], '0-7']);
  },
);

test('a pod waits for the CPUs of a pod that is leaving, and is rejected if there will be none', () => {
  const { send, request, answers } = admissionStory();
  request(guaranteed('a', '5'));
  request(guaranteed('b', '3'));
  expect(answers('b')).toEqual(['UnexpectedAdmissionError']);
  send({ type: 'admission.leave', uid: 'a' });
  request(guaranteed('c', '3'));
  expect(answers('c')).toEqual([]);
  send({ type: 'admission.release', uid: 'a' });
  send({ type: 'admission.cpusSaved', revision: 3 });
  expect(answers('c')).toEqual(['admission.admitted']);
});

test('a running pod is not rejected, and shares the CPUs of the node if there are none for it', () => {
  const { request, answers, shared } = admissionStory();
  request(guaranteed('a', '8'), true);
  expect([answers('a'), shared()]).toEqual([['admission.admitted'], '0-7']);
});

test('the CPUs of pods that are gone are released once all pods are known', () => {
  const { send, shared } = admissionStory([{ podUid: 'gone', container: 'main', cpus: [3] }]);
  send({ type: 'admission.podsKnown', uids: ['gone'] });
  send({ type: 'admission.podsKnown', uids: [] });
  expect(shared()).toBe('0-7');
});

test('a resize of the CPUs of a Guaranteed pod is infeasible', () => {
  const { send, request, answers, messages } = admissionStory();
  request(guaranteed('a', '2'));
  send({ type: 'admission.cpusSaved', revision: 1 });
  request(guaranteed('a', '3'));
  expect(answers('a')).toEqual(['admission.admitted', 'Infeasible']);
  expect(messages('a').at(-1)).toBe('Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"');
  send({ type: 'admission.nodeChanged', node: {} });
  expect(answers('a')).toEqual(['admission.admitted', 'Infeasible']);
});
