/** One container's machine over fake ports, told event by event. */
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
  /** Puts into the world what is there before the actor. */
  readonly before?: (world: FakeWorld, pod: Pod) => unknown;
  /** Ports whose first call finds the runtime away. */
  readonly failing?: readonly PortName[];
  /** Ports that are held from the beginning. */
  readonly hold?: readonly PortName[];
  /** Its pod does not let it start by itself: the test says when. */
  readonly heldBack?: boolean;
};

/** The state of an actor, with that of the image which it waits for. */
export function shownState(ref: { getSnapshot(): { value: unknown; children: object } }): string {
  const { value, children } = ref.getSnapshot();
  const image = 'image' in children ? (children.image as ActorRefFrom<typeof imageMachine> | undefined) : undefined;
  return [statePath(value), ...(image ? [statePath(image.getSnapshot().value)] : [])].join('.');
}

/** A container `main` of the pod `web`, not yet told anything. */
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
  // Its pod has no other container: as soon as it could be launched it may be.
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
    /** What its pod's status is computed from. */
    view: () => containerView(actor.getSnapshot(), { isPodTerminating: false }),
    /** What the tree of actors shows of it. */
    node: () => actorTree(actor, { getStateSince: () => 0 }),
    /** What it emitted since it was last asked, as `Normal Started: Container started`. */
    told,
    /** The lifecycles that the pod was told, without repetitions. */
    lifecycles: (): ContainerLifecycle[] =>
      parent
        .heard()
        .flatMap((event) => (event.type === 'container.changed' ? [event.lifecycle] : []))
        .filter((lifecycle, index, all) => lifecycle !== all[index - 1]),
    /** The sizes that the pod was told. */
    sizes: () => parent.heard().flatMap((event) => (event.type === 'container.sized' ? [event.size] : [])),
    admissionRequests: () => admission.heard(),
    /** Gives it a sandbox and its turn. */
    begin: (attempt = 0) => {
      send({ type: 'sandbox.ready', sandbox: world.sandbox(pod, attempt) });
      send({ type: 'container.start' });
    },
    /** Shows it what the runtime has of it: the container under this id, or nothing. */
    observe: (id = actor.getSnapshot().context.id ?? '') =>
      send({ type: 'runtime.containerObserved', id, container: world.containers.get(id) ?? null }),
    /** Its process ends, and the runtime shows it. */
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

/** A container whose story is told. */
export type ContainerStory = ReturnType<typeof containerStory>;
