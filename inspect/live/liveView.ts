/**
 * Follows a running node for the page. Viewers receive a snapshot and then frames with changes. The node is observed
 * only while there is a viewer.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import type { Clock } from '../../base/time/clock.ts';
import type { RecordingLine } from '../../recording/lines.ts';
import type { ActorNode, LimiterView } from '../../show/actors/actorNode.ts';
import type { AgentPort } from '../../socket/agent.ts';
import { StoryConverter } from '../past/story/storyConverter.ts';
import type { Frame, ShownNode, ShownPod, Snapshot, StoryLine } from '../protocol.ts';
import { ActorDiffer, allTrees, flattenTree, PodRowCache, type ShownTree, toShownGate } from '../shown.ts';
import type { Audience } from './audience.ts';
import { type LoopMonitor, startLoopMonitor } from './loopMonitor.ts';
import { toShownNode, toShownRuntime } from './nodeBar.ts';

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
  | 'evictionFigures'
> & { redact<T>(value: T): T };

interface LiveViewOptions {
  readonly agent: InspectedAgent;
  readonly audience: Audience;
  readonly clock: Clock;
  readonly version: string;
  /** Returns the time range of the recording. */
  readonly recordedSpan: () => Snapshot['recorded'];
  /** Called when the last viewer has left. */
  readonly onUnwatched?: () => void;
  /** Called if a frame cannot be created. The viewers receive the next frame as usual. */
  readonly onError: (error: unknown) => void;
}

/** Interval between frames, in milliseconds. */
const FRAME_INTERVAL_MS = 100;
/** Maximum number of lines in a frame, because users could not read more. Further lines are only counted. */
const MAX_FRAME_LINES = 200;

/**
 * Interval at which the node's own state is read even if none of its actors has changed, because part of that state is
 * outside of actors.
 */
const NODE_REFRESH_MS = 1_000;

/** The node's own state, excluding its pods. */
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
  readonly #options: LiveViewOptions;
  readonly #viewers = new Set<(frame: Frame) => void>();
  #actorDiffer = new ActorDiffer();
  readonly #shownPods = new PodRowCache();
  #changeCollector: ChangeCollector | undefined;
  #nodeState: NodeState | undefined;
  /** The state that has been sent to the viewers. */
  #sentState: FullState | undefined;

  constructor(options: LiveViewOptions) {
    this.#options = options;
  }

  /**
   * Returns the current state or, if there is a viewer, the state as of the last frame, because the next frame contains
   * the changes since then.
   */
  snapshot(): Snapshot {
    const { agent, recordedSpan } = this.#options;
    const { at, node, pods, trees } = this.#sentState ?? this.#readState();
    const recordedRange = recordedSpan();
    return {
      at,
      mode: 'live',
      node,
      pods: [...pods.values()],
      actors: agent.redact([...trees.values()].flatMap(flattenTree)),
      ...(recordedRange === undefined ? {} : { recorded: recordedRange }),
    };
  }

  get isFollowed(): boolean {
    return this.#viewers.size > 0;
  }

  /**
   * Calls `viewer` with each frame until the returned function is called. The first frame contains the changes since
   * the snapshot that `snapshot` returns at the time of the call.
   */
  follow(viewer: (frame: Frame) => void): () => void {
    if (this.#changeCollector === undefined) this.#startWatching();
    this.#viewers.add(viewer);
    return () => {
      if (this.#viewers.delete(viewer) && this.#viewers.size === 0) this.#stopWatching();
    };
  }

  #startWatching(): void {
    const { agent, audience, clock } = this.#options;
    this.#changeCollector = new ChangeCollector({ agent, audience, clock, onFrameDue: () => this.#sendFrame() });
    this.#createFrame([]);
  }

  #stopWatching(): void {
    this.#changeCollector?.stop();
    this.#changeCollector = undefined;
    this.#actorDiffer.compareAll(new Map());
    this.#sentState = undefined;
    this.#nodeState = undefined;
    this.#options.onUnwatched?.();
  }

  #sendFrame(): void {
    const changeCollector = this.#changeCollector;
    if (changeCollector === undefined) return;
    const { lines, omitted } = changeCollector.take();
    const previousState = this.#sentState;
    try {
      const frame = { ...this.#createFrame(lines), ...(omitted === 0 ? {} : { unsaid: omitted }) };
      for (const viewer of this.#viewers) viewer(frame);
    } catch (error) {
      // Restore the previous state, so that the next frame contains all changes since the last frame that was sent.
      this.#sentState = previousState;
      this.#actorDiffer = new ActorDiffer();
      this.#actorDiffer.compareAll(previousState?.trees ?? new Map());
      changeCollector.addOmitted(lines.length + omitted);
      this.#options.onError(error);
    }
  }

  #createFrame(lines: readonly StoryLine[]): Frame {
    const previousState = this.#sentState;
    const state = this.#readState();
    this.#sentState = state;
    const { at, node, pods, trees } = state;
    const { actors, removedPaths } = this.#actorDiffer.compareAll(trees);
    return {
      at,
      lines,
      actors: this.#options.agent.redact(actors),
      actorsGone: removedPaths,
      pods: [...pods.values()].filter((pod) => !isSamePod(previousState?.pods.get(pod.uid), pod)),
      podsGone: [...(previousState?.pods.keys() ?? [])].filter((uid) => !pods.has(uid)),
      ...(isDeepStrictEqual(previousState?.node, node) ? {} : { node }),
    };
  }

  #readState(): FullState {
    const { agent, clock } = this.#options;
    const at = clock.now();
    this.#nodeState = this.#canReuseNode(at) ? this.#nodeState : this.#readNode(at);
    const { tree, node } = this.#nodeState ?? this.#readNode(at);
    const pods = new Map(agent.pods().map((pod) => [pod.metadata.uid, this.#shownPods.rowOf(pod, at)]));
    return { at, trees: allTrees(tree, agent.trees()), pods, node };
  }

  /**
   * Whether the next frame can reuse the node's own state. Most frames can, because they contain only changes of pods.
   */
  #canReuseNode(at: number): boolean {
    const hasMoved = this.#changeCollector?.takeNodeMoved() ?? true;
    return !hasMoved && this.#nodeState !== undefined && at - this.#nodeState.at < NODE_REFRESH_MS;
  }

  #readNode(at: number): NodeState {
    const tree = this.#options.agent.explainNode().node;
    return { at, tree, node: this.#describeNode(tree) };
  }

  #describeNode(tree: ActorNode): ShownNode {
    const { agent, version } = this.#options;
    const { name, simulated, state, tags, runtime, trouble, limiters } = agent.node();
    // Safe cast, because the limiters come from NodeOverview, although NodeSummary types them as unknown.
    const { start, pull } = limiters as { readonly start: LimiterView; readonly pull: LimiterView };
    return toShownNode({
      name,
      version,
      simulated,
      state,
      tags,
      trouble,
      runtime: toShownRuntime(runtime, runtime.state === 'ready'),
      gates: { start: toShownGate(start), pull: toShownGate(pull) },
      children: tree.children,
      loop: this.#changeCollector?.loop(),
    });
  }
}

