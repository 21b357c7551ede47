/** Builds views of pods like the machines, for tests of statuses, tables and explanations. */
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { podStatus } from '../../kubernetes/status/status.ts';
import type {
  ContainerRole,
  ContainerView,
  PodView,
  TerminatedRun,
  VolumeView,
  WaitReason,
} from '../../kubernetes/status/view.ts';
import type { ActorNode, ActorView, NodeView } from '../../show/actors/actorNode.ts';
import { type PodWithTree, podActors } from '../../show/actors/podActors.ts';

/** Combines the view for the status with the row of the actor tree. */
export interface ShownPod extends PodView, ActorView {
  readonly containers: readonly ShownContainer[];
  readonly volumes: readonly ShownVolume[];
  readonly facts?: readonly string[];
}

interface ShownContainer extends ContainerView, ActorView {
  /** The actors of its probes, and that of its image if it waits for one. */
  readonly children?: readonly ActorNode[];
}

export interface ShownVolume extends VolumeView, ActorView {
  readonly mounted: boolean;
  readonly children?: readonly ActorNode[];
}

/** 12:02:56 UTC on an arbitrary day. */
export const NOW = Date.parse('2026-05-04T12:02:56Z');
export const UID = 'u-1';

type State = Pick<ContainerView, 'now'> & Partial<ShownContainer>;

export function run(exitCode: number, more: Partial<TerminatedRun> = {}): TerminatedRun {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { containerId: 'run', exitCode, reason, startedAt: NOW - 60_000, finishedAt: NOW - 30_000, ...more };
}

export const running = (more: Partial<ShownContainer> = {}): State => ({
  now: { kind: 'running', startedAt: NOW - 60_000 },
  started: true,
  ready: true,
  containerId: 'c1',
  ...more,
});

export const waiting = (reason: WaitReason = 'ContainerCreating', more: Partial<ShownContainer> = {}): State => ({
  now: { kind: 'waiting', reason },
  ...more,
});

export const exited = (exitCode: number, more: Partial<ShownContainer> = {}): State => ({
  now: { kind: 'terminated', run: run(exitCode) },
  containerId: 'run',
  ...more,
});

/** Returns a container that waits for its restart after a run with this exit code. */
export const backOff = (exitCode: number, more: Partial<ShownContainer> = {}): State =>
  waiting('CrashLoopBackOff', { lastRun: run(exitCode), restartCount: 1, willRestart: true, ...more });

function containerView(name: string, role: ContainerRole, state: State): ShownContainer {
  return {
    path: `pod/${UID}/container/${name}`,
    state: state.now.kind,
    tags: [],
    since: NOW - 60_000,
    name,
    role,
    restartCount: 0,
    willRestart: false,
    ready: false,
    started: false,
    ...state,
  };
}

export function volumeView(name: string, more: Partial<ShownVolume> = {}): ShownVolume {
  return {
    path: `pod/${UID}/volume/${name}`,
    state: 'mounted',
    tags: ['steady', 'mounted'],
    since: NOW - 129_000,
    name,
    mounted: true,
    ...more,
  };
}

interface Parts {
  readonly init?: Readonly<Record<string, State | null>>;
  readonly sidecars?: Readonly<Record<string, State | null>>;
  /** The regular containers. `null` stands for one without an actor. */
  readonly main?: Readonly<Record<string, State | null>>;
  readonly ephemeral?: Readonly<Record<string, State | null>>;
  readonly spec?: Partial<Pod['spec']>;
  readonly meta?: Partial<Pod['metadata']>;
  readonly view?: Partial<ShownPod>;
}

const containerSpec = (name: string): Container => ({ name, image: `${name}:1` });

/** Returns a pod with these containers. Init containers precede sidecars in its spec. */
export function podView({ init = {}, sidecars = {}, main = {}, ephemeral = {}, spec, meta, view }: Parts): ShownPod {
  const sidecarSpec = (name: string): Container => ({ ...containerSpec(name), restartPolicy: 'Always' });
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: UID, ...meta },
    spec: {
      initContainers: [...Object.keys(init).map(containerSpec), ...Object.keys(sidecars).map(sidecarSpec)],
      containers: Object.keys(main).map(containerSpec),
      ephemeralContainers: Object.keys(ephemeral).map(containerSpec),
      ...spec,
    },
  };
  const seen = (role: ContainerRole, states: Readonly<Record<string, State | null>>) =>
    Object.entries(states).flatMap(([name, state]) => (state ? [containerView(name, role, state)] : []));
  return {
    path: `pod/${UID}`,
    state: 'running',
    tags: ['steady'],
    since: NOW - 130_000,
    startedAt: NOW,
    pod,
    containers: [
      ...seen('init', init),
      ...seen('sidecar', sidecars),
      ...seen('regular', main),
      ...seen('ephemeral', ephemeral),
    ],
    volumes: [],
    isInitialized: Object.keys(init).length + Object.keys(sidecars).length === 0,
    hasEnded: false,
    isReclaimed: view?.hasEnded ?? false,
    ...view,
  };
}

