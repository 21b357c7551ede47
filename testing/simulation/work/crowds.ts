/**
 * Defines stories of nodes with many objects of one kind. growth.ts plays each story with two numbers of objects and
 * compares the work.
 */
import { createActor } from 'xstate';
import { limiterMachine } from '../../../machines/limiter/chart.ts';
import type { SlotRequest } from '../../../machines/shared/events/slots.ts';
import { simulatedCluster } from '../cluster/simulatedCluster.ts';
import { type Simulation, simulateNode } from '../simulateNode.ts';
import { container, type Manifest, type ManifestContainer, manifest } from '../stories/manifests.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The port of a server that becomes unhealthy 20 s after its container has started. */
const UNHEALTHY_PORT = 8082;
const MAX_START_SECONDS = 300;
/** An image that cannot be pulled. */
const MISSING_IMAGE = 'registry.invalid/missing:1';

/** A phase of a story in which facts of one kind occur, e.g. exits of containers. */
export interface Phase {
  readonly name: string;
  /** Returns the number of facts that occur, given the number of objects. */
  readonly facts: (size: number) => number;
  /**
   * Duration of the phase in milliseconds, if the work of an idle period of the same duration is to be subtracted. The
   * idle period precedes the phase. Undefined if nothing is subtracted.
   */
  readonly lastsMs?: number;
  /**
   * Whether the work per fact may grow because of the statuses of a large pod, each of which contains all of its
   * containers. More statuses are sent if the phase takes longer with more objects.
   */
  readonly mayGrowByStatuses?: boolean;
  readonly act: (node: Simulation, size: number) => Promise<void>;
}

export interface Crowd {
  /** The kind of objects that the node has many of, e.g. `pods`. */
  readonly name: string;
  /** The number of objects in the smaller of the two runs. */
  readonly size: number;
  readonly phases: readonly Phase[];
}

const numbered = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index));

/**
 * The number of facts if there is one about each object, or if the work of a single fact may grow with the number of
 * objects.
 */
const factPerObject = (size: number): number => size;
/** The number of facts if there is a single one, whose work must not depend on the number of objects. */
const singleFact = (): number => 1;

const createPods = (node: Simulation, pods: readonly Manifest[]) => {
  for (const pod of pods) node.perform({ kind: 'createPod', pod });
};

const podNames = (node: Simulation) => node.pods().map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);

const creation = (podsOf: (size: number) => readonly Manifest[], mayGrowByStatuses = false): Phase => ({
  name: 'they are created and start',
  facts: factPerObject,
  mayGrowByStatuses,
  act: async (node, size) => {
    const pods = podsOf(size);
    createPods(node, pods);
    const containers = pods.flatMap(({ spec }) => spec.containers).filter(({ image }) => image !== MISSING_IMAGE);
    await untilRunning(node, containers.length);
  },
});

/**
 * Advances the time by 15 s, and then further until this many containers are running. Rejects if too few are running in
 * time.
 */
async function untilRunning(node: Simulation, count: number): Promise<void> {
  await node.advance(15 * SECOND);
  for (let second = 0; node.host.running().length < count; second += 1) {
    if (second === MAX_START_SECONDS) throw new Error(`${node.host.running().length} of ${count} containers run`);
    await node.advance(SECOND);
  }
}

const exitOfOne = (facts: Phase['facts']): Phase => ({
  name: 'a container exits and is restarted',
  facts,
  lastsMs: 30 * SECOND,
  act: async (node) => {
    node.perform({ kind: 'exit', which: 0, exitCode: 1 });
    await node.advance(30 * SECOND);
  },
});

const exitOfAll: Phase = {
  name: 'all containers exit and are restarted',
  facts: factPerObject,
  mayGrowByStatuses: true,
  act: async (node) => {
    for (const { id } of node.host.running()) node.host.runtime.exitContainer(id, 1);
    await node.advance(MINUTE);
  },
};

const probesFail: Phase = {
  name: 'the readiness of all containers changes',
  facts: factPerObject,
  act: (node) => node.advance(30 * SECOND),
};

const idle: Phase = { name: 'a minute passes', facts: factPerObject, act: (node) => node.advance(MINUTE) };

const failedPulls: Phase = {
  name: 'five minutes of failed pulls pass',
  facts: factPerObject,
  act: (node) => node.advance(5 * MINUTE),
};

const agentRestarts: Phase = {
  name: 'the agent restarts and adopts them',
  facts: factPerObject,
  act: async (node) => {
    node.kill({ cutsCalls: true });
    await node.startAgent();
    await node.advance(30 * SECOND);
  },
};

const deletion: Phase = {
  name: 'their pods are deleted',
  facts: factPerObject,
  act: async (node) => {
    for (const pod of podNames(node)) node.perform({ kind: 'deletePod', pod });
    await node.advance(MINUTE);
  },
};

const readinessProbe = { httpGet: { port: UNHEALTHY_PORT }, periodSeconds: 10, failureThreshold: 1 };
const probedContainer = (name: string, more: Partial<ManifestContainer> = {}) =>
  container(name, { readinessProbe, ...more });

