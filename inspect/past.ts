/** The past of a node as the page asks about it. */
import { isMissing } from '../host/files/fileErrors.ts';
import { containerNameOf } from '../show/actorPath.ts';
import { ActorPast, type ToldPast } from './actorPast.ts';
import { detailOf, partAt } from './detail.ts';
import type { History, PlayedMoment } from './history.ts';
import { NotInspected } from './inspected.ts';
import type { ActorHistory, Detail, Rail, ShownEvent, ShownObject, ShownPayload, Snapshot, Story } from './protocol.ts';
import { uidIn } from './shown.ts';

/** What can be asked about it; each question rejects with a `NotInspected` where there is nothing of it. */
export interface Past {
  /** What can be gone back to. */
  recorded(): Promise<Snapshot['recorded']>;
  moment(at: number): Promise<Snapshot>;
  story(uid: string, from: number, to: number): Promise<Story>;
  /** `now` ends what still goes on. */
  rail(now?: number): Promise<Rail>;
  detail(path: string, at: number): Promise<Detail>;
  actorHistory(path: string, at: number): Promise<ActorHistory>;
  object(uid: string, at: number): Promise<ShownObject>;
  /** What entered an actor. */
  entry(actor: string, source: string, at: number): Promise<ShownPayload>;
  /** How an actor came to be where it was. */
  actorPast(path: string, at: number): Promise<ToldPast>;
}

/** How far back events are looked for, in milliseconds: as long as an agent keeps them. */
const EVENTS_MS = 3_600_000;

/** `mode` is what its moments are: those of a node that goes on, or of a file. */
export function pastOf(history: History, mode: 'past' | 'file'): Past {
  return {
    recorded: orAgain(() => history.recorded()),
    moment: orAgain(async (at) => {
      const moment = await history.moment(at);
      const recorded = await history.recorded();
      const shown = recorded ? Math.min(Math.max(at, recorded.from), recorded.to) : at;
      return { at: shown, mode, ...moment, ...(recorded === undefined ? {} : { recorded }) };
    }),
    story: orAgain((uid, from, to) => history.story(uid, from, to)),
    rail: orAgain((now) => history.rail(now)),
    object: orAgain((uid, at) => history.at(at, ({ agent }) => objectOf(agent.pods(), uid))),
    entry: orAgain((actor, source, at) => history.entry({ actor, source, at })),
    detail: orAgain((path, at) => pastDetail(history, path, at)),
    actorHistory: orAgain((path, at) => pastHistory(history, path, at)),
    actorPast: orAgain(async (path, at) => (await seenTo(history, path, at, () => undefined)).told),
  };
}

/** A recorder removes its oldest file whoever reads it: what is still there is found when it is asked for once more. */
const orAgain =
  <A extends readonly unknown[], T>(ask: (...args: A) => Promise<T>) =>
  async (...args: A): Promise<T> => {
    try {
      return await ask(...args);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    return ask(...args).catch((cause: unknown) => {
      throw isMissing(cause) ? new NotInspected('it is no longer recorded', { cause }) : cause;
    });
  };

function pastDetail(history: History, path: string, at: number): Promise<Detail> {
  const [uid, part] = [uidIn(path), partAt(path)];
  return history.at(at, ({ agent }) =>
    detailOf({
      path,
      at,
      explanation: uid === '' ? undefined : agent.explainUid(uid),
      part: part && agent.explainPart(uid, part),
      node: agent.explainNode(),
      tree: uid === '' ? undefined : agent.tree(uid),
    }),
  );
}

async function pastHistory(history: History, path: string, at: number): Promise<ActorHistory> {
  const [uid, container] = [uidIn(path), containerNameOf(path)];
  const story = uid === '' ? undefined : await history.story(uid, at - EVENTS_MS, at);
  const { told } = await seenTo(history, path, at, () => undefined);
  return { path, at, ...told, events: story ? eventsOf(story, container) : [] };
}

/** Plays to a moment, and sees on the way there how an actor moved. */
async function seenTo<T>(history: History, path: string, at: number, use: (moment: PlayedMoment) => T) {
  const past = new ActorPast(path, await history.seenSince(at));
  const uid = uidIn(path);
  if (containerNameOf(path) !== undefined) await history.statuses(uid, at, (status) => past.status(uid, status));
  const used = await history.at(at, use, {
    inspect: (event, when) => past.inspect(event, when),
    moves: (move) => past.move(move),
  });
  return { used, told: past.told() };
}

/** A pod without its status, and that. */
export function objectOf(
  pods: readonly { readonly metadata: { readonly uid: string }; readonly status?: unknown }[],
  uid: string,
): ShownObject {
  const pod = pods.find(({ metadata }) => metadata.uid === uid);
  if (pod === undefined) throw new NotInspected(`there is no pod of UID ${uid}`);
  const { status, ...manifest } = pod;
  return { manifest, status: status ?? null };
}

/** Returns the events of the pod's last life in a story. Repetitions are counted, as in an event of Kubernetes. */
function eventsOf({ lines }: Story, container: string | undefined): ShownEvent[] {
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