function isSamePod(previousPod: ShownPod | undefined, nextPod: ShownPod): boolean {
  return (
    previousPod?.status === nextPod.status &&
    previousPod.ready === nextPod.ready &&
    previousPod.restarts === nextPod.restarts &&
    previousPod.phase === nextPod.phase
  );
}

interface ChangeCollectorOptions extends Pick<LiveViewOptions, 'audience' | 'clock'> {
  readonly agent: Pick<InspectedAgent, 'subscribe'>;
  readonly onFrameDue: () => void;
}

/** Collects the changes between two frames. */
class ChangeCollector {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  readonly #converter = new StoryConverter();
  readonly #loop: LoopMonitor;
  readonly #stopObserving: () => void;
  #storyLines: StoryLine[] = [];
  #omittedCount = 0;
  #hasNodeMoved = true;
  #timer: unknown;

  constructor({ agent, audience, clock, onFrameDue }: ChangeCollectorOptions) {
    this.#clock = clock;
    this.#onDue = onFrameDue;
    this.#loop = startLoopMonitor(clock, () => this.#scheduleFrame());
    const leaveAudience = audience.add({
      line: (line) => this.#addLine(line),
      inspect: (event) => this.#handleInspection(event),
    });
    // Published statuses also trigger frames, because a status that must be persisted first is published later than the
    // state change.
    const unsubscribe = agent.subscribe(() => this.#scheduleFrame());
    this.#stopObserving = () => {
      leaveAudience();
      unsubscribe();
    };
  }

  loop = () => this.#loop.now();

  take(): { readonly lines: readonly StoryLine[]; readonly omitted: number } {
    const collectedLines = { lines: this.#storyLines, omitted: this.#omittedCount };
    this.#storyLines = [];
    this.#omittedCount = 0;
    return collectedLines;
  }

  /**
   * Counts lines that were collected but not sent as omitted. The next frame also reads the node's own state again,
   * because that state may not have been sent either.
   */
  addOmitted(lines: number): void {
    this.#omittedCount += lines;
    this.#hasNodeMoved = true;
  }

  /** Returns whether an actor of the node itself has changed since the last call of this method. */
  takeNodeMoved(): boolean {
    const hasMoved = this.#hasNodeMoved;
    this.#hasNodeMoved = false;
    return hasMoved;
  }

  stop(): void {
    this.#stopObserving();
    this.#loop.stop();
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #addLine(line: RecordingLine): void {
    const storyLines = this.#converter.convert(line);
    const remainingLines = MAX_FRAME_LINES - this.#storyLines.length;
    this.#storyLines.push(...storyLines.slice(0, remainingLines));
    this.#omittedCount += Math.max(0, storyLines.length - remainingLines);
    this.#scheduleFrame();
  }

  #handleInspection({ type, actorRef }: InspectionEvent): void {
    if (type !== '@xstate.snapshot') return;
    // Safe cast, because every actor of the node was created by XState.
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

function isPodActor(ref: AnyActorRef): boolean {
  let actor = ref;
  while (actor._parent?._parent !== undefined) actor = actor._parent;
  return actor.id.startsWith('pod/');
}
