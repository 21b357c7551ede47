/**
 * Serves the page of a running node. The current state comes from the agent, and past states come from its recording.
 */

import { containerNameOf } from '../../show/actors/actorPath.ts';
import type { Explanation } from '../../show/explain.ts';
import type { LogTails } from '../../show/logTail.ts';
import { evictionOutlook } from '../../socket/evictionOutlook.ts';
import { listPodProblems } from '../../socket/manifestProblems.ts';
import { createDetail, partAtPath, toShownEvent } from '../detail.ts';
import { type InspectedNode, NotInspected } from '../inspected.ts';
import { type Past, splitPod } from '../past/past.ts';
import type { ActorDetail, ActorHistory, ShownLog } from '../protocol.ts';
import { podUidOrEmpty } from '../shown.ts';
import { createTailCache, readShownLog } from '../shownLog.ts';
import type { FollowedActors } from './followedActors.ts';
import type { InspectedAgent, LiveView } from './liveView.ts';

/** Path of the actor that evicts pods. */
const EVICTION_PATH = 'eviction';
/**
 * Timeout for predicting evictions, in milliseconds. It is short, because the other details are sent together with the
 * prediction and must not wait for the runtime.
 */
const PREDICTION_TIMEOUT_MS = 1_000;

interface LiveNodeOptions {
  readonly agent: InspectedAgent;
  readonly view: LiveView;
  readonly followedActors: FollowedActors;
  /** The recorded past of the node. Undefined if the agent makes no recording. */
  readonly past: Past | undefined;
  readonly now: () => number;
  readonly stately: InspectedNode['acceptStately'];
  readonly close: () => Promise<void>;
}

export function createLiveNode({
  agent,
  view,
  followedActors,
  past,
  now,
  stately: acceptStately,
  close,
}: LiveNodeOptions): InspectedNode {
  const requirePast = (): Past => {
    if (past === undefined) throw new NotInspected('nothing is recorded: --record-size is 0');
    return past;
  };
  const currentDetail = async (path: string): Promise<ActorDetail> => {
    const [uid, part] = [podUidOrEmpty(path), partAtPath(path)];
    const [logs, partExplanation, nextEvictions] = await Promise.all([
      uid === '' ? undefined : agent.logTails(uid),
      part && agent.explainPart(uid, part),
      path === EVICTION_PATH ? evictionOutlook(agent, { timeoutMs: PREDICTION_TIMEOUT_MS }) : undefined,
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
      ...(nextEvictions === undefined ? {} : { nextEvictions }),
      events: agent.redact(eventsAbout(agent, uid, containerNameOf(path))),
    });
  };
  const currentHistory = async (path: string): Promise<ActorHistory> => {
    const history = await followedActors.historyOf(path);
    return { path, at: now(), ...history };
  };
  const logTails = createTailCache();
  const currentLog = async (path: string, signal: AbortSignal): Promise<ShownLog> => {
    const [uid, container] = [podUidOrEmpty(path), containerNameOf(path)];
    const pod = agent.pods().find(({ metadata }) => metadata.uid === uid);
    const podPaths = agent.podPaths(uid);
    if (container === undefined || pod === undefined || podPaths === undefined)
      throw new NotInspected(`there is no container ${path}`);
    return agent.redact(await readShownLog({ pod, container, podPaths, tails: logTails, signal }));
  };
  return {
    live: view,
    ...(acceptStately === undefined ? {} : { acceptStately }),
    moment: async (at) => (at === undefined ? view.snapshot() : requirePast().moment(at)),
    story: async (uid, from, to) => requirePast().story(uid, from, to),
    rail: async () => requirePast().rail(now()),
    detail: async (path, at) => (at === undefined ? currentDetail(path) : requirePast().detail(path, at)),
    actorHistory: async (path, at) => (at === undefined ? currentHistory(path) : requirePast().actorHistory(path, at)),
    log: currentLog,
    object: async (uid, at) =>
      at === undefined ? agent.redact(splitPod(agent.pods(), uid)) : requirePast().object(uid, at),
    entry: async (actor, source, at) => requirePast().entry(actor, source, at),
    close,
  };
}

/** Explains a pod, including the problems in the pod's manifest. */
function explainPod(agent: InspectedAgent, uid: string, logs: LogTails): Explanation | undefined {
  const explanation = agent.explain(uid, logs);
  if (explanation === undefined) return undefined;
  const { name: node, problems, warnings } = agent.node();
  const problemScope = { node, namespace: explanation.namespace };
  return {
    ...explanation,
    manifestProblems: listPodProblems(explanation.name, problemScope, problems),
    manifestWarnings: listPodProblems(explanation.name, problemScope, warnings),
  };
}

/**
 * Returns the events of a pod, or of one of its containers, since the pod was created. An empty UID selects the events
 * of the node.
 */
function eventsAbout({ events, node, pods }: InspectedAgent, uid: string, container: string | undefined) {
  const involvedUid = uid === '' ? node().name : uid;
  const startTime = pods().find(({ metadata }) => metadata.uid === uid)?.status?.startTime;
  const podStartedAt = startTime === undefined ? Number.NEGATIVE_INFINITY : Date.parse(startTime);
  return events()
    .filter(({ involvedObject }) => involvedObject.uid === involvedUid)
    .filter(({ involvedObject: { fieldPath } }) => container === undefined || fieldPath?.endsWith(`{${container}}`))
    .filter(({ lastTimestamp }) => Date.parse(lastTimestamp) >= podStartedAt)
    .map((event) => toShownEvent(event, podStartedAt));
}
