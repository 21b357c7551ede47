/** Serves the page of a running node. The current state is read from the agent, and past states from its recording. */

import { containerNameOf } from '../../show/actors/actorPath.ts';
import type { Explanation } from '../../show/explain.ts';
import type { LogTails } from '../../show/logTail.ts';
import { problemsOf } from '../../socket/manifestProblems.ts';
import { createDetail, partAtPath, shownEvent } from '../detail.ts';
import { type Inspected, NotInspected } from '../inspected.ts';
import { type Past, splitPod } from '../past/past.ts';
import type { ActorHistory, Detail, ShownLog } from '../protocol.ts';
import { uidIn } from '../shown.ts';
import { createTailCache, readShownLog } from '../shownLog.ts';
import type { FollowedActors } from './followedActors.ts';
import type { InspectedAgent, LiveView } from './liveView.ts';

interface LiveNodeOptions {
  readonly agent: InspectedAgent;
  readonly view: LiveView;
  readonly followed: FollowedActors;
  /** Undefined if the agent does not record. */
  readonly past: Past | undefined;
  readonly now: () => number;
  readonly stately: Inspected['stately'];
  readonly close: () => Promise<void>;
}

export function createLiveNode({ agent, view, followed, past, now, stately, close }: LiveNodeOptions): Inspected {
  const requirePast = (): Past => {
    if (past === undefined) throw new NotInspected('nothing is recorded: --record-size is 0');
    return past;
  };
  const detailNow = async (path: string): Promise<Detail> => {
    const [uid, part] = [uidIn(path), partAtPath(path)];
    const [logs, partExplanation] = await Promise.all([
      uid === '' ? undefined : agent.logTails(uid),
      part && agent.explainPart(uid, part),
    ]);
    const explanation = logs && explainPod(agent, uid, logs);
    if (uid !== '' && explanation === undefined) throw new NotInspected(`there is no pod of UID ${uid}`);
    return createDetail({
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
    const history = await followed.historyOf(path);
    return { path, at: now(), ...history };
  };
  const logTails = createTailCache();
  const logNow = async (path: string, signal: AbortSignal): Promise<ShownLog> => {
    const [uid, container] = [uidIn(path), containerNameOf(path)];
    const pod = agent.pods().find(({ metadata }) => metadata.uid === uid);
    const places = agent.podPaths(uid);
    if (container === undefined || pod === undefined || places === undefined)
      throw new NotInspected(`there is no container ${path}`);
    return agent.redact(await readShownLog({ pod, container, places, tails: logTails, signal }));
  };
  return {
    live: view,
    ...(stately === undefined ? {} : { stately }),
    moment: async (at) => (at === undefined ? view.snapshot() : requirePast().moment(at)),
    story: async (uid, from, to) => requirePast().story(uid, from, to),
    rail: async () => requirePast().rail(now()),
    detail: async (path, at) => (at === undefined ? detailNow(path) : requirePast().detail(path, at)),
    actorHistory: async (path, at) => (at === undefined ? historyNow(path) : requirePast().actorHistory(path, at)),
    log: logNow,
    object: async (uid, at) =>
      at === undefined ? agent.redact(splitPod(agent.pods(), uid)) : requirePast().object(uid, at),
    entry: async (actor, source, at) => requirePast().entry(actor, source, at),
    close,
  };
}

/** Explains a pod, including the current problems of its manifest. */
function explainPod(agent: InspectedAgent, uid: string, logs: LogTails): Explanation | undefined {
  const explanation = agent.explain(uid, logs);
  if (explanation === undefined) return undefined;
  const { name: node, problems, warnings } = agent.node();
  const scope = { node, namespace: explanation.namespace };
  return {
    ...explanation,
    manifestProblems: problemsOf(explanation.name, scope, problems),
    manifestWarnings: problemsOf(explanation.name, scope, warnings),
  };
}

/**
 * Returns the events of a pod's current life, or of one of its containers. An empty UID selects the events of the node.
 */
function eventsAbout({ events, node, pods }: InspectedAgent, uid: string, container: string | undefined) {
  const involvedUid = uid === '' ? node().name : uid;
  const startTime = pods().find(({ metadata }) => metadata.uid === uid)?.status?.startTime;
  const lifeFrom = startTime === undefined ? Number.NEGATIVE_INFINITY : Date.parse(startTime);
  return events()
    .filter(({ involvedObject }) => involvedObject.uid === involvedUid)
    .filter(({ involvedObject: { fieldPath } }) => container === undefined || fieldPath?.endsWith(`{${container}}`))
    .filter(({ lastTimestamp }) => Date.parse(lastTimestamp) >= lifeFrom)
    .map((event) => shownEvent(event, lifeFrom));
}
