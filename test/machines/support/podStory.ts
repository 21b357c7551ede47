/** Runs the machine of one pod with real children over fake ports, event by event. */

import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodRequests } from '../../../kubernetes/resources/requests.ts';
import type { Termination } from '../../../kubernetes/status/view.ts';
import { type AdmissionInput, findEntry } from '../../../machines/admission/context.ts';
import { podMachine } from '../../../machines/pod/chart.ts';
import type { PodInput } from '../../../machines/pod/context.ts';
import type { AdmissionEvent, PodEvent } from '../../../machines/shared/events/events.ts';
import { type PortName, provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { actorTree } from '../../../machines/shared/views/actorTree.ts';
import { podView } from '../../../machines/shared/views/views.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { FakeWorld } from '../../fakes/world.ts';
import { aPod } from '../../kubernetes/fixtures.ts';
import { shownPod } from '../../kubernetes/views.ts';
import { admission, childOf, ear, eventEar, limiter, START } from './stand.ts';

type Options = Partial<Pick<PodInput, 'termination' | 'restored' | 'allocation' | 'networkNotReady' | 'hasLogs'>> & {
  readonly pod?: Pod;
  /** Sets up the fake world before the actor starts. */
  readonly before?: (world: FakeWorld, pod: Pod) => unknown;
  /** Ports to which the test responds itself from the start. */
  readonly held?: readonly PortName[];
  /** Ports whose first call fails because the runtime is unavailable. */
  readonly failing?: readonly PortName[];
  /** Resources that are already admitted for other pods. */
  readonly taken?: PodRequests;
  /** The managers of the node's CPUs and devices. */
  readonly managers?: Pick<AdmissionInput, 'cpus' | 'devices'>;
};

/** Creates the pod `web`, which has just arrived on a node with enough resources for it. */
export function podStory(options: Options = {}) {
  const { pod = aPod(), before, held = [], failing = [], taken, managers, ...input } = options;
  const world = new FakeWorld(() => ports.now);
  const ports: FakePorts = new FakePorts(START, world.answers);
  ports.hold(...held);
  for (const name of failing) ports.failNext(name, 'RuntimeUnavailable');
  before?.(world, pod);
  const node = ear().ref;
  const limiters = {
    startLimiter: limiter(2, node, 'startLimiter'),
    pullLimiter: limiter(1, node, 'pullLimiter'),
  };
  const book = admission(undefined, node, {}, managers);
  if (taken) {
    const other = {
      uid: 'other',
      fullName: 'default/other',
      pod: aPod(),
      requests: taken,
      isAdopted: true,
      holder: ['other'],
    };
    book.send({ type: 'admission.request', ...other });
  }
  const { inspect, told } = eventEar();
  const actor = childOf(node, provideActors(podMachine, ports), {
    id: `pod/${pod.metadata.uid}`,
    inspect,
    input: {
      pod,
      arrivalOrder: 1,
      spawnedAt: ports.now,
      crashLoop: { baseMs: 10_000, maxMs: 300_000 },
      ...input,
      observed: world.observed(pod),
    },
  });
  actor.start();
  const send = (event: PodEvent) => actor.send(event);
  const tree = () => actorTree(actor, { getStateSince: () => START });
  const view = () => shownPod(podView(actor), tree());
  return {
    world,
    ports,
    ...limiters,
    send,
    sendToAdmission: (event: AdmissionEvent) => book.send(event),
    view,
    /** Returns the pod and its children as the actor tree shows them. */
    tree,
    state: () => statePath(actor.getSnapshot().value),
    status: () => actor.getSnapshot().status,
    context: () => actor.getSnapshot().context,
    /**
     * Returns the events that the pod and all actors below it have recorded since the last call, e.g. `Normal Started:
     * Container started`.
     */
    told,
    /** Returns the state of each container's actor, by container name. */
    containers: () => Object.fromEntries(view().containers.map(({ name, state }) => [name, state])),
    allocated: () => findEntry(book.getSnapshot().context, pod.metadata.uid)?.allocated ?? null,
    /** Returns the resources that the pod occupies while it is being resized. */
    occupied: () => findEntry(book.getSnapshot().context, pod.metadata.uid)?.occupied,
    /** Reports everything that the runtime currently has of the pod. */
    observe: () => send({ type: 'runtime.podObserved', pod: world.observed(pod) }),
    /** Terminates a container's process and reports it. */
    die(id: string, exitCode: number) {
      send({ type: 'runtime.containerSeen', container: world.end(id, exitCode) });
    },
    terminate: (graceSeconds = 30, over: Partial<Termination> = {}) =>
      send({ type: 'pod.terminate', termination: { reason: 'Removed', graceSeconds, at: ports.now, ...over } }),
  };
}
