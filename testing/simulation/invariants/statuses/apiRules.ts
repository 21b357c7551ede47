/**
 * Detects statuses that the API server rejects (`ValidatePodStatusUpdate` in pkg/apis/core/validation/validation.go),
 * except for the fields that the node does not report, i.e. container users and device health. Also detects a container
 * that is waiting and ready, which the kubelet never reports.
 */
import { isIP } from 'node:net';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import type { ContainerStatus, PodStatus } from '../../../../kubernetes/api/schema/status.ts';

type Lists = Pick<PodStatus, 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses'>;
const LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;

const QUALIFIED_NAME = /^([a-z0-9.-]+\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** Format of `metav1.Time`. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

export const statusesOf = (status: Lists): ContainerStatus[] => LISTS.flatMap((list) => status[list] ?? []);

/**
 * Returns the reasons why the API server would reject the status `now` after the status `before`. Without a spec, the
 * rules that need it are skipped.
 */
export function refusals(now: PodStatus, before: PodStatus = {}, spec?: PodSpec): string[] {
  return [
    ...badConditions(now),
    ...badAddresses(now),
    ...badTimes(now),
    ...statusesOf(now).flatMap(badContainer),
    ...(before.qosClass && now.qosClass !== before.qosClass
      ? [`qosClass ${before.qosClass} became ${now.qosClass}`]
      : []),
    ...((now.observedGeneration ?? 0) < 0 ? ['negative observedGeneration'] : []),
    ...(now.nominatedNodeName ? ['nominatedNodeName of a pod that is bound to a node'] : []),
    ...(now.resourceClaimStatuses && !before.resourceClaimStatuses
      ? ['resourceClaimStatuses that the node may not set']
      : []),
    ...(spec ? badTransitions(now, before, spec) : []),
  ];
}

function badConditions({ conditions = [] }: PodStatus): string[] {
  const types = conditions.map(({ type }) => type);
  return [
    ...types.filter((type, index) => types.indexOf(type) !== index).map((type) => `condition ${type} twice`),
    ...types.filter((type) => !QUALIFIED_NAME.test(type)).map((type) => `${type} is not a valid condition type`),
    ...conditions.flatMap(({ type, status, observedGeneration = 0 }) => [
      ...(['True', 'False', 'Unknown'].includes(status) ? [] : [`condition ${type} is ${status}`]),
      ...(observedGeneration < 0 ? [`condition ${type}: negative observedGeneration`] : []),
    ]),
  ];
}

function badAddresses({ podIP, podIPs = [], hostIP, hostIPs = [] }: PodStatus): string[] {
  const lists = [
    { name: 'podIP', first: podIP, ips: podIPs.map(({ ip }) => ip) },
    { name: 'hostIP', first: hostIP, ips: hostIPs.map(({ ip }) => ip) },
  ];
  return lists.flatMap(({ name, first, ips }) => {
    const families = ips.map(isIP);
    return [
      ...(ips[0] === first ? [] : [`${name} is not the first of ${name}s`]),
      ...ips.filter((ip) => isIP(ip) === 0).map((ip) => `${name}s: ${ip} is not an IP address`),
      ...(new Set(families).size < families.length ? [`${name}s: more than one address of a family`] : []),
    ];
  });
}

function badTimes({ startTime, conditions = [], ...lists }: PodStatus): string[] {
  const ofContainers = statusesOf(lists).flatMap(({ state, lastState }) => [
    state?.running?.startedAt,
    ...[state?.terminated, lastState?.terminated].flatMap((end) => [end?.startedAt, end?.finishedAt]),
  ]);
  const times = [startTime, ...conditions.map(({ lastTransitionTime }) => lastTransitionTime), ...ofContainers];
  return times.flatMap((time) => (time && !TIME.test(time) ? [`${time} is not a valid time`] : []));
}

function badContainer({ name, state = {}, lastState = {}, restartCount, ready }: ContainerStatus): string[] {
  return [
    ...(Object.keys(state).length === 1 ? [] : [`${name} does not have exactly one state`]),
    ...(Object.keys(lastState).length > 1 ? [`${name} has more than one last state`] : []),
    ...(Number.isInteger(restartCount) && restartCount >= 0 ? [] : [`${name}: restartCount ${restartCount}`]),
    ...(ready && state.waiting ? [`${name} is ready but not running`] : []),
  ];
}

/**
 * Checks that a container leaves the terminated state only if it may be restarted (`ValidateContainerStateTransition`).
 */
function badTransitions(now: PodStatus, before: PodStatus, spec: PodSpec): string[] {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const restartsAll = all.some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );
  const specs = new Map(all.map((each) => [each.name, each]));
  return LISTS.flatMap((list) => {
    const next = new Map(now[list]?.map((each) => [each.name, each.state]));
    return (before[list] ?? []).flatMap(({ name, state }) => {
      if (!state?.terminated || !next.has(name) || next.get(name)?.terminated) return [];
      const own = specs.get(name);
      const isAllowed = own !== undefined && (restartsAll || shouldRestart(own, spec, state.terminated.exitCode));
      return isAllowed ? [] : [`${name}: left the terminated state`];
    });
  });
}

/** Whether a container is restarted after this exit code (`ContainerShouldRestart` in pkg/api/v1/pod/util.go). */
function shouldRestart(own: Container, spec: PodSpec, exitCode: number): boolean {
  const rule = own.restartPolicyRules?.find(({ exitCodes }) => {
    const isListed = exitCodes?.values?.includes(exitCode) ?? false;
    return exitCodes?.operator === (isListed ? 'In' : 'NotIn');
  });
  const policy = own.restartPolicy ?? spec.restartPolicy ?? 'Always';
  return rule !== undefined || policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}
