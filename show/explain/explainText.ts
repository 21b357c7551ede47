/** Formats the times, exits, failures and queue positions in explanations. */

import { shortSentence } from '../../base/text/shortText.ts';
import { humanDuration } from '../../base/time/duration.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { isoTime } from '../../kubernetes/api/values/rfc3339.ts';
import { hasNeverStarted } from '../../kubernetes/lifecycle/restart.ts';
import type { ContainerRole, TerminatedRun } from '../../kubernetes/status/view.ts';
import type { LimiterView } from '../actors/actorNode.ts';

/** Shown while an update waits for other pods to terminate. */
export const UPDATE_AWAITS_ROOM = 'update waiting for room: other pods are being terminated to free it';

/** Position in the queue of a limiter. */
export interface QueuePosition {
  /** Name of the limiter, `start` or `pull`. */
  readonly limiter: string;
  /** Position in the queue, where 1 is the next to be served. */
  readonly place: number;
  readonly length: number;
  readonly capacity: number;
  /** Descriptions of the requests that occupy the limiter's slots. Undefined if the limiter does not report them. */
  readonly behind?: readonly string[];
}

const MAX_MESSAGE_LENGTH = 240;

/** Words shown to users for kinds of actors, if they differ from the kind itself. */
export const KIND_NAMES = {
  activeDeadline: 'active deadline',
  garbage: 'garbage collection',
  imageGarbage: 'image collection',
  logRotation: 'log rotation',
  nodeStatus: 'node status',
  init: 'init container',
  sidecar: 'sidecar',
  regular: 'container',
  ephemeral: 'ephemeral container',
  statusSink: 'status sink',
} as const satisfies Record<ContainerRole, string> & Readonly<Record<string, string>>;

/** Returns the kind of an actor in words, e.g. `init container`. */
export const kindText = (kind: string): string => lookUp<string>(KIND_NAMES, kind) ?? kind;

/**
 * Returns the kind and name of an actor for use in a sentence, e.g. `init container setup`. The name is omitted if it
 * equals the kind.
 */
