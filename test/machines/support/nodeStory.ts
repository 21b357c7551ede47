/** Runs the node's machine with real pods over fake ports. The test sends the events of the feeds. */
import { createActor } from 'xstate';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';
import { nodeAgentMachine } from '../../../machines/node/chart.ts';
import type { NodeInput } from '../../../machines/node/context.ts';
import { nodeView } from '../../../machines/node/view.ts';
import type { NodeFact } from '../../../machines/shared/events/events.ts';
import { type PortName, provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import type { PodRef } from '../../../machines/shared/views/views.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { FakeWorld } from '../../fakes/world.ts';
import { aPod } from '../../kubernetes/fixtures.ts';
import { eventEar, START } from './stand.ts';

const CAPACITY = { cpuMillis: 4_000, memoryBytes: 2 ** 33, pods: 110 };

type Options = Partial<
  Pick<
    NodeInput,
    | 'sources'
    | 'statuses'
    | 'allocations'
    | 'left'
    | 'foreign'
    | 'allocatable'
    | 'endsAll'
    | 'cluster'
    | 'imageGarbage'
    | 'eviction'
    | 'shutdown'
    | 'reservedCgroups'
  >
> & {
  readonly before?: (world: FakeWorld) => unknown;
  readonly held?: readonly PortName[];
};

/** Returns a pod with this name and a UID of its own. */
export const namedPod = (name: string, spec: Partial<Pod['spec']> = {}, uid = `${name}-uid`): Pod =>
  aPod(spec, { name, uid });

/** Creates a node that has not received any event yet. */
export function nodeStory({ before, held = [], ...input }: Options = {}) {
  const world = new FakeWorld(
    () => ports.now,
    ({ metadata }) => `${metadata.name}/`,
  );
  const ports: FakePorts = new FakePorts(START, world.answers);
  ports.hold(...held);
  before?.(world);
  const { inspect, told } = eventEar();
  const actor = createActor(provideActors(nodeAgentMachine, ports), {
    inspect,
    input: {
      nodeName: 'node',
      hostIps: ['192.0.2.1'],
      owner: 'us',
      sources: ['file'],
      startSlots: 2,
      pullSlots: 1,
      statuses: {},
      left: [],
      capacity: CAPACITY,
      allocatable: CAPACITY,
      allocations: {},
      crashLoop: { baseMs: 10_000, maxMs: 300_000 },
      ...input,
    },
  });
  actor.start();
  const tell = (fact: NodeFact) => actor.send(fact);
  // Safe cast: the prefix of an ID determines the machine of its actor.
  const podRef = (uid: string) => actor.getSnapshot().children[`pod/${uid}`] as PodRef | undefined;
  return {
    world,
    ports,
    tell,
    send: actor.send,
    state: () => statePath(actor.getSnapshot().value),
    status: () => actor.getSnapshot().status,
    context: () => actor.getSnapshot().context,
    /** Returns the view of the node with its own actors. */
    view: () => nodeView(actor, () => 0),
    /** Returns one of the node's own actors as the actor tree shows it. */
    own: (name: string) => nodeView(actor, () => 0).tree.children.find((child) => child.name === name),
    /** Returns the state of a pod's actor. Undefined if there is none. */
    pod: (uid: string) => {
      const ref = podRef(uid);
      return ref && statePath(ref.getSnapshot().value);
    },
    podRef,
    admission: () => actor.getSnapshot().children.admission?.getSnapshot(),
    shutdownRef: () => actor.getSnapshot().children.shutdown,
    evictionRef: () => actor.getSnapshot().children.eviction,
    garbage: () => actor.getSnapshot().children.garbage?.getSnapshot(),
    /** Returns the events that the node and all actors below it have recorded since the last call. */
    told,
    /** Reports the complete set of pods of a source. */
    want: (pods: readonly Pod[], source = 'file') => tell({ type: 'config.podsListed', source, pods, at: ports.now }),
    /** Reports a healthy runtime in which exactly these pods exist. */
    list: (...pods: ObservedPod[]) => {
      const health = { since: ports.now, ready: true, name: 'fake', version: '1' };
      tell({ type: 'runtime.healthChanged', health });
      tell({ type: 'runtime.podsObserved', pods, at: ports.now });
    },
    tick: () => tell({ type: 'node.ticked', at: ports.now }),
    drain: () => tell({ type: 'node.drain', at: ports.now }),
  };
}
