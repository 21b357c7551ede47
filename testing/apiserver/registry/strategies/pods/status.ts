/** The strategy of a pod's status (`ValidatePodStatusUpdate` of `core/validation`). */

import { lookUp } from '../../../../../base/values/lookUp.ts';
import { dnsSubdomainProblems, labelKeyProblems } from '../../../../../kubernetes/api/validation/metadata/nameRules.ts';
import { forbidden, invalidValue } from '../../../failures/causes.ts';
import type { Cause } from '../../../failures/failures.ts';
import { isObject, type JsonObject, numberAt, objectAt, textAt } from '../../../json.ts';
import { withMetadata } from '../../../store/metadata.ts';
import type { Strategy } from '../../strategy.ts';
import { IMMUTABLE, objectsAt, specOf, statusOf, withFields, withFieldsOf } from '../parts.ts';
import { ipCauses, withConsistentIps } from './ips.ts';
import { podStrategy } from './pods.ts';

export const podStatusStrategy: Strategy = {
  ...podStrategy,
  defaulted: (pod) => ({ ...pod, status: withConsistentIps(statusOf(pod)) }),
  updated: (pod, before) => {
    const kept = withFieldsOf(pod, before, ['spec']);
    const owners = lookUp(objectAt(before, 'metadata'), 'ownerReferences');
    return withMetadata(
      { ...kept, status: withPreservedFields(statusOf(pod), statusOf(before)) },
      { ownerReferences: owners },
    );
  },
  updateCauses: statusCauses,
  checksWhole: false,
};

/** Restores fields that older clients omit. */
function withPreservedFields(status: JsonObject, before: JsonObject): JsonObject {
  const had = objectsAt(before, 'conditions');
  const conditions = objectsAt(status, 'conditions').map((condition) => {
    const same = had.find((each) => textAt(each, 'type') === textAt(condition, 'type'));
    return withGeneration(condition, same ?? {});
  });
  return withFields(withGeneration(status, before), {
    qosClass: textAt(status, 'qosClass') || textAt(before, 'qosClass') || undefined,
    ...(conditions.length > 0 ? { conditions } : {}),
  });
}

function withGeneration(object: JsonObject, before: JsonObject): JsonObject {
  const generation = numberAt(object, 'observedGeneration') || numberAt(before, 'observedGeneration');
  return generation ? withFields(object, { observedGeneration: generation }) : object;
}

function statusCauses(pod: JsonObject, before: JsonObject): Cause[] {
  const [status, had] = [statusOf(pod), statusOf(before)];
  const spec = specOf(before);
  const qos = textAt(status, 'qosClass');
  return [
    ...conditionCauses(status),
    ...nominationCauses(status, had, spec),
    ...negativeCauses('status.observedGeneration', numberAt(status, 'observedGeneration')),
    ...(qos === textAt(had, 'qosClass') ? [] : [invalidValue('status.qosClass', qos, IMMUTABLE)]),
    ...transitionCauses(status, had, spec, 'containerStatuses'),
    ...transitionCauses(status, had, spec, 'initContainerStatuses'),
    ...transitionCauses(status, had, spec, 'ephemeralContainerStatuses'),
    ...claimCauses(status, spec),
    ...ipCauses(status),
    ...LISTS.flatMap(([list]) => userCauses(status, list)),
    ...LISTS.flatMap(([list, containers]) => resourceCauses(status, spec, list, containers)),
  ];
}

const LISTS = [
  ['containerStatuses', 'containers'],
  ['initContainerStatuses', 'initContainers'],
  ['ephemeralContainerStatuses', 'ephemeralContainers'],
] as const;

const negativeCauses = (field: string, value: number | undefined): Cause[] =>
  (value ?? 0) < 0 ? [invalidValue(field, value ?? 0, 'must be a non-negative integer')] : [];

const OF_KUBERNETES: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'Initialized']);

const conditionCauses = (status: JsonObject): Cause[] =>
  objectsAt(status, 'conditions').flatMap((condition, index) => {
    const type = textAt(condition, 'type');
    const field = `status.conditions[${index}]`;
    return [
      ...negativeCauses(`${field}.observedGeneration`, numberAt(condition, 'observedGeneration')),
      ...(OF_KUBERNETES.has(type) ? [] : labelKeyProblems(type).map((why) => invalidValue(`${field}.Type`, type, why))),
    ];
  });

function nominationCauses(status: JsonObject, had: JsonObject, spec: JsonObject): Cause[] {
  const field = 'status.nominatedNodeName';
  const name = textAt(status, 'nominatedNodeName');
  if (name === '' || name === textAt(had, 'nominatedNodeName')) return [];
  return [
    ...dnsSubdomainProblems(name).map((why) => invalidValue(field, name, why)),
    ...(textAt(spec, 'nodeName') === ''
      ? []
      : [forbidden(field, 'may not be set on pods that are already bound to a node')]),
  ];
}

