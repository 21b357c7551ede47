/**
 * Follows a running node for the page. Viewers receive a snapshot, then frames with the changes. The node is observed
 * only while there is a viewer.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import type { Line } from '../../recording/lines.ts';
import type { ActorNode, LimiterView } from '../../show/actors/actorNode.ts';
import type { AgentPort } from '../../socket/agent.ts';
import { StoryConverter } from '../past/storyLines.ts';
import type { Frame, ShownNode, ShownPod, Snapshot, StoryLine } from '../protocol.ts';
import { ActorDiffer, allTrees, flattenTree, PodRowCache, type ShownTree, shownGate } from '../shown.ts';
import type { Audience } from './audience.ts';
import { type LoopMonitor, startLoopMonitor } from './loopMonitor.ts';
import { shownNode, shownRuntime } from './nodeBar.ts';

/** The parts of an agent that the page shows. */
export type InspectedAgent = Pick<
  AgentPort,
  | 'pods'
  | 'trees'
  | 'explainNode'
  | 'node'
  | 'subscribe'
  | 'events'
  | 'explain'
  | 'explainPart'
  | 'logTails'
  | 'podPaths'
> & { redact<T>(value: T): T };

interface LiveViewOptions {
  readonly agent: InspectedAgent;
  readonly audience: Audience;
  readonly clock: Clock;
  readonly version: string;
  /** Returns the time range of the recording. */
  readonly recorded: () => Snapshot['recorded'];
  /** Called when the last viewer has left. */
  readonly onUnwatched?: () => void;
  /** Called if a frame cannot be created. The node continues, and its viewers receive the next frame. */
  readonly onError: (error: unknown) => void;
}

/** Interval between frames. */
const FRAME_INTERVAL_MS = 100;
/** Maximum number of lines in a frame, because more would be unreadable. Further lines are only counted. */
const MAX_FRAME_LINES = 200;

/**
 * Interval at which the node's own state is read even if no actor of the node has changed, because part of that state
 * is outside of actors.
 */
const NODE_REFRESH_MS = 1_000;

/** The node's own state, without pods. */
interface NodeState {
  readonly at: number;
  readonly tree: ActorNode;
  readonly node: ShownNode;
}

/** The state of the node and its pods at one point in time. */
interface FullState extends Pick<Snapshot, 'at' | 'node'> {
  readonly trees: ReadonlyMap<string, ShownTree>;
  readonly pods: ReadonlyMap<string, ShownPod>;
}

export class LiveView {
  readonly #parts: LiveViewOptions;
  readonly #viewers = new Set<(frame: Frame) => void>();
  #actorDiffer = new ActorDiffer();
  readonly #shownPods = new PodRowCache();
  #watching: ChangeCollector | undefined;
  #node: NodeState | undefined;
  /** The state that the viewers have received. */
  #sentState: FullState | undefined;

  constructor(parts: LiveViewOptions) {
    this.#parts = parts;
  }

  /**
   * Returns the current state. If there is a viewer, returns the state after the last frame instead, because the next
   * frame contains the changes since that state.
   */
  snapshot(): Snapshot {
    const { agent, recorded } = this.#parts;
    const { at, node, pods, trees } = this.#sentState ?? this.#readState();
    const span = recorded();
    return {
      at,
      mode: 'live',
      node,
      pods: [...pods.values()],
      actors: agent.redact([...trees.values()].flatMap(flattenTree)),
      ...(span === undefined ? {} : { recorded: span }),
    };
  }

  get isFollowed(): boolean {
    return this.#viewers.size > 0;
  }

  /**
   * Calls `viewer` with each frame until the returned function is called. The first frame contains the changes since
   * the snapshot at the time of the call.
   */
  follow(viewer: (frame: Frame) => void): () => void {
    if (this.#watching === undefined) this.#startWatching();
    this.#viewers.add(viewer);
    return () => {
      if (this.#viewers.delete(viewer) && this.#viewers.size === 0) this.#stopWatching();
    };
  }

  #startWatching(): void {
    const { agent, audience, clock } = this.#parts;
    this.#watching = new ChangeCollector({ agent, audience, clock, onDue: () => this.#sendFrame() });
    this.#createFrame([]);
  }

  #stopWatching(): void {
    this.#watching?.stop();
    this.#watching = undefined;
    this.#actorDiffer.compareAll(new Map());
    this.#sentState = undefined;
    this.#node = undefined;
    this.#parts.onUnwatched?.();
  }

