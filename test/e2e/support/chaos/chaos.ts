/**
 * A cluster of one node with real containers. For some seconds, faults affect every part of it. Afterwards everything
 * must reach its desired state.
 */
import { connectCri } from '../../../../cri/client/connectCri.ts';
import { layoutOf } from '../../../../cri/managed/layout.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { type TestCluster, testCluster } from '../cluster.ts';
import { marksOf, type TraceMarks, traces } from '../traces.ts';
import {
  apiPods,
  containersOf,
  leftBehind,
  settles,
  withoutExitCode,
  wrongInApi,
  wrongInRuntime,
  wrongRuns,
} from './ending.ts';
import { History } from './history.ts';
import { STATIC, Users } from './pods.ts';
import { drawnSchedule } from './schedule.ts';
import { Wreckers } from './wreak.ts';

/**
 * Runs the schedule of the seed for `ms` milliseconds, and throws if the cluster does not reach its desired state
 * afterwards. Returns the time in milliseconds from the end of the faults until it did.
 */
export async function chaos(seed: number, ms: number): Promise<number> {
  const cluster = await testCluster();
  let outcome: { readonly marks: TraceMarks; readonly tookMs: number };
  try {
    outcome = await runSchedule(cluster, seed, ms);
  } finally {
    await cluster.end();
  }
  const left = await traces(outcome.marks);
  if (left.length > 0) throw new Error(`seed ${seed}: left behind:\n${left.join('\n')}`);
  return outcome.tookMs;
}

async function runSchedule(cluster: TestCluster, seed: number, ms: number) {
  const { node, agent } = cluster;
  const { socket } = layoutOf(node.containerdDirectory);
  const [users, history] = [new Users(cluster), new History()];
  const wreckers = new Wreckers(cluster, users, agent);
  const cri = connectCri({ runtimeEndpoint: `unix://${socket}`, requestTimeoutMs: 30_000 });
  const unfollow = await history.follow(cluster);
  try {
    await users.makeFirst();
    const before = await allRun(cluster, users.expected.size + 2);
    await wreckers.wreak(drawnSchedule(seed, ms));
    await wreckers.calm();
    const calmAt = performance.now();
    await settles('users have what they waited for', async () => (users.areIdle() ? [] : ['they wait']));
    const wrong = async () => {
      const wanted = { pods: users.expected, withoutExitCode: await withoutExitCode(cri) };
      const there = await apiPods(cluster);
      return [
        ...(await wrongInApi(cluster, wanted)),
        ...(await wrongInRuntime(cluster, cri)),
        ...(await wrongRuns(cluster, there, wanted)),
        ...replacedContainers(before, there),
      ];
    };
    await settles('all is as it should be', wrong);
    const tookMs = performance.now() - calmAt;
    await wreckers.restartAgent();
    await settles('it stays so', async () => [...(await wrong()), ...(await leftBehind(cluster, cri))]);
    const past = [
      ...history.impossibleChanges(),
      ...[...users.deleted].filter(([, { waited }]) => waited).flatMap(([uid]) => history.lastStatusProblems(uid)),
      ...(history.countOf(`${STATIC}-node`) === 1 ? [] : ['the static pod has had several mirrors']),
    ];
    if (past.length > 0) throw new Error(`in between:\n${past.join('\n')}`);
    return { marks: await marksOf(node.containerdDirectory), tookMs };
  } catch (cause) {
    const schedule = JSON.stringify(drawnSchedule(seed, ms));
    throw new Error(`seed ${seed} for ${ms} ms: ${textOf(cause)}\n${schedule}\n${wreckers.output}`, { cause });
  } finally {
    unfollow();
    cri.close();
  }
}

const textOf = (cause: unknown): string =>
  cause instanceof Error
    ? `${cause.message}${cause.cause === undefined ? '' : `\n${textOf(cause.cause)}`}`
    : String(cause);

async function allRun(cluster: TestCluster, count: number): Promise<Pod[]> {
  let pods: Pod[] = [];
  await settles('all run', async () => {
    pods = await apiPods(cluster);
    const waiting = pods.filter(({ status }) => status?.containerStatuses?.some(({ ready }) => ready) !== true);
    return pods.length === count ? waiting.map(({ metadata }) => `${metadata.name} waits`) : ['some are not there'];
  });
  return pods;
}

/** Lists the existing pods whose containers have been replaced. */
function replacedContainers(before: readonly Pod[], after: readonly Pod[]): string[] {
  return before.flatMap((pod) => {
    const now = after.find(({ metadata }) => metadata.uid === pod.metadata.uid);
    if (now === undefined)
      return pod.metadata.name === `${STATIC}-node` ? [`the mirror ${pod.metadata.name} is another`] : [];
    const [old, ids] = [pod, now].map((each) => `${containersOf(each).map(({ containerID }) => containerID)}`);
    return old === ids ? [] : [`the containers of ${pod.metadata.name} were ${old}, and are ${ids}`];
  });
}