const volumes = (count: number) => numbered(count, (index) => ({ name: `v${index}`, emptyDir: {} }));

/**
 * Returns the phases in the life of one large pod. A change of one container may cost work for each object, because the
 * pod's status contains all of them.
 */
const lifePhases = (podsOf: (size: number) => readonly Manifest[]): readonly Phase[] => [
  creation(podsOf, true),
  probesFail,
  exitOfOne(factPerObject),
  exitOfAll,
  idle,
  agentRestarts,
  deletion,
];

/**
 * Requests many slots of a limiter outside the node, and releases them. In the story of a node, the work of its limiters
 * is too small a share.
 */
const slotRequests = (name: string, requestFor: (index: number) => Partial<SlotRequest>): Phase => ({
  name,
  facts: factPerObject,
  act: async (_, size) => {
    const limiter = createActor(limiterMachine, { input: { capacity: 2 } }).start();
    const requests = numbered(size, (index) => ({
      key: `pod-${index}/start`,
      arrivalOrder: index,
      holder: ['nobody'],
      purpose: 'a start',
      ...requestFor(index),
    }));
    for (const request of requests) limiter.send({ type: 'slot.request', ...request });
    for (const { key } of requests) limiter.send({ type: 'slot.release', key });
    limiter.stop();
  },
});

/** Starts a node of a cluster, and waits until it is idle. */
export async function idleNode(): Promise<Simulation> {
  const node = await simulateNode({ seed: 1, cluster: simulatedCluster });
  node.perform({ kind: 'registryDown', images: [MISSING_IMAGE], forMs: 60 * MINUTE });
  await node.advance(30 * SECOND);
  return node;
}

export const crowds: readonly Crowd[] = [
  {
    name: 'pods',
    size: 6,
    phases: [
      creation((size) =>
        numbered(size, (index) => manifest(`pod-${index}`, { containers: [container('a'), container('b')] })),
      ),
      exitOfOne(singleFact),
      exitOfAll,
      agentRestarts,
      deletion,
    ],
  },
  {
    name: 'pods with probes',
    size: 5,
    phases: [
      creation((size) =>
        numbered(size, (index) => manifest(`pod-${index}`, { containers: [probedContainer('main')] })),
      ),
      probesFail,
      idle,
      deletion,
    ],
  },
  {
    name: 'containers and volumes of a pod',
    size: 40,
    phases: lifePhases((size) => [
      manifest('large', {
        volumes: volumes(size),
        containers: numbered(size, (index) =>
          probedContainer(`c${index}`, { volumeMounts: [{ name: `v${index}`, mountPath: '/data' }] }),
        ),
      }),
    ]),
  },
  {
    name: 'volumes of a pod',
    size: 100,
    phases: lifePhases((size) => [
      manifest('large', {
        volumes: volumes(size),
        containers: [
          probedContainer('main', {
            volumeMounts: numbered(size, (index) => ({ name: `v${index}`, mountPath: `/v${index}` })),
          }),
        ],
      }),
    ]),
  },
  {
    name: 'variables of a container',
    size: 500,
    phases: lifePhases((size) => [
      manifest('large', {
        containers: [
          probedContainer('main', { env: numbered(size, (index) => ({ name: `V${index}`, value: `value ${index}` })) }),
        ],
      }),
    ]),
  },
  {
    name: 'Services',
    size: 40,
    phases: [
      {
        name: 'they are created',
        facts: factPerObject,
        act: async (node, size) => {
          for (let index = 0; index < size; index += 1) node.cluster?.users.createService(`service-${index}`);
          await node.advance(15 * SECOND);
        },
      },
      {
        name: 'another one is created',
        facts: singleFact,
        lastsMs: 15 * SECOND,
        act: async (node) => {
          node.cluster?.users.createService('last');
          await node.advance(15 * SECOND);
        },
      },
      creation(() => [manifest('of-services')]),
      idle,
      deletion,
    ],
  },
  {
    name: 'waiting containers of a pod',
    size: 21,
    phases: [
      creation((size) => [
        manifest('large', { containers: numbered(size, (index) => container(`c${index}`, { image: MISSING_IMAGE })) }),
      ]),
      deletion,
    ],
  },
  {
    name: 'slot requests',
    size: 150,
    phases: [
      slotRequests('each pod requests a slot', (index) => ({ origin: `pod-${index}` })),
      slotRequests('a pod requests all slots', (index) => ({
        key: `pod/c${index}/start`,
        arrivalOrder: 1,
        origin: 'pod',
      })),
      slotRequests('only one of them may have a slot at a time', () => ({ origin: 'registry', subject: 'image' })),
    ],
  },
  {
    name: 'events',
    size: 5,
    phases: [
      creation((size) =>
        numbered(size, (index) =>
          manifest(`pod-${index}`, { containers: [container('main', { image: MISSING_IMAGE })] }),
        ),
      ),
      failedPulls,
      deletion,
    ],
  },
];