export function actorTitle({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return name === kind ? kindText(kind) : `${kindText(kind)} ${name}`;
}

/** The fields of a limiter that describe its queue. */
type Queue = Pick<LimiterView, 'queue' | 'capacity' | 'behind'>;

/**
 * Returns the position of a container in the first queue that contains it. Without a container name, returns the
 * position of the pod itself.
 */
export type QueueLookup = (container?: string) => QueuePosition | undefined;

/**
 * Returns a lookup of the queue positions of a pod and its containers. Each queue is read only once, because hundreds
 * of containers may be queued.
 */
export function queuePositions(podUid: string, containers: readonly string[], limiters: readonly Queue[]): QueueLookup {
  const containerNames = new Set(containers);
  const positions = new Map<string | undefined, QueuePosition>();
  for (const { queue, capacity, behind = [] } of limiters) {
    for (const [index, key] of queue.entries()) {
      const [uid, actor = '', limiter = ''] = key.split('/');
      const queuedContainer = containerNames.has(actor) ? actor : undefined;
      if (uid !== podUid || positions.has(queuedContainer)) continue;
      const queuePurposes = behind[index] ?? [];
      positions.set(queuedContainer, {
        limiter,
        place: index + 1,
        length: queue.length,
        capacity,
        ...(queuePurposes.length > 0 ? { behind: queuePurposes } : {}),
      });
    }
  }
  return (container) => positions.get(container);
}

/**
 * Formats a queue position, e.g. `in the pull queue: place 3 of 7, 1 at a time, behind the pull of app:1 for
 * default/web`.
 */
export function queueText({ limiter, place, length, capacity, behind = [] }: QueuePosition): string {
  const [firstPurpose, ...otherPurposes] = behind;
  const remainderText = otherPurposes.length > 0 ? ` and ${otherPurposes.length} more` : '';
  const holdersText = firstPurpose === undefined ? '' : `, behind ${firstPurpose}${remainderText}`;
  return `in the ${limiter} queue: place ${place} of ${length}, ${capacity} at a time${holdersText}`;
}

/** Formats a time in UTC, e.g. `12:03:10`. The date precedes the time unless it is today. */
export function clockTime(at: number, now: number): string {
  const [date = '', time = ''] = isoTime(at).slice(0, 19).split('T');
  return isoTime(now).startsWith(date) ? time : `${date} ${time}`;
}

/** Formats a deadline, e.g. ` until 12:03:10 (in 14s)`. Empty if there is no deadline. */
export function untilClause(until: number | undefined, now: number): string {
  return until === undefined ? '' : ` until${timeWithDistance(until, now)}`;
}

/** Minimum duration of a wait that is shown, in milliseconds. Shorter waits are not worth mentioning. */
const MIN_SHOWN_WAIT_MS = 10_000;

/**
 * A deadline at most this many milliseconds away is shown alone. For a later deadline, the text also shows how long the
 * actor has been waiting, because such a deadline is only an upper bound for work that normally takes much less time.
 */
const NEAR_DEADLINE_MS = 600_000;

/**
 * Formats the deadline of a wait. If the deadline is not near, the text includes the time that the actor has already
 * been waiting.
 */
export function waitDetails(
  { until, since }: { readonly until?: number; readonly since: number },
  now: number,
): string {
  const isDurationShown = now - since >= MIN_SHOWN_WAIT_MS && (until === undefined || until - now > NEAR_DEADLINE_MS);
  return `${isDurationShown ? ` (for ${humanDuration(now - since)} so far)` : ''}${untilClause(until, now)}`;
}

/** Formats the subject of a wait, e.g. ` for its turn`. Empty if the actor is not waiting. */
export const forClause = ({ waitingFor }: { readonly waitingFor?: string }): string =>
  waitingFor === undefined ? '' : ` for ${waitingFor}`;

/** Delay in milliseconds after which an overdue action is reported as stuck. */
const STUCK_AFTER_MS = 5_000;

/** Formats a time as both an absolute and a relative time, e.g. ` 12:03:10 (in 14s)`. */
export function timeWithDistance(at: number, now: number): string {
  const remainingMs = at - now;
  const relativeTimeText =
    remainingMs > 0 ? `in ${humanDuration(remainingMs)}` : -remainingMs < STUCK_AFTER_MS ? 'now' : 'stuck since then';
  return ` ${clockTime(at, now)} (${relativeTimeText})`;
}

/** Prefixes and suffixes that containerd and runc add to a message. The second prefix is added since runc 1.2. */
const RUNTIME_MESSAGE_AFFIXES = /^.*unable to start container process: (error during container init: )?|: unknown$/g;
/** Reasons that are omitted because they convey no more than the exit code. */
const GENERIC_REASONS: readonly string[] = ['Error', 'Completed', ''];

/** Signal names by exit code. A process that is killed by a signal has an exit code of 128 plus the signal number. */
const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map([
  [129, 'SIGHUP'],
  [130, 'SIGINT'],
  [131, 'SIGQUIT'],
  [132, 'SIGILL'],
  [134, 'SIGABRT'],
  [135, 'SIGBUS'],
  [136, 'SIGFPE'],
  [137, 'SIGKILL'],
  [139, 'SIGSEGV'],
  [141, 'SIGPIPE'],
  [143, 'SIGTERM'],
]);

/**
 * Returns the cause of a container's exit, e.g. `exit code 3 after 2s: no database at db.example:5432`. After a
 * SIGKILL, omits the last line of the output, because the process could not react to the signal.
 */
export function terminationCause(run: Omit<TerminatedRun, 'containerId'>): string {
  const { exitCode, signal, reason, stopCause, message = '', startedAt, finishedAt } = run;
  const lastOutputLine = lastLine(message);
  if (hasNeverStarted(reason)) {
    return `could not be started${lastOutputLine === '' ? '' : `: ${lastOutputLine.replaceAll(RUNTIME_MESSAGE_AFFIXES, '')}`}`;
  }
  // Runtimes report 0 if they do not know the start time.
  const durationText = !startedAt || finishedAt === undefined ? '' : ` after ${humanDuration(finishedAt - startedAt)}`;
  const signalName = SIGNAL_NAMES.get(signal ? 128 + signal : exitCode);
  const isKilled = signalName === 'SIGKILL';
  if (isKilled && GENERIC_REASONS.includes(reason)) {
    return `killed (SIGKILL)${durationText}${stopCause === undefined ? '' : `: ${shortenMessage(stopCause)}`}`;
  }
  const exitText = signal ? `signal ${signal}` : `exit code ${exitCode}`;
  const end = signalName === undefined || isKilled ? exitText : `${exitText} (${signalName})`;
  const killReason = stopCause === undefined ? '' : `, killed: ${shortenMessage(stopCause)}`;
  const output = lastOutputLine === '' || (isKilled && reason === 'OOMKilled') ? '' : `: ${lastOutputLine}`;
  return `${GENERIC_REASONS.includes(reason) ? end : `${reason}, ${end}`}${durationText}${killReason}${output}`;
}

/** Returns the last non-blank line of the text and shortens it. */
function lastLine(text: string): string {
  return shortenMessage(text.trimEnd().split('\n').at(-1) ?? '');
}

/** Waiting reasons for an image that is missing from the node. */
const IMAGE_REASONS: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'RegistryUnavailable',
]);

