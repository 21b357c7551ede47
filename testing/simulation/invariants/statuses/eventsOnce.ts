import type { EventSink } from '../../../../actors/events/eventSink.ts';
import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { nameIn } from '../containers/ownReasons.ts';
import type { Invariant } from '../invariant.ts';
import { EventCauses, SimultaneousEvents } from './eventCauses.ts';

type RecordedEvent = Parameters<EventSink>[0];

/** Events that happen once per container, by reason. */
const EFFECT_OF_REASON: ReadonlyMap<string, RuntimeEffect['kind']> = new Map([
  ['Created', 'created'],
  ['Started', 'started'],
]);

/** The initial back-off of mounts (`initialDurationBeforeRetry` in pkg/util/goroutinemap/exponentialbackoff). */
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
 * Events that happen once per run: a failed hook, the stop (`killContainer` in
 * pkg/kubelet/kuberuntime/kuberuntime_container.go) and the back-off. A kubelet records the back-off at each sync and
 * aggregates the events. This agent records it once, when it starts.
 */
const RUN_REASONS: ReadonlySet<string> = new Set(['Killing', 'BackOff', 'FailedPostStartHook']);

/**
 * Events of each attempt to get an image (`EnsureImageExists` in pkg/kubelet/images/image_manager.go), with the call
 * that causes them.
 */
const IMAGE_MESSAGES: readonly (readonly [words: RegExp, call: string])[] = [
  [/^Pulling image "([^"]*)"/, 'imageStatus'],
  [/^Container image "([^"]*)" already present/, 'imageStatus'],
  [/^Successfully pulled image "([^"]*)" in /, 'pullImage'],
  // A failure before the pull is recorded in each attempt as well, which starts with `imageStatus`.
  [/^Failed to pull image "([^"]*)": (?:Failed to record |secret ")/, 'imageStatus'],
  [/^Failed to pull image "([^"]*)": /, 'pullImage'],
  [/^Back-off pulling image "([^"]*)"/, 'imageStatus'],
];

/** The image name with a tag, as in requests to the runtime. */
const withTag = (image: string): string => (/:[^/]*$/.test(image) ? image : `${image}:latest`);

type Run = Pick<SimulatedContainer, 'podUid' | 'containerName'>;

/** The events of one agent and what has happened meanwhile. */
class AgentEvents {
  readonly #told = new Counts();
  readonly #happened = new Counts();
  readonly #failedMounts = new Map<string, number>();
  readonly #now = new SimultaneousEvents();

  /** A container of an earlier agent that no list shows may be returned for a create request with its name. */
  constructor(containers: readonly Run[]) {
    for (const { podUid, containerName } of containers)
      for (const kind of EFFECT_OF_REASON.values()) this.#happened.add(kind, podUid, containerName);
  }

  noteEffect({ kind, container }: RuntimeEffect, running: readonly Run[]): void {
    if (container === undefined) return;
    const key = [container.podUid, container.containerName];
    this.#happened.add(kind, ...key);
    // A container that no list shows may run beside a new one. The agent finds it while creating the new one and must
    // stop it.
    const isAmong = ({ podUid, containerName }: Run) =>
      podUid === container.podUid && containerName === container.containerName;
    const begins = kind === 'created' || (kind === 'ended' && running.some(isAmong));
    if (begins) for (const reason of RUN_REASONS) this.#told.forget(reason, ...key);
  }

  noteStatus(change: PodChange): void {
    this.#now.noteStatus(change);
  }

  noteCall({ target, name, about }: OutsideCall): void {
    if (target === 'runtime' && (name === 'imageStatus' || name === 'pullImage'))
      this.#happened.add(name, withTag(about));
  }

  /** Whether an event was recorded before. `elapsed` is in node time. */
  isRepeated(event: RecordedEvent, elapsed: number): boolean {
    const { reason, message, involved } = event;
    const { uid, fieldPath } = involved;
    const isAlso = this.#now.isRepeated(event, elapsed);
    const key = [uid, nameIn(fieldPath)];
    const kind = EFFECT_OF_REASON.get(reason);
    if (kind !== undefined) return this.#told.add(kind, ...key) > this.#happened.of(kind, ...key);
    for (const [words, call] of IMAGE_MESSAGES) {
      const named = words.exec(message)?.[1];
      if (named === undefined) continue;
      const image = withTag(named);
      const isMore = this.#told.add(words.source, image) > this.#happened.of(call, image);
      // A new attempt follows only after a wait.
      return this.#told.add(`${elapsed}`, ...key, message) > 1 || isMore;
    }
    if (RUN_REASONS.has(reason) && fieldPath !== undefined) return this.#told.add(reason, ...key) > 1;
    if (reason !== 'FailedMount') return isAlso;
    const volume = `${uid} ${message.split(' : ')[0]}`;
    const before = this.#failedMounts.get(volume);
    this.#failedMounts.set(volume, elapsed);
    return before !== undefined && elapsed - before < MOUNT_BACKOFF_MS;
  }
}

export const eventsOnce: Invariant = {
  number: 8,
  description: 'Within one life of the agent, an event is told once for what happened once.',
  follow: ({ host }, violated) => {
    let telling = new AgentEvents([]);
    let causes = new EventCauses();
    return {
      onAgentStarted: () => {
        telling = new AgentEvents(host.containers());
        causes = new EventCauses(host);
      },
      onEffect: (effect) => {
        const running = host.containers().filter(({ state }) => state === 'running');
        telling.noteEffect(effect, running);
        causes.noteEffect(effect);
      },
      onStatus: (change) => {
        telling.noteStatus(change);
        causes.noteStatus(change);
      },
      onCall: (call) => {
        telling.noteCall(call);
        causes.noteCall(call);
      },
      onEvent: (event) => {
        const { namespace, name } = event.involved;
        const wasTold = causes.isRepeated(event, host.clock.elapsed);
        if (!telling.isRepeated(event, host.clock.elapsed) && !wasTold) return;
        violated(`told twice: ${namespace}/${name} ${event.reason}: ${event.message}`);
      },
    };
  },
};
