/** A node that runs, as the page asks about it: what is now comes from the agent, what was from its recording. */

import { containerNameOf } from '../show/actorPath.ts';
import type { Explanation } from '../show/explain.ts';
import type { LogTails } from '../show/logTail.ts';
import { problemsOf } from '../socket/manifestProblems.ts';
import { detailOf, partAt, shownEvent } from './detail.ts';
import type { FollowedActors } from './followedActors.ts';
import { type Inspected, NotInspected } from './inspected.ts';
import type { InspectedAgent, LiveView } from './liveView.ts';
import { objectOf, type Past } from './past.ts';
import type { ActorHistory, Detail, ShownLog } from './protocol.ts';
import { uidIn } from './shown.ts';
import { createTails, shownLog } from './shownLog.ts';

interface LiveNodeParts {
  readonly agent: InspectedAgent;
  readonly view: LiveView;
  readonly followed: FollowedActors;
  /** Absent where nothing is recorded. */
  readonly past: Past | undefined;
  readonly now: () => number;
  readonly stately: Inspected['stately'];
  readonly close: () => Promise<void>;
}

/** The node, live, with its past. */
export function liveNode({ agent, view, followed, past, now, stately, close }: LiveNodeParts): Inspected {
  const there = (): Past => {
    if (past === undefined) throw new NotInspected('nothing is recorded: --record-size is 0');
    return past;
  };
  const detailNow = async (path: string): Promise<Detail> => {
    const [uid, part] = [uidIn(path), partAt(path)];
    const [logs, partExplanation] = await Promise.all([
      uid === '' ? undefined : agent.logTails(uid),
      part && agent.explainPart(uid, part),
    ]);
    const explanation = logs && explained(agent, uid, logs);
    if (uid !== '' && explanation === undefined) throw new NotInspected(`there is no pod of UID ${uid}`);
    return detailOf({
      path,
      at: now(),
      explanation,
      part: partExplanation,
      node: agent.explainNode(),
      tree: agent.redact(agent.trees().get(uid)),
      events: agent.redact(eventsAbout(agent, uid, containerNameOf(path))),
    });
  };
  const historyNow = async (path: string): Promise<ActorHistory> => {
    const told = await followed.of(path);
    return { path, at: now(), ...told };
  };
  const tails = createTails();
  const logNow = async (path: string, signal: AbortSignal): Promise<ShownLog> => {
    const [uid, container] = [uidIn(path), containerNameOf(path)];
    const pod = agent.pods().find(({ metadata }) => metadata.uid === uid);
    const places = agent.places(uid);
    if (container === undefined || pod === undefined || places === undefined)
      throw new NotInspected(`there is no container ${path}`);
    return agent.redact(await shownLog({ pod, container, places, tails, signal }));
  };
  return {
    live: view,
    ...(stately === undefined ? {} : { stately }),
    moment: async (at) => (at === undefined ? view.snapshot() : there().moment(at)),
    story: async (uid, from, to) => there().story(uid, from, to),
    rail: async () => there().rail(now()),
    detail: async (path, at) => (at === undefined ? detailNow(path) : there().detail(path, at)),
    actorHistory: async (path, at) => (at === undefined ? historyNow(path) : there().actorHistory(path, at)),
    log: logNow,
    object: async (uid, at) => (at === undefined ? agent.redact(objectOf(agent.pods(), uid)) : there().object(uid, at)),
    entry: async (actor, source, at) => there().entry(actor, source, at),
    close,
  };
}

/** Why a pod is where it is, with what is wrong or odd with its manifest as it is now. */
function explained(agent: InspectedAgent, uid: string, logs: LogTails): Explanation | undefined {
  const explanation = agent.explain(uid, logs);
  if (explanation === undefined) return undefined;
  const { name: node, problems, warnings } = agent.node();
  const place = { node, namespace: explanation.namespace };
  return {
    ...explanation,
    manifestProblems: problemsOf(explanation.name, place, problems),
    manifestWarnings: problemsOf(explanation.name, place, warnings),
  };
}

/** Returns the events of a pod's present life, or of one of its containers; of the node if the UID is empty. */
function eventsAbout({ events, node, pods }: InspectedAgent, uid: string, container: string | undefined) {
  const about = uid === '' ? node().name : uid;
  const startTime = pods().find(({ metadata }) => metadata.uid === uid)?.status?.startTime;
  const lifeFrom = startTime === undefined ? Number.NEGATIVE_INFINITY : Date.parse(startTime);
  return events()
    .filter(({ involvedObject }) => involvedObject.uid === about)
    .filter(({ involvedObject: { fieldPath } }) => container === undefined || fieldPath?.endsWith(`{${container}}`))
    .filter(({ lastTimestamp }) => Date.parse(lastTimestamp) >= lifeFrom)
    .map((event) => shownEvent(event, lifeFrom));
}
