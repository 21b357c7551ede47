/** A running node as the page follows it: a snapshot, then what changes, in frames. It watches only while somebody looks. */
import { isDeepStrictEqual } from 'node:util';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import type { Clock } from '../base/clock.ts';
import type { Line } from '../recording/lines.ts';
import type { ActorNode, LimiterView } from '../show/actorNode.ts';
import type { AgentPort } from '../socket/agent.ts';
import type { Audience } from './audience.ts';
import { type LoopMonitor, monitorLoop } from './loopMonitor.ts';
import { shownNode, shownRuntime } from './nodeBar.ts';
import type { Frame, ShownNode, ShownPod, Snapshot, StoryLine } from './protocol.ts';
import { flattened, ShownActors, ShownPods, type ShownTree, shownGate, treesOf } from './shown.ts';
import { StoryTeller } from './storyLines.ts';

/** What of an agent the page shows. */
export type InspectedAgent = Pick<
  AgentPort,
  'pods' | 'trees' | 'explainNode' | 'node' | 'subscribe' | 'events' | 'explain' | 'explainPart' | 'logTails' | 'places'
> & { redact<T>(value: T): T };

interface LiveParts {
  readonly agent: InspectedAgent;
  readonly audience: Audience;
  readonly clock: Clock;
  readonly version: string;
  /** What can be gone back to. */
  readonly recorded: () => Snapshot['recorded'];
  /** Told when the last viewer has gone. */
  readonly onAlone?: () => void;
  /** Told why a frame could not be made: the node goes on, and so do its viewers, with the next one. */
  readonly onError: (error: unknown) => void;
}

/** Ten frames a second at most. */
const FRAME_MS = 100;
/** So many lines in a frame at most: what is too much to read is not sent. */
const MOST_LINES = 200;

/** What is of the node itself is looked at again after so long, also where none of its actors has moved: not all of it are actors. */
const NODE_MS = 1_000;

/** The node without its pods. */
interface SeenNode {
  readonly at: number;
  readonly tree: ActorNode;
  readonly node: ShownNode;
}

/** The whole node at one moment. */
interface Seen extends Pick<Snapshot, 'at' | 'node'> {
  readonly trees: ReadonlyMap<string, ShownTree>;
  readonly pods: ReadonlyMap<string, ShownPod>;
}

/** Follows a node for any number of viewers. */
export class LiveView {
  readonly #parts: LiveParts;
  readonly #viewers = new Set<(frame: Frame) => void>();
  #shown = new ShownActors();
  readonly #shownPods = new ShownPods();
  #watching: Watching | undefined;
  #node: SeenNode | undefined;
  /** What the viewers have been told of. */
  #told: Seen | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  /** The node as it is now; while somebody follows it as the last frame has left it, so that the next one goes on from there. */
  snapshot(): Snapshot {
    const { agent, recorded } = this.#parts;
    const { at, node, pods, trees } = this.#told ?? this.#look();
    const there = recorded();
    return {
      at,
      mode: 'live',
      node,
      pods: [...pods.values()],
      actors: agent.redact([...trees.values()].flatMap(flattened)),
      ...(there === undefined ? {} : { recorded: there }),
    };
  }

  /** Whether there is a viewer. */
  get isFollowed(): boolean {
    return this.#viewers.size > 0;
  }

  /** Tells a viewer of every frame until the function that it gives is called: they go on from a snapshot of this moment. */
  follow(viewer: (frame: Frame) => void): () => void {
    if (this.#watching === undefined) this.#begin();
    this.#viewers.add(viewer);
    return () => {
      if (this.#viewers.delete(viewer) && this.#viewers.size === 0) this.#end();
    };
  }

  #begin(): void {
    const { agent, audience, clock } = this.#parts;
    this.#watching = new Watching({ agent, audience, clock, onDue: () => this.#tell() });
    this.#frame([]);
  }

  #end(): void {
    this.#watching?.stop();
    this.#watching = undefined;
    this.#shown.changes(new Map());
    this.#told = undefined;
    this.#node = undefined;
    this.#parts.onAlone?.();
  }

  #tell(): void {
    const watching = this.#watching;
    if (watching === undefined) return;
    const { lines, unsaid } = watching.take();
    const told = this.#told;
    try {
      const frame = { ...this.#frame(lines), ...(unsaid === 0 ? {} : { unsaid }) };
      for (const viewer of this.#viewers) viewer(frame);
    } catch (error) {
      // The next one goes on from what the viewers have been told.
      this.#told = told;
      this.#shown = new ShownActors();
      this.#shown.changes(told?.trees ?? new Map());
      watching.leaveOut(lines.length + unsaid);
      this.#parts.onError(error);
    }
  }

  #frame(lines: readonly StoryLine[]): Frame {
    const before = this.#told;
    const seen = this.#look();
    this.#told = seen;
    const { at, node, pods, trees } = seen;
    const { actors, gone } = this.#shown.changes(trees);
    return {
      at,
      lines,
      actors: this.#parts.agent.redact(actors),
      actorsGone: gone,
      pods: [...pods.values()].filter((pod) => !isSamePod(before?.pods.get(pod.uid), pod)),
      podsGone: [...(before?.pods.keys() ?? [])].filter((uid) => !pods.has(uid)),
      ...(isDeepStrictEqual(before?.node, node) ? {} : { node }),
    };
  }

