import { createEventRecorder, type EventRecorder } from '../../actors/events/eventRecorder.ts';
import type { PodChange } from '../../actors/status/statusBoard.ts';
import { NodeFailure } from '../../base/failure.ts';
import type { EvictionFigures } from '../../kubernetes/eviction/outlook.ts';
import type { ImageUse } from '../../kubernetes/images/imageGarbage.ts';
import { explainNode } from '../../show/explain/explainNode.ts';
import { explainPart } from '../../show/explain/explainPart.ts';
import { explainPod } from '../../show/explain.ts';
import type { LogTail } from '../../show/logTail.ts';
import type { AgentPort, NodeSummary, PodPaths, StreamEndpoint, StreamRequest } from '../../socket/agent.ts';
import { aNode } from '../kubernetes/nodes.ts';
import { nodeView, type ShownPod, seenPod } from '../kubernetes/views.ts';

/** A fake node agent whose pods are set by the test. */
export interface FakeAgent extends AgentPort {
  /** Adds or updates a pod, and notifies all subscribers. */
  show(view: ShownPod): void;
  remove(view: ShownPod): void;
  /** Records an event, as the machines of the node do. */
  readonly record: EventRecorder['record'];
  /** Updates the summary of the node. */
  become(node: Partial<NodeSummary>): void;
  readonly subscribers: () => number;
}

const SOCKET = 'unix:///run/containerd/containerd.sock';
const runtime = { name: 'containerd', version: 'v1.6.20', state: 'ready', since: 0 };

/** The tags of each state in the state chart of the node. */
const TAGS: Readonly<Record<string, readonly string[]>> = {
  starting: ['working', 'beginning'],
  awaitingSources: ['waiting', 'beginning'],
  partial: ['retrying', 'active'],
  running: ['steady', 'active'],
  draining: ['working', 'ending'],
};

/**
 * Creates an agent with the pods of the views. The status of a pod is computed as the node does it, at the time `now`.
 */
export function fakeAgent(options: {
  now: number;
  views?: readonly ShownPod[];
  node?: Partial<NodeSummary>;
  stream?: (request: StreamRequest) => StreamEndpoint | Promise<StreamEndpoint>;
  podLogs?: string;
  places?: Partial<PodPaths>;
  /** The tail of the log of every container. */
  latestLog?: LogTail;
  /** Called when a list of the runtime is requested. */
  onConfirm?: () => void;
  readonly images?: readonly ImageUse[];
  readonly evictionFigures?: EvictionFigures;
  /** Returns the stats summary. Undefined if the node does not measure its usage. */
  usage?: () => object;
}): FakeAgent {
  const views = new Map((options.views ?? []).map((view) => [view.pod.metadata.uid, view]));
  const recorder = createEventRecorder('host', () => options.now);
  const listeners = new Set<(change: PodChange) => void>();
  let node: NodeSummary = {
    name: 'host',
    state: 'running',
    tags: TAGS[options.node?.state ?? 'running'] ?? [],
    runtime: { ...runtime, since: options.now - 60_000 },
    endpoints: { runtime: SOCKET, images: SOCKET },
    registryCredentials: { workingDirectory: '/', homeDirectory: '/root' },
    simulated: false,
    foreign: [],
    problems: [],
    warnings: [],
    limiters: [],
    ...options.node,
  };
  const seen = (view: ShownPod) => seenPod(view, ['192.0.2.1']);
  const tell = (view: ShownPod, removed: boolean) => {
    for (const listener of listeners)
      listener({ uid: view.pod.metadata.uid, ...seen(view), removed, hasFailures: true });
  };
  return {
    pods: () => [...views.values()].map((view) => seen(view).pod),
    trees: () => new Map(Array.from(views, ([uid, view]) => [uid, seen(view).tree])),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    confirmPods: async () => {
      options.onConfirm?.();
      return true;
    },
    explain: (uid) => {
      const view = views.get(uid);
      return view && explainPod(seen(view), options.now);
    },
    explainPart: async (uid, part) => {
      const view = views.get(uid);
      return view && explainPart(seen(view), part, options.now, { latestLog: options.latestLog });
    },
    logTails: async () => new Map(),
    stream: async (request) => {
      if (options.stream === undefined) throw new NodeFailure('NotFound', 'pod does not exist');
      return options.stream(request);
    },
    podPaths: (uid) => {
      const { metadata } = views.get(uid)?.pod ?? {};
      const podLogs = options.podLogs ?? '/var/log/pods';
      if (metadata === undefined) return undefined;
      return { podLogs, logs: `${podLogs}/${metadata.namespace}_${metadata.name}_${uid}`, ...options.places };
    },
    usage: async () => options.usage?.(),
    imageUses: async () => options.images ?? [],
    evictionFigures: async () => options.evictionFigures,
    recording: async () => ({ isOn: false, directory: '/none', chunks: undefined }),
    explainNode: () => explainNode(nodeView(node.name), options.now),
    actors: () => ({
      at: options.now,
      node: nodeView(node.name).tree,
      pods: Array.from(views.values(), seen),
      limiters: [],
    }),
    nodeObject: () => aNode({ name: node.name }),
    node: () => node,
    events: recorder.events,
    subscribeEvents: recorder.subscribe,
    record: recorder.record,
    show: (view) => {
      views.set(view.pod.metadata.uid, view);
      tell(view, false);
    },
    remove: (view) => {
      views.delete(view.pod.metadata.uid);
      tell(view, true);
    },
    become: (change) => {
      node = { ...node, ...(change.state ? { tags: TAGS[change.state] ?? [] } : {}), ...change };
    },
    subscribers: () => listeners.size,
  };
}
