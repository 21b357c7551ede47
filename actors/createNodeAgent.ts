/** Builds the node agent: the only place that fills the machines' ports, and the only way in to the running actors. */
import { type ActorRefFrom, type AnyActorRef, createActor, type InspectionEvent } from 'xstate';
import type { nodeAgentMachine } from '../machines/node/chart.ts';
import type { NodeContext } from '../machines/node/context.ts';
import { foreignPods } from '../machines/node/own.ts';
import { nodeOwnView, nodeView, runtimeView } from '../machines/node/view.ts';
import { isWanted } from '../machines/node/wanted.ts';
import type { NodeFact } from '../machines/shared/events.ts';
import { awaitedViews, limiterView, runtimeNotReadyOf } from '../machines/shared/views.ts';
import type { Pod } from '../pod/api/schema/pod.ts';
import { NodeFailure } from '../pod/failure.ts';
import type { ForeignPod } from '../pod/lifecycle/observed.ts';
import { type Explanation, explainPod } from '../pod/show/explain.ts';
import { explainNode, type NodeExplanation } from '../pod/show/explainNode.ts';
import type { LogTails } from '../pod/show/logTail.ts';
import type { ActorView, PodView, RuntimeView } from '../pod/show/view.ts';
import { type CompleteConfig, checkServices, completeConfig, type NodeAgentConfig } from './agentConfig.ts';
import { type Boundary, type BoundaryOptions, createBoundary, type Recorder, type World } from './boundary.ts';
import type { Clock } from './clock.ts';
import { type EventSink, eventListener } from './events/eventSink.ts';
import { guarded } from './guarded.ts';
import { providedMachine } from './providedMachine.ts';
import { createSinceMap } from './status/since.ts';
import { createStatusBoard, type PodChange, type StatusSink } from './status/statusBoard.ts';

/** What fills the ports: answers, feeds of facts, and where statuses and events go. */
export interface NodeServices extends World {
  readonly statuses?: StatusSink;
  readonly events?: EventSink;
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
export interface NodeOverview extends Pick<ActorView, 'state' | 'since' | 'waitingFor' | 'until'> {
  readonly runtime: RuntimeView;
  readonly foreign: readonly ForeignPod[];
  /** What of the node can change while it runs, as it is. */
  readonly facts: Pick<NodeContext, 'hostIps' | 'capacity' | 'admissionNode'>;
  readonly problems: NodeContext['problems'][string];
  readonly warnings: NodeContext['warnings'][string];
  readonly limiters: { readonly start: ReturnType<typeof limiterView>; readonly pull: ReturnType<typeof limiterView> };
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
  /** Of the pod of this full name, of this name in its manifest, or of this UID; `logs` is how those of its failed containers end. */
  explain(name: string, namespace?: string, logs?: LogTails): Explanation | undefined;
  /** The same of the pod of a UID, whatever others are called. */
  explainUid(uid: string, logs?: LogTails): Explanation | undefined;
  explainNode(): NodeExplanation;
  overview(): NodeOverview;
}

/** Makes a node agent, which `start` starts. What is missing of its arguments is an error at once. */
export function createNodeAgent(config: NodeAgentConfig, services: NodeServices, options: NodeAgentOptions): NodeAgent {
  checkServices(services, options);
  const { clock, inspect, record, onError = () => {} } = options;
  const boundary = createBoundary(services, { clock, onError, ...(record ? { record } : {}) });
  return agentBehind(boundary, completeConfig(config), {
    clock,
    inspect,
    onError,
    statuses: services.statuses,
    events: services.events,
  });
}

interface AgentParts {
  readonly clock: Clock;
  readonly onError: BoundaryOptions['onError'];
  readonly inspect: NodeAgentOptions['inspect'] | undefined;
  readonly statuses: StatusSink | undefined;
  readonly events: EventSink | undefined;
}

/** Builds an agent into which everything comes through the given boundary: that of a live node, or a recording. */
export function agentBehind(
  boundary: Boundary,
  input: CompleteConfig,
  { clock, inspect, onError, statuses, events }: AgentParts,
): NodeAgent {
  const since = createSinceMap(boundary);
  const board = createStatusBoard({
    clock: boundary,
    hostIps: () => root.getSnapshot().context.hostIps,
    since: since.of,
    runtimeName: () => root.getSnapshot().context.health.name,
    sink: statuses && guarded('statuses', statuses, onError),
  });
  const listen = events && eventListener(guarded('events', events, onError), boundary);
  const look = inspect && guarded('inspect', inspect, onError);
  const expectPods = () => {
    const snapshot = root.getSnapshot();
    const { context } = snapshot;
    const begins = snapshot.matches('starting') || snapshot.matches('recovering');
    board.followAddresses();
    board.expect(begins ? awaitedViews(context) : [], (uid) => isWanted(context, uid));
  };
  const root = createActor(providedMachine(boundary), {
    id: 'nodeAgent',
    input,
    clock,
    inspect: (event) => {
      if (event.type === '@xstate.actor') {
        since.begin(event.actorRef as AnyActorRef);
        listen?.(event.actorRef as AnyActorRef);
      }
      if (event.type === '@xstate.snapshot') {
        since.note(event.actorRef as AnyActorRef);
        board.note(event.actorRef as AnyActorRef);
        if (event.actorRef === root) expectPods();
      }
      look?.(event);
    },
  });
  root.subscribe({
    error: (error) => onError('nodeAgent', error),
    complete: () => {
      const { fault } = root.getSnapshot().context;
      if (fault) onError('nodeAgent', new NodeFailure(fault.reason, fault.message));
    },
  });
  const limiters = () => {
    const { startLimiter, pullLimiter } = root.getSnapshot().context;
    return { start: limiterView(startLimiter), pull: limiterView(pullLimiter) };
  };

  const explain = (view: PodView | undefined, logs: LogTails | undefined) => {
    const { start, pull } = limiters();
    const { health } = root.getSnapshot().context;
    return (
      view &&
      explainPod(view, clock.now(), { limiters: [start, pull], runtimeNotReady: runtimeNotReadyOf(health), logs })
    );
  };

  return {
    start: () => void root.start(),
    stop: () => {
      board.close();
      root.stop();
    },
    drain: () => drained(root, () => boundary.tell(root, { type: 'node.drain', at: clock.now() })),
    tell: (fact) => boundary.tell(root, fact),
    pods: () => board.pods(),
    views: () => board.views(),
    subscribe: (listener) => board.subscribe(guarded('subscriber', listener, onError)),
    explain: (name, namespace, logs) => {
      const written = `${name}-${input.nodeName.toLowerCase()}`;
      return explain(board.find(name, namespace) ?? board.find(written, namespace) ?? board.of(name), logs);
    },
    explainUid: (uid, logs) => explain(board.of(uid), logs),
    explainNode: () => explainNode(nodeView(root, since.of), clock.now()),
    overview: () => {
      const snapshot = root.getSnapshot();
      const { health, problems, warnings, hostIps, capacity, admissionNode } = snapshot.context;
      return {
        ...nodeOwnView(root, since.of),
        runtime: runtimeView(health),
        foreign: foreignPods(snapshot.context),
        facts: { hostIps, capacity, ...(admissionNode ? { admissionNode } : {}) },
        problems: Object.values(problems).flat(),
        warnings: Object.values(warnings).flat(),
        limiters: limiters(),
      };
    },
  };
}

type Root = ActorRefFrom<typeof nodeAgentMachine>;

function drained(root: Root, drain: () => void): Promise<void> {
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
    drain();
  });
}
