/** Runs the machine of one container over fake ports, event by event. */
import type { ActorRefFrom } from 'xstate';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { containerMachine } from '../../../machines/container/chart.ts';
import type { ContainerInput } from '../../../machines/container/context.ts';
import { containerView } from '../../../machines/container/view.ts';
import type { imageMachine } from '../../../machines/image/chart.ts';
import type {
  AdmissionEvent,
  ContainerEvent,
  ContainerLifecycle,
  PodEvent,
} from '../../../machines/shared/events/events.ts';
import { type PortName, provideActors } from '../../../machines/shared/ports.ts';
import { statePath } from '../../../machines/shared/stateMeta.ts';
import { actorTree } from '../../../machines/shared/views/actorTree.ts';
import { FakePorts } from '../../fakes/ports.ts';
import { FakeWorld } from '../../fakes/world.ts';
import { aPod } from '../../kubernetes/fixtures.ts';
import { childOf, ear, eventEar, limiter, START } from './stand.ts';

type Options = Partial<Pick<ContainerInput, 'role' | 'crashLoop' | 'name'>> & {
  readonly pod?: Pod;
  /** Sets up the fake world before the actor starts. */
  readonly before?: (world: FakeWorld, pod: Pod) => unknown;
  /** Ports whose first call fails because the runtime is unavailable. */
  readonly failing?: readonly PortName[];
  /** Ports to which the test responds itself from the start. */
  readonly hold?: readonly PortName[];
  /** Whether the pod does not launch the container, so that the test has to. */
  readonly heldBack?: boolean;
};

/** Returns the state of an actor, followed by that of its image, if any. */
export function shownState(ref: { getSnapshot(): { value: unknown; children: object } }): string {
  const { value, children } = ref.getSnapshot();
  const image = 'image' in children ? (children.image as ActorRefFrom<typeof imageMachine> | undefined) : undefined;
  return [statePath(value), ...(image ? [statePath(image.getSnapshot().value)] : [])].join('.');
}

/** Creates the container `main` of the pod `web`, which has not received any event yet. */
export function containerStory(options: Options = {}) {
  const { pod = aPod(), name = 'main', role = 'regular', before, crashLoop } = options;
  const world = new FakeWorld(() => ports.now);
  const ports: FakePorts = new FakePorts(START, world.answers);
  before?.(world, pod);
  for (const name of options.failing ?? []) ports.failNext(name, 'RuntimeUnavailable');
  ports.hold(...(options.hold ?? []));
  const parent = ear<PodEvent>();
  const startLimiter = limiter(1, parent.ref, 'startLimiter');
  const pullLimiter = limiter(1, parent.ref, 'pullLimiter');
  const admission = ear<AdmissionEvent>(parent.ref, 'admission');
  const { inspect, told } = eventEar();
  const actor = childOf(parent.ref, provideActors(containerMachine, ports), {
    id: `container/${name}`,
    inspect,
    input: {
      pod,
      name,
      role,
      arrivalOrder: 1,
      volumes: {},
      sandbox: undefined,
      crashLoop: crashLoop ?? { baseMs: 10_000, maxMs: 300_000 },
      observed: world.observed(pod).containers,
    },
  });
  // The pod has no other container, so it launches this one as soon as it is ready.
  actor.subscribe((snapshot) => {
    const { hasTurn, sandbox } = snapshot.context;
    if (!options.heldBack && snapshot.hasTag('readyToCreate') && hasTurn && sandbox)
      actor.send({ type: 'container.launch' });
  });
  actor.start();
  const send = (event: ContainerEvent) => actor.send(event);
  return {
    world,
    ports,
    startLimiter,
    pullLimiter,
    send,
    context: () => actor.getSnapshot().context,
    state: () => shownState(actor),
    status: () => actor.getSnapshot().status,
    /** Returns the view from which the pod's status is computed. */
    view: () => containerView(actor.getSnapshot(), { isPodTerminating: false }),
    /** Returns the actor as the actor tree shows it. */
    node: () => actorTree(actor, { getStateSince: () => 0 }),
    /** Returns the events recorded since the last call, e.g. `Normal Started: Container started`. */
    told,
    /** Returns the lifecycles that were reported to the pod, without repetitions. */
    lifecycles: (): ContainerLifecycle[] =>
      parent
        .heard()
        .flatMap((event) => (event.type === 'container.changed' ? [event.lifecycle] : []))
        .filter((lifecycle, index, all) => lifecycle !== all[index - 1]),
    /** Returns the sizes that were reported to the pod. */
    sizes: () => parent.heard().flatMap((event) => (event.type === 'container.sized' ? [event.size] : [])),
    admissionRequests: () => admission.heard(),
    /** Provides a sandbox and lets the container start. */
    begin: (attempt = 0) => {
      send({ type: 'sandbox.ready', sandbox: world.sandbox(pod, attempt) });
      send({ type: 'container.start' });
    },
    /** Reports what the runtime has under this ID: the container, or nothing. */
    observe: (id = actor.getSnapshot().context.id ?? '') =>
      send({ type: 'runtime.containerObserved', id, container: world.containers.get(id) ?? null }),
    /** Terminates the container's process and reports it. */
    die(exitCode: number) {
      const id = actor.getSnapshot().context.id ?? '';
      world.end(id, exitCode);
      this.observe(id);
    },
    stop: (graceSeconds?: number) =>
      send({
        type: 'container.stop',
        ...(graceSeconds === undefined ? {} : { deadline: ports.now + graceSeconds * 1_000 }),
      }),
  };
}

export type ContainerStory = ReturnType<typeof containerStory>;
