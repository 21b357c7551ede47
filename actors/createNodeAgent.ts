/** Builds the node agent: the only place that fills the machines' ports, and the only way in to the running actors. */
import { type ActorRefFrom, type AnyActorRef, createActor, type InspectionEvent } from 'xstate';
import { containerMachine } from '../machines/container.ts';
import type { NodeFact } from '../machines/events.ts';
import { nodeAgentMachine } from '../machines/nodeAgent.ts';
import type { NodeContext, NodeInput } from '../machines/nodeContext.ts';
import { foreignSandboxes } from '../machines/nodeContext.ts';
import { podMachine } from '../machines/pod.ts';
import { statePath } from '../machines/stateMeta.ts';
import { awaitedViews, gateView } from '../machines/views.ts';
import { volumeMachine } from '../machines/volume.ts';
import { type Explanation, explainPod } from '../pod/explain.ts';
import type { ObservedSandbox } from '../pod/observed.ts';
import type { Pod } from '../pod/schema/pod.ts';
import type { PodView } from '../pod/view.ts';
import { type BoundaryOptions, createBoundary, type Feed, type Recorder, type Services } from './boundary.ts';
import type { Clock } from './clock.ts';
import { createSinceMap } from './since.ts';
import { createStatusBoard, type PodChange, type StatusSink } from './statusBoard.ts';

/** What the node agent is told once. */
export interface NodeAgentConfig extends NodeInput {
  /** The node's addresses, the primary first. */
  readonly hostIps: readonly string[];
}

/** What fills the ports: answers, feeds of facts, and where statuses go. */
export interface NodeServices {
  readonly ports: Services;
  readonly feeds: { readonly runtimeHealth: Feed; readonly pleg: Feed; readonly sources: Feed; readonly ticker: Feed };
  readonly statuses?: StatusSink;
}

export interface NodeAgentOptions {
  readonly clock: Clock;
  /** Sees every entry of the recording boundary. */
  readonly record?: Recorder;
  /** Sees every inspection event of xstate; attach it only while someone looks. */
  readonly inspect?: (event: InspectionEvent) => void;
  readonly onError?: BoundaryOptions['onError'];
}

/** How the node stands, for tables and the socket. */
export interface NodeOverview {
  readonly state: string;
  readonly since: number;
  readonly runtime: NodeContext['health'];
  readonly foreign: readonly ObservedSandbox[];
  readonly problems: NodeContext['problems'][string];
  readonly gates: { readonly start: ReturnType<typeof gateView>; readonly pull: ReturnType<typeof gateView> };
}

/** A node agent: pods in, statuses out. */
export interface NodeAgent {
  start(): void;
  /** Stops all actors at once and leaves whatever runs. */
  stop(): void;
  /** Ends every pod gracefully; resolves when none is left. */
  drain(): Promise<void>;
  /** Lets a fact in from outside the feeds: how the other sources and tests speak to it. */
  tell(fact: NodeFact): void;
  pods(): readonly Pod[];
  views(): readonly PodView[];
  subscribe(listener: (change: PodChange) => void): () => void;
  explain(name: string): Explanation | undefined;
  overview(): NodeOverview;
}

export function createNodeAgent(config: NodeAgentConfig, services: NodeServices, options: NodeAgentOptions): NodeAgent {
  const { clock, inspect, record } = options;
  const onError = options.onError ?? (() => {});
  const { hostIps, ...input } = config;
  const since = createSinceMap(clock);
  const board = createStatusBoard({
    clock,
    hostIps,
    since: since.of,
    runtimeName: () => root.getSnapshot().context.health.name,
    sink: services.statuses,
  });
  const expectPods = () => {
    const snapshot = root.getSnapshot();
    if (snapshot.matches('starting') || snapshot.matches('recovering')) board.expect(awaitedViews(snapshot.context));
  };
  const root = createActor(providedMachine(services, { clock, onError, ...(record ? { record } : {}) }), {
    id: 'nodeAgent',
    input,
    clock,
    inspect: (event) => {
      if (event.type === '@xstate.snapshot') {
        since.note(event.actorRef as AnyActorRef);
        board.note(event.actorRef as AnyActorRef);
        if (event.actorRef === root) expectPods();
      }
      inspect?.(event);
    },
  });
  root.subscribe({ error: (error) => onError('nodeAgent', error) });
  const gates = () => {
    const { startGate, pullGate } = root.getSnapshot().context;
    return { start: gateView(startGate), pull: gateView(pullGate) };
  };

  return {
    start: () => void root.start(),
    stop: () => {
      board.close();
      root.stop();
    },
    drain: () => drained(root, clock),
    tell: (fact) => root.send(fact),
    pods: board.pods,
    views: board.views,
    subscribe: board.subscribe,
    explain: (name) => {
      const view = board.find(name);
      const { start, pull } = gates();
      return view && explainPod(view, clock.now(), [start, pull]);
    },
    overview: () => {
      const snapshot = root.getSnapshot();
      const { health, problems } = snapshot.context;
      return {
        state: statePath(snapshot.value),
        since: since.of(root),
        runtime: health,
        foreign: foreignSandboxes(snapshot.context),
        problems: Object.values(problems).flat(),
        gates: gates(),
      };
    },
  };
}

type Root = ActorRefFrom<typeof nodeAgentMachine>;

/** The machines with every port filled, each answer passing the boundary. */
function providedMachine({ ports, feeds }: NodeServices, options: BoundaryOptions): typeof nodeAgentMachine {
  const { port, feed, timer } = createBoundary(options);
  const container = containerMachine.provide({
    actors: {
      findImage: port('findImage', ports.findImage),
      pullImage: port('pullImage', ports.pullImage),
      createContainer: port('createContainer', ports.createContainer),
      startContainer: port('startContainer', ports.startContainer),
      stopContainer: port('stopContainer', ports.stopContainer),
      inspectContainer: port('inspectContainer', ports.inspectContainer),
      removeContainers: port('removeContainers', ports.removeContainers),
      runHook: port('runHook', ports.runHook),
      timer,
    },
  });
  const volume = volumeMachine.provide({
    actors: {
      mountVolume: port('mountVolume', ports.mountVolume),
      unmountVolume: port('unmountVolume', ports.unmountVolume),
      timer,
    },
  });
  const pod = podMachine.provide({
    actors: {
      container,
      volume,
      preparePod: port('preparePod', ports.preparePod),
      removePodData: port('removePodData', ports.removePodData),
      runSandbox: port('runSandbox', ports.runSandbox),
      inspectSandbox: port('inspectSandbox', ports.inspectSandbox),
      stopSandboxes: port('stopSandboxes', ports.stopSandboxes),
      removeSandboxes: port('removeSandboxes', ports.removeSandboxes),
      timer,
    },
  });
  return nodeAgentMachine.provide({
    actors: {
      pod,
      runtimeHealth: feed('runtimeHealth', feeds.runtimeHealth),
      pleg: feed('pleg', feeds.pleg),
      sources: feed('sources', feeds.sources),
      ticker: feed('ticker', feeds.ticker),
    },
  });
}

function drained(root: Root, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      subscription.unsubscribe();
      resolve();
    };
    const subscription = root.subscribe({
      next: (snapshot) => {
        if (snapshot.status !== 'active') end();
      },
      complete: () => resolve(),
      error: () => resolve(),
    });
    if (root.getSnapshot().status !== 'active') return end();
    root.send({ type: 'node.drain', at: clock.now() });
  });
}
