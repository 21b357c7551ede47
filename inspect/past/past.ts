/** Serves the page's requests for the past of a node. */
import { isMissing } from '../../host/files/fileErrors.ts';
import { containerNameOf } from '../../show/actors/actorPath.ts';
import { createDetail, partAtPath } from '../detail.ts';
import { NotInspected } from '../inspected.ts';
import type {
  ActorDetail,
  ActorHistory,
  Rail,
  ShownEvent,
  ShownObject,
  ShownPayload,
  Snapshot,
  Story,
} from '../protocol.ts';
import { podUidOrEmpty } from '../shown.ts';
import { ActorPast, type CollectedHistory } from './replay/actorPast.ts';
import type { History, ReplayedState } from './replay/history.ts';

/**
 * Provides the past states of a node. Each method rejects with `NotInspected` if the requested object does not exist.
 */
export interface Past {
  /** Returns the time range of the recording. */
  recorded(): Promise<Snapshot['recorded']>;
  moment(at: number): Promise<Snapshot>;
  story(uid: string, from: number, to: number): Promise<Story>;
  /** Returns the overview of the recording. `now` is the end of a recording that is still being written. */
  rail(now?: number): Promise<Rail>;
  detail(path: string, at: number): Promise<ActorDetail>;
  actorHistory(path: string, at: number): Promise<ActorHistory>;
  object(uid: string, at: number): Promise<ShownObject>;
  /** Returns the payload of the input that `actor` received from `source` at the time `at`. */
  entry(actor: string, source: string, at: number): Promise<ShownPayload>;
  /** Returns the transitions and container runs of an actor up to the time `at`. */
  actorPast(path: string, at: number): Promise<CollectedHistory>;
}

/** Maximum age of events, in milliseconds. An agent retains events for the same length of time. */
const MAX_EVENT_AGE_MS = 3_600_000;

/**
 * Creates the provider of past states from a recording. `mode` is `past` if the recorded node is still running, or
 * `file` for a recording without a running node.
 */
export function createPast(history: History, mode: 'past' | 'file'): Past {
  return {
    recorded: withRetry(() => history.recordedSpan()),
    moment: withRetry(async (at) => {
      const snapshotAtTime = await history.snapshotAt(at);
      const recordedRange = await history.recordedSpan();
      const clampedAt = recordedRange ? Math.min(Math.max(at, recordedRange.from), recordedRange.to) : at;
      return {
        at: clampedAt,
        mode,
        ...snapshotAtTime,
        ...(recordedRange === undefined ? {} : { recorded: recordedRange }),
      };
    }),
    story: withRetry((uid, from, to) => history.story(uid, from, to)),
    rail: withRetry((now) => history.rail(now)),
    object: withRetry((uid, at) => history.replayTo(at, ({ agent }) => splitPod(agent.pods(), uid))),
    entry: withRetry((actor, source, at) => history.entry({ actor, source, at })),
    detail: withRetry((path, at) => readPastDetail(history, path, at)),
    actorHistory: withRetry((path, at) => readPastHistory(history, path, at)),
    actorPast: withRetry(async (path, at) => (await collectHistory(history, path, at, () => undefined)).history),
  };
}

/**
 * Wraps a request so that it is retried once, because the recorder may delete its oldest file during the request. The
 * second attempt uses the remaining files.
 */
const withRetry =
  <A extends readonly unknown[], T>(sendRequest: (...args: A) => Promise<T>) =>
  async (...args: A): Promise<T> => {
    try {
      return await sendRequest(...args);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    return sendRequest(...args).catch((cause: unknown) => {
      throw isMissing(cause) ? new NotInspected('it is no longer recorded', { cause }) : cause;
    });
  };

function readPastDetail(history: History, path: string, at: number): Promise<ActorDetail> {
  const [uid, part] = [podUidOrEmpty(path), partAtPath(path)];
  return history.replayTo(at, ({ agent }) =>
    createDetail({
      path,
      at,
      explanation: uid === '' ? undefined : agent.explainUid(uid),
      part: part && agent.explainPart(uid, part),
      node: agent.explainNode(),
      tree: uid === '' ? undefined : agent.tree(uid),
    }),
  );
}

async function readPastHistory(history: History, path: string, at: number): Promise<ActorHistory> {
  const [uid, container] = [podUidOrEmpty(path), containerNameOf(path)];
  const story = uid === '' ? undefined : await history.story(uid, at - MAX_EVENT_AGE_MS, at);
  const { history: actorHistory } = await collectHistory(history, path, at, () => undefined);
  return { path, at, ...actorHistory, events: story ? aggregateEvents(story, container) : [] };
}

/** Replays the recording up to the given time and collects the history of an actor during the replay. */
async function collectHistory<T>(history: History, path: string, at: number, useState: (moment: ReplayedState) => T) {
  const actorPast = new ActorPast(path, await history.historyStart(at));
  const uid = podUidOrEmpty(path);
  if (containerNameOf(path) !== undefined)
    await history.statuses(uid, at, (status) => actorPast.addStatus(uid, status));
  const replayResult = await history.replayTo(at, useState, {
    inspect: (event, when) => actorPast.inspect(event, when),
    onStateChange: (move) => actorPast.move(move),
  });
  return { result: replayResult, history: actorPast.history() };
}

/**
 * Finds the pod with the given UID and splits it into its manifest and its status. Throws `NotInspected` if there is no
 * such pod.
 */
export function splitPod(
  pods: readonly { readonly metadata: { readonly uid: string }; readonly status?: unknown }[],
  uid: string,
): ShownObject {
  const pod = pods.find(({ metadata }) => metadata.uid === uid);
  if (pod === undefined) throw new NotInspected(`there is no pod of UID ${uid}`);
  const { status, ...manifest } = pod;
  return { manifest, status: status ?? null };
}

/**
 * Returns the events of a story since the pod was last created. Repeated events are merged and counted, as in a
 * Kubernetes event.
 */
function aggregateEvents({ lines }: Story, container: string | undefined): ShownEvent[] {
  const events = new Map<string, ShownEvent>();
  for (const line of lines) {
    if (line.kind === 'gone') events.clear();
    if (line.kind !== 'event' || (container !== undefined && line.container !== container)) continue;
    const { eventType: type, reason, message, at } = line;
    const key = JSON.stringify([type, reason, message]);
    const count = (events.get(key)?.count ?? 0) + 1;
    events.delete(key);
    events.set(key, { type, reason, message, at, count });
  }
  return [...events.values()];
}