/** Returns the pod with its status, and the tree of its actors. */
export function seenPod(shown: ShownPod, hostIps: readonly string[] = []): PodWithTree {
  const { pod, termination, hasEnded, isReclaimed, refusal, volumes, containers, facts = [] } = shown;
  const status = podStatus(shown, { now: NOW, hostIps, runtimeName: 'containerd' });
  const ending = termination ? { deletionTimestamp: new Date(termination.at).toISOString() } : {};
  const { uid, name } = pod.metadata;
  const tree: ActorNode = {
    id: `pod/${uid}`,
    machine: 'pod',
    kind: 'pod',
    name,
    ...actorOf(shown),
    facts,
    tags: [...shown.tags, ...(hasEnded ? ['ended'] : []), ...(isReclaimed ? ['reclaimed'] : [])],
    ...(termination ? { termination } : {}),
    ...(refusal ? { refused: refusal } : {}),
    children: [...volumes.map(volumeNode), ...containers.map(containerNode)],
  };
  return { pod: { ...pod, metadata: { ...pod.metadata, ...ending }, status }, tree };
}

function volumeNode(shown: ShownVolume): ActorNode {
  const { name, mounted, children = [] } = shown;
  const id = { id: `volume/${name}`, machine: 'volume', kind: 'volume', name };
  const tags = shown.tags.filter((tag) => mounted || tag !== 'mounted');
  return { ...id, ...actorOf(shown), tags, facts: [], children };
}

function containerNode(shown: ShownContainer): ActorNode {
  const { name, role, now, lastRun: last, ready, restartCount, willRestart, children = [] } = shown;
  const lastRun = now.kind === 'terminated' ? now.run : last;
  const lasts = (role === 'sidecar' || role === 'regular') && now.kind === 'running';
  return {
    id: `container/${name}`,
    machine: 'container',
    kind: role,
    name,
    ...actorOf(shown),
    children,
    tags: [...shown.tags, ...(willRestart ? [] : ['rests'])],
    facts: [
      ...(lasts ? [ready ? 'ready' : 'not ready'] : []),
      ...(restartCount > 0 ? [`${restartCount} ${restartCount === 1 ? 'restart' : 'restarts'}`] : []),
    ],
    ...(lastRun ? { lastRun } : {}),
  };
}

/** Returns the fields that every actor has. */
const actorOf = ({ path, state, tags, since, waitingFor, until, lastFailure }: ActorView): ActorView => ({
  path,
  state,
  tags,
  since,
  ...(waitingFor === undefined ? {} : { waitingFor }),
  ...(until === undefined ? {} : { until }),
  ...(lastFailure ? { lastFailure } : {}),
});

/** Returns the view of a pod with its actors. */
export function shownPod(view: PodView, tree: ActorNode): ShownPod {
  const actors = podActors({ pod: view.pod, tree });
  const children = new Map(actors.tree.children.map((actor) => [actor.id, actor]));
  const ofChild = (id: string) => {
    const actor = children.get(id);
    if (actor === undefined) throw new Error(`there is no actor ${id}`);
    return { ...actorOf(actor), children: actor.children.filter(({ kind }) => kind !== 'call') };
  };
  return {
    ...view,
    ...actorOf(actors.tree),
    facts: tree.facts,
    containers: view.containers.map((each) => ({ ...each, ...ofChild(`container/${each.name}`) })),
    volumes: view.volumes.map((each) => {
      const actor = ofChild(`volume/${each.name}`);
      return { ...each, ...actor, mounted: actor.tags.includes('mounted') };
    }),
  };
}

/** Returns a ready sandbox with these addresses. */
export function sandbox(...ips: string[]): NonNullable<PodView['sandbox']> {
  const id = { id: 's1', podUid: UID, namespace: 'default', podName: 'web' };
  return { ...id, attempt: 0, state: 'ready', createdAt: NOW - 120_000, ips };
}

/** Returns the command that terminates a pod. */
export const ending = (more: Partial<NonNullable<PodView['termination']>> = {}): Pick<PodView, 'termination'> => ({
  termination: { reason: 'Removed', graceSeconds: 30, at: NOW - 10_000, ...more },
});

/** Returns an actor of the node itself for the tree. */
export const nodeActor = (name: string, more: Partial<ActorNode> = {}): ActorNode => ({
  id: name,
  machine: name,
  kind: name,
  name,
  path: name,
  state: 'open',
  tags: ['steady'],
  since: NOW - 60_000,
  facts: [],
  children: [],
  ...more,
});

/** The input for the tree of an idle node. */
export const nodeActors = {
  runtime: nodeActor('runtimeHealth', {
    kind: 'runtime',
    name: 'containerd',
    state: 'ready',
    since: NOW - 65_000,
    facts: ['v1.6.20'],
  }),
  start: nodeActor('start', { kind: 'limiter', facts: ['0 of 4 held'] }),
  pull: nodeActor('pull', { kind: 'limiter', facts: ['0 of 1 held'] }),
  admission: nodeActor('admission', { facts: ['0 admitted'] }),
  garbage: nodeActor('garbage', { state: 'waiting', waitingFor: 'the next garbage collection', until: NOW + 3_000 }),
  logRotation: nodeActor('logRotation', {
    state: 'waiting',
    waitingFor: 'the next check of log sizes',
    until: NOW + 1_000,
  }),
};

/** Returns the view of a running, idle node. */
export function nodeView(name = 'host', tree: Partial<ActorNode> = {}, more: Partial<NodeView> = {}): NodeView {
  return {
    tree: nodeActor('nodeAgent', {
      kind: 'node',
      name,
      path: '',
      state: 'running',
      tags: ['steady', 'active'],
      children: Object.values(nodeActors),
      ...tree,
    }),
    pods: {},
    ended: 0,
    runtime: { name: 'containerd', version: 'v1.6.20', ready: true, since: NOW - 65_000 },
    foreign: [],
    ...more,
  };
}
