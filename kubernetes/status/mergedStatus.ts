/**
 * Merges the node's status of a pod with the changes that other components have made on the API server
 * (`mergePodStatus` in `pkg/kubelet/status`).
 */
import { isPlainObject } from '../../base/values/isObject.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { omitFields } from '../../base/values/mergePatch.ts';
import { isNodeCondition } from './conditions.ts';
import type { StatusJson } from './statusPatch.ts';

/** Fields that the node sets and may remove. All other fields, including unknown ones, retain the server's values. */
const NODE_FIELDS = new Set([
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
const CONDITION_FIELDS = new Set([
  'type',
  'status',
  'reason',
  'message',
  'observedGeneration',
  'lastProbeTime',
  'lastTransitionTime',
]);

export function mergedStatus(serverStatus: StatusJson, localStatus: StatusJson): StatusJson {
  const localConditions = conditionsOf(localStatus);
  const externalConditions = conditionsOf(serverStatus).filter(
    (each) => !isNodeCondition(typeOf(each)) && findSameType(localStatus, each) === undefined,
  );
  // The server's copy of a condition that another component sets takes precedence over the node's copy.
  const isNodeAuthoritative = (each: StatusJson) =>
    isNodeCondition(typeOf(each)) || isTerminalDisruption(each, serverStatus, localStatus);
  const mergedConditions = localConditions
    .map((each) => (isNodeAuthoritative(each) ? each : findSameType(serverStatus, each)))
    .filter((each) => each !== undefined);
  const conditions = [
    ...mergedConditions.map((each) => ({
      ...omitFields(findSameType(serverStatus, each), CONDITION_FIELDS),
      ...withProbeTime(each),
    })),
    ...externalConditions,
  ];
  const statusWithPhase = isTerminal(serverStatus) ? withServerPhase(serverStatus, localStatus) : localStatus;
  return {
    ...statusWithPhase,
    ...omitFields(serverStatus, NODE_FIELDS),
    ...(conditions.length > 0 ? { conditions } : {}),
  };
}

/**
 * Retains the server's terminal phase, reason and message. They are final, regardless of which component set them (C2).
 */
function withServerPhase(
  server: StatusJson,
  { phase: _phase, reason: _reason, message: _message, ...localFields }: StatusJson,
) {
  const serverFields = ['phase', 'reason', 'message'].flatMap((name) => {
    const value = lookUp(server, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...localFields, ...Object.fromEntries(serverFields) };
}

const conditionsOf = (status: StatusJson): StatusJson[] => {
  const conditions = lookUp(status, 'conditions');
  return Array.isArray(conditions) ? conditions.filter(isPlainObject) : [];
};

const typeOf = (condition: StatusJson): string => String(lookUp(condition, 'type'));

const findSameType = (status: StatusJson, condition: StatusJson): StatusJson | undefined =>
  conditionsOf(status).find((each) => typeOf(each) === typeOf(condition));

/**
 * Whether the condition is DisruptionTarget and this update makes the phase terminal. Only then does the node set this
 * condition, which otherwise belongs to other components.
 */
const isTerminalDisruption = (condition: StatusJson, server: StatusJson, local: StatusJson): boolean =>
  typeOf(condition) === 'DisruptionTarget' && !isTerminal(server) && isTerminal(local);

const isTerminal = (status: StatusJson): boolean => ['Succeeded', 'Failed'].includes(String(lookUp(status, 'phase')));

/** Adds the null by which an API server represents a missing probe time. */
const withProbeTime = (condition: StatusJson): StatusJson => ({ lastProbeTime: null, ...condition });
