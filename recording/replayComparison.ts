/** Compares the output of a replay with the recorded output, in chronological order. */
import { isDeepStrictEqual } from 'node:util';
import type { Keyframe } from '../actors/node/nodeAgent.ts';
import type { StateChange } from '../actors/status/sinceMap.ts';
import { firstDifference } from '../base/values/firstDifference.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import type { RecordingLine, StatusLine } from './lines.ts';

/** The first mismatch between a recording and its replay. */
export interface RecordingDifference {
  readonly at: number;
  /** The actor's path, or the pod's name followed by the JSON path in its status. */
  readonly subject: string;
  /** Undefined if only the replay has a value. */
  readonly recorded?: unknown;
  /** Undefined if only the recording has a value. */
  readonly replayed?: unknown;
}

export class ReplayComparison {
  readonly #stateChanges: StateChange[] = [];
  /**
   * The replayed statuses by pod UID, as JSON, in chronological order. The first one is the latest status that matched
   * the recording, and the others have not been compared yet.
   */
  readonly #replayedStatuses = new Map<string, unknown[]>();
  /** The display names by pod UID. A pod is included once the first of its replayed statuses has been compared. */
  readonly #names = new Map<string, string>();

  /**
   * Starts from a keyframe. Treats its published statuses as already compared. The statuses in `untold` were published
   * after the keyframe and have not been compared yet.
   */
  startFrom({ statuses, untold = [] }: Keyframe): void {
    const publishedStatuses = [...Object.entries(statuses)].filter(([uid]) => !untold.some((each) => each.uid === uid));
    for (const [uid, status] of publishedStatuses) this.#replayedStatuses.set(uid, [status]);
    // The keyframe does not contain the last status of these pods that was published before it, so treat that status as
    // unknown.
    for (const { uid } of untold) this.#replayedStatuses.set(uid, [UNKNOWN_STATUS]);
    for (const uid of this.#replayedStatuses.keys()) this.#names.set(uid, uid);
    for (const { uid, status } of untold) this.addStatus(uid, status);
  }

  addStateChange(stateChange: StateChange): void {
    this.#stateChanges.push(stateChange);
  }

  addStatus(uid: string, status: PodStatus | undefined): void {
    const statuses = this.#replayedStatuses.get(uid) ?? [];
    const statusJson = toJson(status);
    // Skip a status that equals the previous one, because the recorder skips it, too.
    if (statuses.length === 0 || !isDeepStrictEqual(statuses.at(-1), statusJson)) statuses.push(statusJson);
    this.#replayedStatuses.set(uid, statuses);
  }

  /** Compares a recorded line with the replay. Returns undefined if they match. */
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
   * Compares a status. Skips statuses that only the replay published. A live agent persists statuses before it
   * publishes them and thereby merges several changes, whereas the replay publishes each change immediately.
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
   * Returns the first replayed state or status that was not recorded. There should be none, because an agent that shuts
   * down cleanly has recorded everything that it published.
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
      // If the pod has an entry in `#names`, the first status in the list has already been compared, so only the
      // following ones are unrecorded.
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