  #look(): Seen {
    const { agent, clock } = this.#parts;
    const at = clock.now();
    this.#node = this.#isSameNode(at) ? this.#node : this.#nodeAt(at);
    const { tree, node } = this.#node ?? this.#nodeAt(at);
    const pods = new Map(agent.pods().map((pod) => [pod.metadata.uid, this.#shownPods.of(pod, at)]));
    return { at, trees: treesOf(tree, agent.trees()), pods, node };
  }

  /** Most frames are of pods alone: what explains the node is not made anew for them. */
  #isSameNode(at: number): boolean {
    const hasMoved = this.#watching?.takeNodeMoved() ?? true;
    return !hasMoved && this.#node !== undefined && at - this.#node.at < NODE_MS;
  }

  #nodeAt(at: number): SeenNode {
    const tree = this.#parts.agent.explainNode().node;
    return { at, tree, node: this.#nodeNow(tree) };
  }

  #nodeNow(tree: ActorNode): ShownNode {
    const { agent, version } = this.#parts;
    const { name, simulated, state, tags, runtime, trouble, limiters } = agent.node();
    // NodeSummary calls them plain data to show as it is; they are those of NodeOverview.
    const { start, pull } = limiters as { readonly start: LimiterView; readonly pull: LimiterView };
    return shownNode({
      name,
      version,
      simulated,
      state,
      tags,
      trouble,
      runtime: shownRuntime(runtime, runtime.state === 'ready'),
      gates: { start: shownGate(start), pull: shownGate(pull) },
      children: tree.children,
      loop: this.#watching?.loop(),
    });
  }
}

function isSamePod(one: ShownPod | undefined, other: ShownPod): boolean {
  return (
    one?.status === other.status &&
    one.ready === other.ready &&
    one.restarts === other.restarts &&
    one.phase === other.phase
  );
}

interface WatchingParts extends Pick<LiveParts, 'audience' | 'clock'> {
  readonly agent: Pick<InspectedAgent, 'subscribe'>;
  /** Called when there is something to tell of. */
  readonly onDue: () => void;
}

/** What goes on between two frames. */
class Watching {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  readonly #teller = new StoryTeller();
  readonly #loop: LoopMonitor;
  readonly #leave: () => void;
  #lines: StoryLine[] = [];
  #unsaid = 0;
  #hasNodeMoved = true;
  #timer: unknown;

  constructor({ agent, audience, clock, onDue }: WatchingParts) {
    this.#clock = clock;
    this.#onDue = onDue;
    this.#loop = monitorLoop(clock, () => this.#note());
    const leave = audience.add({ line: (line) => this.#hear(line), inspect: (event) => this.#look(event) });
    // A status that has been saved is reported after the actors have moved.
    const unsubscribe = agent.subscribe(() => this.#note());
    this.#leave = () => {
      leave();
      unsubscribe();
    };
  }

  loop = () => this.#loop.now();

  take(): { readonly lines: readonly StoryLine[]; readonly unsaid: number } {
    const taken = { lines: this.#lines, unsaid: this.#unsaid };
    this.#lines = [];
    this.#unsaid = 0;
    return taken;
  }

  /** So much that was taken has been told to nobody. */
  leaveOut(lines: number): void {
    this.#unsaid += lines;
    this.#hasNodeMoved = true;
  }

  /** Whether an actor of the node itself has moved since this was asked last. */
  takeNodeMoved(): boolean {
    const hasMoved = this.#hasNodeMoved;
    this.#hasNodeMoved = false;
    return hasMoved;
  }

  stop(): void {
    this.#leave();
    this.#loop.stop();
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #hear(line: Line): void {
    const told = this.#teller.tell(line);
    const room = MOST_LINES - this.#lines.length;
    this.#lines.push(...told.slice(0, room));
    this.#unsaid += Math.max(0, told.length - room);
    this.#note();
  }

  #look({ type, actorRef }: InspectionEvent): void {
    if (type !== '@xstate.snapshot') return;
    // Every actor here is one of xstate's own.
    if (!isOfPod(actorRef as AnyActorRef)) this.#hasNodeMoved = true;
    this.#note();
  }

  #note(): void {
    this.#timer ??= this.#clock.setTimeout(() => {
      this.#timer = undefined;
      this.#onDue();
    }, FRAME_MS);
  }
}

/** Whether an actor is that of a pod, or below it. */
function isOfPod(ref: AnyActorRef): boolean {
  let actor = ref;
  while (actor._parent?._parent !== undefined) actor = actor._parent;
  return actor.id.startsWith('pod/');
}
