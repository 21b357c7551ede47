import { expect, test } from '@jest/globals';
import { createActor, fromCallback, setup } from 'xstate';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { initialAssignments } from '../../../kubernetes/cpus/cpuPolicy.ts';
import { initialMemoryAssignments, type MemoryAssignment } from '../../../kubernetes/numaMemory/memoryAssignments.ts';
import { requestsOf } from '../../../kubernetes/resources/requests.ts';
import { changedRequests } from '../../../kubernetes/resources/resize.ts';
import { admissionMachine } from '../../../machines/admission/chart.ts';
import { waitDescription } from '../../../machines/admission/context.ts';
import { simulatedCpuManager, simulatedMemoryManager } from '../../../testing/simulation/host/cpuTopologies.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const GIB = 2 ** 30;

const progress = { revision: 0, reportedRevision: 0, unconfirmed: [] };

/** A Guaranteed pod with one container, and optionally an init container. */
function guaranteed(uid: string, memory: string, initMemory?: string, cpu = '500m'): Pod {
  const container = (name: string, amount: string) => {
    const amounts = { cpu, memory: amount };
    return containerWith(name, { resources: { requests: amounts, limits: amounts } });
  };
  const pod = podWith(uid, {
    containers: [container('main', memory)],
    initContainers: initMemory === undefined ? [] : [container('setup', initMemory)],
  });
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

interface Heard {
  readonly type: string;
  readonly reason?: string;
  readonly message?: string;
  readonly revision?: number;
}

/** Creates the admission of a laptop with 16 GiB, with fake managers and fake pods that record their events. */
function admissionStory({ hasCpuManager = false, containers = [] as readonly MemoryAssignment[] } = {}) {
  const heard: { by: string; event: Heard }[] = [];
  const ear = fromCallback<Heard, string>(({ receive, input: by }) =>
    receive((event) => void heard.push({ by, event })),
  );
  const { reconcileMs: _, ...cpuManager } = simulatedCpuManager('laptop');
  const memoryManager = simulatedMemoryManager('laptop');
  const assignments = { ...initialMemoryAssignments(memoryManager.memoryPolicy), containers };
  const node = setup({ actors: { admission: admissionMachine, ear } }).createMachine({
    context: ({ spawn }) => {
      for (const id of ['cpus', 'memoryManager', 'a', 'b', 'c']) spawn('ear', { id, systemId: id, input: id });
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
          memory: { ...memoryManager, assignments, ...progress },
          ...(hasCpuManager
            ? { cpus: { ...cpuManager, assignments: initialAssignments(cpuManager.cpuPolicy), ...progress } }
            : {}),
        },
      });
      return {};
    },
  });
  const root = createActor(node).start();
  const lastPods = new Map<string, Pod>();
  const admission = root.getSnapshot().children.admission as ReturnType<typeof createActor<typeof admissionMachine>>;
  const memory = () => admission.getSnapshot().context.memory?.assignments;
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
    revisions: () => heard.flatMap(({ by, event }) => (by === 'memoryManager' ? [event.revision] : [])),
    freeGib: () => (memory()?.nodes[0]?.tables[0]?.free ?? 0) / GIB,
    holders: () => memory()?.containers.map(({ podUid, container }) => `${podUid}/${container}`),
    waitOf: (uid: string) => waitDescription(admission.getSnapshot().context, uid),
  };
}

test('reserves memory at once, and admits the pod when its assignment is saved', () => {
  const { send, request, answers, revisions, freeGib, waitOf } = admissionStory();
  request(guaranteed('a', '2Gi'));
  expect([answers('a'), revisions(), freeGib()]).toEqual([[], [1], 13]);
  expect(waitOf('a')).toBe('the assignment of its memory to be saved');
  send({ type: 'admission.memorySaved', revision: 1 });
  expect([answers('a'), waitOf('a')]).toEqual([['admission.admitted'], undefined]);
});

test('a pod with exclusive CPUs and memory is admitted when both are saved', () => {
  for (const order of [
    ['admission.cpusSaved', 'admission.memorySaved'] as const,
    ['admission.memorySaved', 'admission.cpusSaved'] as const,
  ]) {
    const { send, request, answers } = admissionStory({ hasCpuManager: true });
    request(guaranteed('a', '2Gi', undefined, '2'));
    send({ type: order[0], revision: 1 });
    expect(answers('a')).toEqual([]);
    send({ type: order[1], revision: 1 });
    expect(answers('a')).toEqual(['admission.admitted']);
  }
});

test('a pod that is not Guaranteed waits for no write', () => {
  const { request, answers, revisions } = admissionStory();
  request(podWith('a', {}, { uid: 'a' }));
  expect([answers('a'), revisions()]).toEqual([['admission.admitted'], []]);
});

test('refuses a pod for which no NUMA node has memory, with the message of a kubelet', () => {
  const { request, messages } = admissionStory();
  request(guaranteed('a', '16Gi'));
  expect(messages('a')).toEqual([
    'Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected',
  ]);
});

test('waits for the memory of a pod that is leaving', () => {
  const { send, request, answers } = admissionStory();
  request(guaranteed('a', '10Gi'));
  send({ type: 'admission.leave', uid: 'a' });
  request(guaranteed('b', '10Gi'));
  expect(answers('b')).toEqual([]);
  send({ type: 'admission.release', uid: 'a' });
  send({ type: 'admission.memorySaved', revision: 3 });
  expect(answers('b')).toEqual(['admission.admitted']);
});

test.each(['admission.containersStopped', 'admission.releaseResources', 'admission.release'] as const)(
  'releases the memory of a pod on %s, also before it is saved',
  (type) => {
    const { send, request, revisions, freeGib, answers } = admissionStory();
    request(guaranteed('a', '2Gi'));
    send({ type, uid: 'a' });
    send({ type: 'admission.memorySaved', revision: 2 });
    expect([revisions(), freeGib(), answers('a')]).toEqual([[1, 2], 15, []]);
  },
);

test('releases what the init containers have beyond the others when they have completed', () => {
  const { send, request, freeGib, holders } = admissionStory();
  request(guaranteed('a', '2Gi', '5Gi'));
  expect(freeGib()).toBe(10);
  send({ type: 'admission.initialized', uid: 'a', containers: ['setup'] });
  expect([freeGib(), holders()]).toEqual([13, ['a/main']]);
});

test('releases the memory of pods that are gone once all pods are known', () => {
  const blocks = [{ numaNodes: [0], resource: 'memory', bytes: GIB }];
  const { send, holders } = admissionStory({ containers: [{ podUid: 'gone', container: 'main', blocks }] });
  send({ type: 'admission.podsKnown', uids: ['gone'] });
  expect(holders()).toEqual(['gone/main']);
  send({ type: 'admission.podsKnown', uids: [] });
  expect(holders()).toEqual([]);
});

test('a running pod is not refused if there is no memory for it', () => {
  const { request, answers, holders } = admissionStory();
  request(guaranteed('a', '16Gi'), true);
  expect([answers('a'), holders()]).toEqual([['admission.admitted'], []]);
});

test('a resize of the memory of a Guaranteed pod is infeasible', () => {
  const { send, request, answers, messages } = admissionStory();
  request(guaranteed('a', '2Gi'));
  send({ type: 'admission.memorySaved', revision: 1 });
  request(guaranteed('a', '3Gi'));
  expect(answers('a')).toEqual(['admission.admitted', 'Infeasible']);
  expect(messages('a').at(-1)).toBe(
    'Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"',
  );
});
