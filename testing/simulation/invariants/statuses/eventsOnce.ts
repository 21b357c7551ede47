import type { EventSink } from '../../../../actors/events/eventSink.ts';
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { nameIn } from '../containers/ownReasons.ts';
import type { Invariant } from '../invariant.ts';
import { EventCauses, SimultaneousEvents } from './eventCauses.ts';

type RecordedEvent = Parameters<EventSink>[0];

/** Runtime effects that are reported by one event each, by the reason of the event. */
const EFFECT_OF_REASON: ReadonlyMap<string, RuntimeEffect['kind']> = new Map([
  ['Created', 'created'],
  ['Started', 'started'],
]);

/**
 * Initial back-off of mounts in milliseconds (`initialDurationBeforeRetry` in
 * pkg/util/goroutinemap/exponentialbackoff).
 */
const MOUNT_BACKOFF_MS = 500;

class Counts {
  readonly #counts = new Map<string, number>();

  add(...key: readonly string[]): number {
    const joined = key.join(' ');
    const count = (this.#counts.get(joined) ?? 0) + 1;
    this.#counts.set(joined, count);
    return count;
  }

  of = (...key: readonly string[]): number => this.#counts.get(key.join(' ')) ?? 0;

  forget = (...key: readonly string[]): void => void this.#counts.delete(key.join(' '));
}

/**
 * Reasons of events that are recorded once per run: a failed hook, the stop (`killContainer` in
 * pkg/kubelet/kuberuntime/kuberuntime_container.go) and the back-off. The kubelet records the back-off at each sync and
 * aggregates the events. This agent records it once, when it starts.
 */
const RUN_REASONS: ReadonlySet<string> = new Set(['Killing', 'BackOff', 'FailedPostStartHook']);

/**
 * Messages about each attempt to get an image (`EnsureImageExists` in pkg/kubelet/images/image_manager.go), with the
 * runtime call that precedes them.
 */
const IMAGE_MESSAGES: readonly (readonly [words: RegExp, call: string])[] = [
  [/^Pulling image "([^"]*)"/, 'imageStatus'],
  [/^Container image "([^"]*)" already present/, 'imageStatus'],
  [/^Successfully pulled image "([^"]*)" in /, 'pullImage'],
  // A failure before the pull is also recorded in each attempt, which starts with `imageStatus`.
  [/^Failed to pull image "([^"]*)": (?:Failed to record |secret ")/, 'imageStatus'],
  [/^Failed to pull image "([^"]*)": /, 'pullImage'],
  [/^Back-off pulling image "([^"]*)"/, 'imageStatus'],
];

/** Returns the image name with a tag, as in requests to the runtime. */
const withTag = (image: string): string => (/:[^/]*$/.test(image) ? image : `${image}:latest`);

type Run = Pick<SimulatedContainer, 'podUid' | 'containerName'>;

/** Counts the events of one agent, and the effects and calls that justify them. */
class AgentEvents {
  readonly #recorded = new Counts();
  readonly #happened = new Counts();
  readonly #failedMounts = new Map<string, number>();
  readonly #simultaneous = new SimultaneousEvents();

  /**
   * For a create request, the runtime may return a container of an earlier agent with the same name that no list shows.
   */
  constructor(containers: readonly Run[]) {
    for (const { podUid, containerName } of containers)
      for (const kind of EFFECT_OF_REASON.values()) this.#happened.add(kind, podUid, containerName);
  }

  noteEffect({ kind, container }: RuntimeEffect, running: readonly Run[]): void {
    if (container === undefined) return;
    const key = [container.podUid, container.containerName];
    this.#happened.add(kind, ...key);
    // A container that no list shows may run beside a new one. The agent discovers it while creating the new one and
    // must stop it.
    const isAmong = ({ podUid, containerName }: Run) =>
      podUid === container.podUid && containerName === container.containerName;
    const startsRun = kind === 'created' || (kind === 'ended' && running.some(isAmong));
    if (startsRun) for (const reason of RUN_REASONS) this.#recorded.forget(reason, ...key);
  }

  noteStatus(change: PodChange): void {
    this.#simultaneous.noteStatus(change);
  }

  noteCall({ target, name, about }: OutsideCall): void {
    if (target === 'runtime' && (name === 'imageStatus' || name === 'pullImage'))
      this.#happened.add(name, withTag(about));
  }

  /** Whether an event was recorded before. `elapsed` is the node time in milliseconds. */
  isRepeated(event: RecordedEvent, elapsed: number): boolean {
    const { reason, message, involved } = event;
    const { uid, fieldPath } = involved;
    const isSimultaneous = this.#simultaneous.isRepeated(event, elapsed);
    const key = [uid, nameIn(fieldPath)];
    const kind = EFFECT_OF_REASON.get(reason);
    if (kind !== undefined) return this.#recorded.add(kind, ...key) > this.#happened.of(kind, ...key);
    for (const [words, call] of IMAGE_MESSAGES) {
      const named = words.exec(message)?.[1];
      if (named === undefined) continue;
      const image = withTag(named);
      const isMore = this.#recorded.add(words.source, image) > this.#happened.of(call, image);
      // A new attempt follows only after a wait, so never at the same time.
      return this.#recorded.add(`${elapsed}`, ...key, message) > 1 || isMore;
    }
    if (RUN_REASONS.has(reason) && fieldPath !== undefined) return this.#recorded.add(reason, ...key) > 1;
    if (reason !== 'FailedMount') return isSimultaneous;
    const volume = `${uid} ${message.split(' : ')[0]}`;
    const before = this.#failedMounts.get(volume);
    this.#failedMounts.set(volume, elapsed);
    return before !== undefined && elapsed - before < MOUNT_BACKOFF_MS;
  }
}

export const eventsOnce: Invariant = {
  number: 8,
  description: 'An agent records only one event for each occurrence.',
  follow: ({ host }, violated) => {
    let agentEvents = new AgentEvents([]);
    let causes = new EventCauses();
    return {
      onAgentStarted: () => {
        agentEvents = new AgentEvents(host.containers());
        causes = new EventCauses(host);
      },
      onEffect: (effect) => {
        const running = host.containers().filter(({ state }) => state === 'running');
        agentEvents.noteEffect(effect, running);
        causes.noteEffect(effect);
      },
      onStatus: (change) => {
        agentEvents.noteStatus(change);
        causes.noteStatus(change);
      },
      onCall: (call) => {
        agentEvents.noteCall(call);
        causes.noteCall(call);
      },
      onEvent: (event) => {
        const { namespace, name } = event.involved;
        const hasRepeatedCause = causes.isRepeated(event, host.clock.elapsed);
        if (!agentEvents.isRepeated(event, host.clock.elapsed) && !hasRepeatedCause) return;
        violated(`recorded twice: ${namespace}/${name} ${event.reason}: ${event.message}`);
      },
    };
  },
};
