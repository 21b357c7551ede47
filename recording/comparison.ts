/** Compares the output of a replay with the recorded output. Both are compared in chronological order. */
import { isDeepStrictEqual } from 'node:util';
import type { Keyframe } from '../actors/node/nodeAgent.ts';
import type { StateChange } from '../actors/status/sinceMap.ts';
import { firstDifference } from '../base/firstDifference.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import type { RecordingLine, StatusLine } from './lines.ts';

/** The first mismatch between a recording and its replay. */
export interface RecordingDifference {
  readonly at: number;
  /** The actor's path, or the pod's name followed by the JSON path in its status. */
  readonly subject: string;
  /** Recorded value. Undefined if only the replay has one. */
  readonly recorded?: unknown;
  /** Replayed value. Undefined if only the recording has one. */
  readonly replayed?: unknown;
}

export class ReplayComparison {
  readonly #stateChanges: StateChange[] = [];
  /**
   * The replayed statuses by pod UID, as JSON. The first item is the latest one that matched the recording, and the
   * others have not been compared yet.
   */
  readonly #replayedStatuses = new Map<string, unknown[]>();
  /** The display names by pod UID, for pods whose first status in the list has been compared. */
  readonly #names = new Map<string, string>();

  /**
   * Starts from a keyframe, whose statuses count as compared. The statuses that were deferred at the keyframe were
   * published after it, so they are compared.
   */
  startFrom({ statuses, untold = [] }: Keyframe): void {
    const publishedStatuses = [...Object.entries(statuses)].filter(([uid]) => !untold.some((each) => each.uid === uid));
    for (const [uid, status] of publishedStatuses) this.#replayedStatuses.set(uid, [status]);
    // The keyframe does not contain the last status that the pods in `untold` published before it.
    for (const { uid } of untold) this.#replayedStatuses.set(uid, [UNKNOWN_STATUS]);
    for (const uid of this.#replayedStatuses.keys()) this.#names.set(uid, uid);
    for (const { uid, status } of untold) this.addStatus(uid, status);
  }

  addStateChange(move: StateChange): void {
    this.#stateChanges.push(move);
  }

  addStatus(uid: string, status: PodStatus | undefined): void {
    const statuses = this.#replayedStatuses.get(uid) ?? [];
    const statusJson = toJson(status);
    // Like the recorder, skip a status that equals the previous one.
    if (statuses.length === 0 || !isDeepStrictEqual(statuses.at(-1), statusJson)) statuses.push(statusJson);
    this.#replayedStatuses.set(uid, statuses);
  }

  /** Returns undefined if the replay matches the recorded line. */
  compare(line: RecordingLine): RecordingDifference | undefined {
    if (line.kind === 'status') return this.#compareStatus(line);
    if (line.kind === 'ended') return this.#findUnrecorded(line);
    if (line.kind !== 'state') return undefined;
    const { at, actor, state } = line;
    const nextChange = this.#stateChanges.shift();
    if (nextChange?.actor === actor && nextChange.state === state) return undefined;
    const replayedValue = nextChange === undefined ? {} : { replayed: `${nextChange.actor} ${nextChange.state}` };
    return { at, subject: actor, recorded: state, ...replayedValue };
  }

  /**
   * Skips statuses that only the replay published, because the replay publishes at once what a live agent publishes
   * after persisting it, several changes at a time.
   */
  #compareStatus({ at, uid, pod, status }: StatusLine): RecordingDifference | undefined {
    const statuses = this.#replayedStatuses.get(uid) ?? [];
    this.#names.set(uid, pod);
    const index = statuses.findIndex((each) => isDeepStrictEqual(each, status));
    if (index >= 0) this.#replayedStatuses.set(uid, statuses.slice(index));
    if (index >= 0) return undefined;
    const { path, left, right } = firstDifference(status, statuses.at(-1)) ?? {
      path: '',
      left: status,
      right: statuses.at(-1),
    };
    return { at, subject: `${pod} status${path}`, recorded: left, replayed: right };
  }

  /**
   * Expects that nothing remains to be compared, because an agent that was stopped properly has recorded everything
   * that it published.
   */
  #findUnrecorded({
    at,
    untold = [],
    missed,
  }: Extract<RecordingLine, { kind: 'ended' }>): RecordingDifference | undefined {
    if (missed) return undefined;
    const [next] = this.#stateChanges;
    if (next !== undefined) return { at, subject: next.actor, replayed: next.state };
    for (const [uid, statuses] of this.#replayedStatuses) {
      const pod = this.#names.get(uid);
      // The first status has been compared if the pod has a name here.
      if (statuses.length === (pod === undefined ? 0 : 1) || untold.includes(uid)) continue;
      const { path, left, right } = firstDifference(pod && statuses[0], statuses.at(-1)) ?? {
        path: '',
        left: undefined,
        right: statuses.at(-1),
      };
      return { at, subject: `${pod ?? uid} status${path}`, recorded: left, replayed: right };
    }
    return undefined;
  }
}

const UNKNOWN_STATUS = 'of before the keyframe';

const toJson = (status: PodStatus | undefined): unknown =>
  status === undefined ? undefined : JSON.parse(JSON.stringify(status));