/**
 * Returns the command that imports an image locally, without pulling it from a registry. Undefined if `reason` does not
 * mean that an image is missing.
 */
export function importAdvice(reason: string): string | undefined {
  if (!IMAGE_REASONS.has(reason)) return undefined;
  // Name the policies with which an imported image helps. The policy Always queries the registry even if the image is
  // present.
  const policyNote = reason === 'ErrImageNeverPull' ? '' : ' (for imagePullPolicy IfNotPresent or Never)';
  return `"statelet image import FILE.tar" imports an image from a file${policyNote}`;
}

/** Formats a failure, e.g. `ErrImagePull: no such host`. */
export function failureText({ reason, message }: { readonly reason: string; readonly message: string }): string {
  const shortMessage = shortenMessage(message);
  return shortMessage === '' || shortMessage === reason ? reason : `${reason}: ${shortMessage}`;
}

/** Matches a path or URL without the quotes and punctuation around it. */
const PATH_PATTERN = /[^\s'"()]*\/[^\s'"()]*[^\s'"():;,.]/g;
/** Maximum length of a path. Longer words are not paths that a user would copy. */
const MAX_PATH_LENGTH = 1_024;
/** Maximum number of paths per message that are exempt from shortening. */
const MAX_UNSHORTENED_PATHS = 3;
/**
 * Placeholder for a path while the message is shortened, so that the path is treated as a short word and is not cut.
 */
const MASK = '\ue000';
/** Length of the mask. It is so short that `shortSentence` does not cut a quoted path. */
const MASK_LENGTH = 24;

/** Returns a message on one line of at most 240 characters, not counting its paths, which are never cut. */
export function shortenMessage(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim();
  if (line.length <= MAX_MESSAGE_LENGTH || line.includes(MASK)) return shortSentence(line, MAX_MESSAGE_LENGTH);
  const paths: string[] = [];
  const maskedLine = line.replace(PATH_PATTERN, (path) => {
    const isMasked =
      path.length > MASK_LENGTH && path.length <= MAX_PATH_LENGTH && paths.length < MAX_UNSHORTENED_PATHS;
    return isMasked ? `${MASK}${paths.push(path) - 1}`.padEnd(MASK_LENGTH, MASK) : path;
  });
  const maskPattern = new RegExp(`${MASK}(\\d)${MASK}+`, 'g');
  return shortSentence(maskedLine, MAX_MESSAGE_LENGTH).replace(
    maskPattern,
    (mask, index) => paths[Number(index)] ?? mask,
  );
}
