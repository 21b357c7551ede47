/** A status of the node's with what others have said of the pod meanwhile (`mergePodStatus` of `pkg/kubelet/status`). */
import { lookUp } from '../../base/lookUp.ts';
import { fieldsBut } from '../../base/mergePatch.ts';
import { isOwnCondition } from './conditions.ts';
import type { StatusJson } from './statusPatch.ts';

/** What is for the node to say, and to take back; all else stays as the server has it, also what is not known here. */
const OWN = new Set([
  'phase',
  'reason',
  'message',
  'startTime',
  'observedGeneration',
  'conditions',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'allocatedResources',
  'resources',
  'resize',
  'containerStatuses',
  'initContainerStatuses',
  'ephemeralContainerStatuses',
]);
const OWN_OF_CONDITION = new Set([
  'type',
  'status',
  'reason',
  'message',
  'observedGeneration',
  'lastProbeTime',
  'lastTransitionTime',
]);

export function mergedStatus(server: StatusJson, own: StatusJson): StatusJson {
  const said = conditionsIn(own);
  const others = conditionsIn(server).filter(
    (each) => !isOwnCondition(typeOf(each)) && called(own, each) === undefined,
  );
  // What others have said meanwhile, or taken back, counts, not what the node has heard of it.
  const isTold = (each: StatusJson) => isOwnCondition(typeOf(each)) || isToldAtEnd(each, server, own);
  const told = said.map((each) => (isTold(each) ? each : called(server, each))).filter((each) => each !== undefined);
  const conditions = [
    ...told.map((each) => ({ ...fieldsBut(called(server, each), OWN_OF_CONDITION), ...withProbeTime(each) })),
    ...others,
  ];
  const now = isTerminal(server) ? withEnd(server, own) : own;
  return { ...now, ...fieldsBut(server, OWN), ...(conditions.length > 0 ? { conditions } : {}) };
}

/** How a pod has ended, once the server says so, stands for ever, whoever has told it (C2). */
function withEnd(server: StatusJson, { phase: _phase, reason: _reason, message: _message, ...own }: StatusJson) {
  const said = ['phase', 'reason', 'message'].flatMap((name) => {
    const value = lookUp(server, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...own, ...Object.fromEntries(said) };
}

const conditionsIn = (status: StatusJson): StatusJson[] => {
  const conditions = lookUp(status, 'conditions');
  return Array.isArray(conditions) ? conditions.filter(isObject) : [];
};

const typeOf = (condition: StatusJson): string => String(lookUp(condition, 'type'));

const called = (status: StatusJson, condition: StatusJson): StatusJson | undefined =>
  conditionsIn(status).find((each) => typeOf(each) === typeOf(condition));

/** Of a disruption the node tells as well, and only as the pod ends. */
const isToldAtEnd = (condition: StatusJson, server: StatusJson, own: StatusJson): boolean =>
  typeOf(condition) === 'DisruptionTarget' && !isTerminal(server) && isTerminal(own);

const isTerminal = (status: StatusJson): boolean => ['Succeeded', 'Failed'].includes(String(lookUp(status, 'phase')));

/** Nobody probes conditions: an API server says so with null. */
const withProbeTime = (condition: StatusJson): StatusJson => ({ lastProbeTime: null, ...condition });

const isObject = (value: unknown): value is StatusJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
