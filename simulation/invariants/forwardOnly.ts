import type { NodeAgent } from '../../actors/nodeAgent.ts';
import type { PodChange } from '../../actors/status/statusBoard.ts';
import type { StatusReport } from '../../actors/status/statusReports.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import type { ContainerStatus, PodStatus } from '../../pod/api/schema/status.ts';
import type { Invariant } from './invariant.ts';

interface Told {
  readonly status: PodStatus;
  /** Which life of the agent told it. */
  readonly life: number;
}

const isTerminal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

/** What a status must not take back. */
function takenBack({ status: before, life: earlier }: Told, { status: now, life }: Told): string[] {
  const isSame = (what: keyof PodStatus) => before[what] === undefined || before[what] === now[what];
  return [
    ...(isTerminal(before.phase) && now.phase !== before.phase ? [`phase ${before.phase} became ${now.phase}`] : []),
    ...(isSame('qosClass') ? [] : [`qosClass ${before.qosClass} became ${now.qosClass}`]),
    // A new agent has the start of a pod from its oldest sandbox.
    ...(life !== earlier || isSame('startTime') ? [] : [`startTime ${before.startTime} became ${now.startTime}`]),
  ];
}

/** Whether a container that has ended may run again, as the API server judges it. */
function mayRestart({ spec }: Pod, { state }: ContainerStatus, isInit: boolean, name: string): boolean {
  const own = spec.initContainers?.find((each) => each.name === name);
  // A sidecar always; and in a new sandbox init containers run again, which a kubelet cannot tell an API server either.
  if (isInit && (own?.restartPolicy === 'Always' || spec.restartPolicy !== 'Never')) return true;
  const { restartPolicy = 'Always' } = spec;
  return restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && state?.terminated?.exitCode !== 0);
}

function badTransitions(
  { status: before }: Told,
  { status: now }: Told,
  agent: NodeAgent | undefined,
  uid: string,
): string[] {
  const pod = agent?.pods().find(({ metadata }) => metadata.uid === uid);
  const lists = ['initContainerStatuses', 'containerStatuses'] as const;
  return lists.flatMap((list) => {
    const isInit = list === 'initContainerStatuses';
    return (before[list] ?? []).flatMap((old) => {
      const next = now[list]?.find((each) => each.name === old.name);
      return next === undefined
        ? [`container ${old.name} is gone from the status`]
        : wentBack(old, next, { pod, isInit });
    });
  });
}

function wentBack(
  old: ContainerStatus,
  next: ContainerStatus,
  { pod, isInit }: { readonly pod: Pod | undefined; readonly isInit: boolean },
): string[] {
  const { name, restartCount } = next;
  const hasRisen = old.state?.terminated !== undefined && next.state?.terminated === undefined;
  return [
    ...(restartCount < old.restartCount ? [`${name}: restartCount ${old.restartCount} became ${restartCount}`] : []),
    ...(hasRisen && pod !== undefined && !mayRestart(pod, old, isInit, name)
      ? [`${name}: left the terminated state`]
      : []),
  ];
}

const stateCount = ({ state = {} }: ContainerStatus): number => Object.keys(state).length;

/** What an API server would refuse of a status by itself. */
function malformed({ status }: Told): string[] {
  const { conditions = [], initContainerStatuses = [], containerStatuses = [], podIPs = [] } = status;
  const types = conditions.map(({ type }) => type);
  const all = [...initContainerStatuses, ...containerStatuses];
  return [
    ...types.filter((type, index) => types.indexOf(type) !== index).map((type) => `condition ${type} twice`),
    ...all.filter((each) => stateCount(each) !== 1).map(({ name }) => `${name} has not one state`),
    ...all.filter(({ restartCount }) => restartCount < 0).map(({ name }) => `${name}: negative restartCount`),
    ...containerStatuses.flatMap(({ name, ready, state }) =>
      ready && !state?.running ? [`${name} is ready and does not run`] : [],
    ),
    ...(podIPs.length > 0 && podIPs[0]?.ip !== status.podIP ? ['podIP is not the first of podIPs'] : []),
  ];
}

export const forwardOnly: Invariant = {
  number: 3,
  says:
    'Grace only shrinks, a terminal phase never changes, a status never goes back, ' +
    'and each status is one that the API server would accept.',
  follow: (watched, violated) => {
    const { host, deeds } = watched;
    const told = new Map<string, Told>();
    const grace = new Map<string, number>();
    const onReport = ({ uid, namespace, name, status }: StatusReport) => {
      const full = `${namespace}/${name}`;
      const before = told.get(uid);
      const now = { status, life: watched.life };
      told.set(uid, now);
      // The same pod may have been wanted once more.
      const isSame = before !== undefined && !deeds.isReborn(full);
      const wrong = [
        ...malformed(now),
        ...(isSame ? [...takenBack(before, now), ...badTransitions(before, now, watched.agent, uid)] : []),
      ];
      for (const each of wrong) violated(`${full}: ${each}, at ${host.clock.now()}`);
    };
    const onStatus = ({ uid, pod: { metadata }, removed }: PodChange) => {
      const { deletionGracePeriodSeconds: seconds, namespace, name } = metadata;
      const earlier = grace.get(uid);
      if (removed || seconds === undefined) return void grace.delete(uid);
      grace.set(uid, seconds);
      if (earlier !== undefined && seconds > earlier) {
        violated(`${namespace}/${name}: its grace grew from ${earlier} to ${seconds} s`);
      }
    };
    return { onReport, onStatus };
  },
};