  #sendFrame(): void {
    const watching = this.#watching;
    if (watching === undefined) return;
    const { lines, omitted } = watching.take();
    const previousState = this.#sentState;
    try {
      const frame = { ...this.#createFrame(lines), ...(omitted === 0 ? {} : { unsaid: omitted }) };
      for (const viewer of this.#viewers) viewer(frame);
    } catch (error) {
      // The next frame must contain the changes since the last frame that was sent.
      this.#sentState = previousState;
      this.#actorDiffer = new ActorDiffer();
      this.#actorDiffer.compareAll(previousState?.trees ?? new Map());
      watching.addOmitted(lines.length + omitted);
      this.#parts.onError(error);
    }
  }

  #createFrame(lines: readonly StoryLine[]): Frame {
    const before = this.#sentState;
    const state = this.#readState();
    this.#sentState = state;
    const { at, node, pods, trees } = state;
    const { actors, gone } = this.#actorDiffer.compareAll(trees);
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

  #readState(): FullState {
    const { agent, clock } = this.#parts;
    const at = clock.now();
    this.#node = this.#canReuseNode(at) ? this.#node : this.#readNode(at);
    const { tree, node } = this.#node ?? this.#readNode(at);
    const pods = new Map(agent.pods().map((pod) => [pod.metadata.uid, this.#shownPods.rowOf(pod, at)]));
    return { at, trees: allTrees(tree, agent.trees()), pods, node };
  }

  /** Whether the node's last explanation can be reused. Most frames only contain changes of pods. */
  #canReuseNode(at: number): boolean {
    const hasMoved = this.#watching?.takeNodeMoved() ?? true;
    return !hasMoved && this.#node !== undefined && at - this.#node.at < NODE_REFRESH_MS;
  }

  #readNode(at: number): NodeState {
    const tree = this.#parts.agent.explainNode().node;
    return { at, tree, node: this.#describeNode(tree) };
  }

  #describeNode(tree: ActorNode): ShownNode {
    const { agent, version } = this.#parts;
    const { name, simulated, state, tags, runtime, trouble, limiters } = agent.node();
    // Safe cast: the limiters come from NodeOverview, although NodeSummary types them as unknown.
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

interface ChangeCollectorOptions extends Pick<LiveViewOptions, 'audience' | 'clock'> {
  readonly agent: Pick<InspectedAgent, 'subscribe'>;
  /** Called when a frame is due. */
  readonly onDue: () => void;
}

/** Collects the changes between two frames. */
class ChangeCollector {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  readonly #converter = new StoryConverter();
  readonly #loop: LoopMonitor;
  readonly #leave: () => void;
  #lines: StoryLine[] = [];
  #omitted = 0;
  #hasNodeMoved = true;
  #timer: unknown;

  constructor({ agent, audience, clock, onDue }: ChangeCollectorOptions) {
    this.#clock = clock;
    this.#onDue = onDue;
    this.#loop = startLoopMonitor(clock, () => this.#scheduleFrame());
    const leave = audience.add({
      line: (line) => this.#addLine(line),
      inspect: (event) => this.#handleInspection(event),
    });
    // Publications also trigger frames, because a status that must be persisted first is published after the actors
    // have changed state.
    const unsubscribe = agent.subscribe(() => this.#scheduleFrame());
    this.#leave = () => {
      leave();
      unsubscribe();
    };
  }

  loop = () => this.#loop.now();

  take(): { readonly lines: readonly StoryLine[]; readonly omitted: number } {
    const result = { lines: this.#lines, omitted: this.#omitted };
    this.#lines = [];
    this.#omitted = 0;
    return result;
  }

  /** Adds lines that were collected but not sent to the number of omitted lines. */
  addOmitted(lines: number): void {
    this.#omitted += lines;
    this.#hasNodeMoved = true;
  }

  /** Returns whether an actor of the node itself has changed since the last call. */
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

  #addLine(line: Line): void {
    const storyLines = this.#converter.convert(line);
    const room = MAX_FRAME_LINES - this.#lines.length;
    this.#lines.push(...storyLines.slice(0, room));
    this.#omitted += Math.max(0, storyLines.length - room);
    this.#scheduleFrame();
  }

  #handleInspection({ type, actorRef }: InspectionEvent): void {
    if (type !== '@xstate.snapshot') return;
    // Safe cast: every actor of the node was created by XState.
    if (!isPodActor(actorRef as AnyActorRef)) this.#hasNodeMoved = true;
    this.#scheduleFrame();
  }

  #scheduleFrame(): void {
    this.#timer ??= this.#clock.setTimeout(() => {
      this.#timer = undefined;
      this.#onDue();
    }, FRAME_INTERVAL_MS);
  }
}

/** Whether an actor belongs to a pod. */
function isPodActor(ref: AnyActorRef): boolean {
  let actor = ref;
  while (actor._parent?._parent !== undefined) actor = actor._parent;
  return actor.id.startsWith('pod/');
}