/** A container that has terminated for good may not run again. */
function transitionCauses(
  status: JsonObject,
  had: JsonObject,
  spec: JsonObject,
  list: (typeof LISTS)[number][0],
): Cause[] {
  const statuses = objectsAt(status, list);
  return objectsAt(had, list).flatMap((each, index) => {
    const ended = lookUp(objectAt(each, 'state'), 'terminated');
    const name = textAt(each, 'name');
    const now = statuses.find((other) => textAt(other, 'name') === name);
    if (!isObject(ended) || now === undefined || lookUp(objectAt(now, 'state'), 'terminated') !== undefined) return [];
    if (mayRestart(spec, list, name, numberAt(ended, 'exitCode') ?? 0)) return [];
    return [forbidden(`status.${list}[${index}].state`, 'may not be transitioned to non-terminated state')];
  });
}

/**
 * Whether a container may restart according to its own policy or that of the pod (`ContainerShouldRestart` of
 * `api/v1/pod`). If one container may restart all, every container may (`AllContainersCouldRestart`).
 */
function mayRestart(spec: JsonObject, list: string, name: string, exitCode: number): boolean {
  if (list === 'ephemeralContainerStatuses') return false;
  if (couldRestartAll(spec)) return true;
  const containers = objectsAt(spec, list === 'containerStatuses' ? 'containers' : 'initContainers');
  const container = containers.find((each) => textAt(each, 'name') === name);
  const rule = objectsAt(container ?? {}, 'restartPolicyRules').find((each) => ruleMatches(each, exitCode));
  if (rule !== undefined) return true;
  switch (textAt(container ?? {}, 'restartPolicy') || textAt(spec, 'restartPolicy')) {
    case 'Never':
      return false;
    case 'OnFailure':
      return exitCode !== 0;
    default:
      return true;
  }
}

const couldRestartAll = (spec: JsonObject): boolean =>
  [...objectsAt(spec, 'initContainers'), ...objectsAt(spec, 'containers')].some((container) =>
    objectsAt(container, 'restartPolicyRules').some((rule) => textAt(rule, 'action') === 'RestartAllContainers'),
  );

function ruleMatches(rule: JsonObject, exitCode: number): boolean {
  const exitCodes = objectAt(rule, 'exitCodes');
  const values = lookUp(exitCodes, 'values');
  const isIn = Array.isArray(values) && values.includes(exitCode);
  return textAt(exitCodes, 'operator') === 'NotIn' ? !isIn : isIn;
}

function claimCauses(status: JsonObject, spec: JsonObject): Cause[] {
  const claims = new Set(objectsAt(spec, 'resourceClaims').map((claim) => textAt(claim, 'name')));
  return objectsAt(status, 'resourceClaimStatuses').flatMap((each, index) => {
    const name = textAt(each, 'name');
    const field = `status.resourceClaimStatuses[${index}].name`;
    return claims.has(name)
      ? []
      : [invalidValue(field, name, 'must match the name of an entry in `spec.resourceClaims`')];
  });
}

const LARGEST_ID = 2 ** 31 - 1;

const userCauses = (status: JsonObject, list: string): Cause[] =>
  objectsAt(status, list).flatMap((each, index) => {
    const linux = objectAt(objectAt(each, 'user'), 'linux');
    return ['uid', 'gid'].flatMap((name) => {
      const id = numberAt(linux, name) ?? 0;
      const field = `status.${list}[${index}].user.linux.${name}`;
      const why = `must be between 0 and ${LARGEST_ID}, inclusive`;
      return id < 0 || id > LARGEST_ID ? [invalidValue(field, id, why)] : [];
    });
  });

/** The status may only contain devices that the container has requested. */
function resourceCauses(status: JsonObject, spec: JsonObject, list: string, containers: string): Cause[] {
  return objectsAt(status, list).flatMap((each, index) => {
    const container = objectsAt(spec, containers).find((other) => textAt(other, 'name') === textAt(each, 'name'));
    const requests = objectAt(objectAt(container ?? {}, 'resources'), 'requests');
    return objectsAt(each, 'allocatedResourcesStatus').flatMap((resource, at) => {
      const name = textAt(resource, 'name');
      const isAsked = lookUp(requests, name) !== undefined || name.startsWith('claim:');
      const field = `status.${list}[${index}].allocatedResourcesStatus[${at}].name`;
      return isAsked ? [] : [invalidValue(field, name, "must match one of the container's resource requests")];
    });
  });
}
