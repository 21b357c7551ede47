/**
 * Computes the patch of a Node's status for an API server, with only the differences (`patchNodeStatus` of
 * `pkg/kubelet`).
 */
import { lookUp } from '../../base/values/lookUp.ts';
import { type JsonFields, omitFields, strategicPatch } from '../../base/values/mergePatch.ts';
import type { NodeCondition } from './nodeConditions.ts';
import type { NodeObject } from './nodeObject.ts';

const MERGE_KEYS = new Map([['conditions', 'type']]);
/** Fields that the node sets and may remove. All other fields, including unknown ones, retain the server's values. */
const NODE_FIELDS: ReadonlySet<string> = new Set([
  'capacity',
  'allocatable',
  'conditions',
  'addresses',
  'daemonEndpoints',
  'nodeInfo',
  'images',
  'runtimeHandlers',
  'features',
  'declaredFeatures',
]);
const NODE_INFO_FIELDS: ReadonlySet<string> = new Set([
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
  'swap',
]);
const CONDITION_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'status',
  'lastHeartbeatTime',
  'lastTransitionTime',
  'reason',
  'message',
]);

/** Adds empty fields that a server always includes. */
const withServerDefaults = ({ nodeInfo, ...status }: NodeObject['status']) => ({
  daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  ...status,
  nodeInfo: { kubeProxyVersion: '', ...nodeInfo },
});

/** Returns the patch of a Node's status including heartbeat times, or undefined if nothing differs. */
export const nodeStatusPatch = (serverStatus: JsonFields, node: NodeObject): JsonFields | undefined =>
  patchBetween(serverStatus, desiredStatus(serverStatus, node));

/**
 * Returns the patch of a Node's status without the conditions whose only difference is the heartbeat time. Returns
 * undefined if the server does not need an immediate update.
 */
export function nodeStatusChange(serverStatus: JsonFields, node: NodeObject): JsonFields | undefined {
  const desired = desiredStatus(serverStatus, node);
  const conditions = conditionsOf(desired).map((each) => {
    const { lastHeartbeatTime } = findByType(conditionsOf(serverStatus), each) ?? each;
    return { ...each, lastHeartbeatTime };
  });
  return patchBetween(serverStatus, { ...desired, conditions });
}

/** Returns the node's new conditions whose status differs from the server's. */
export const changedConditions = (serverStatus: JsonFields, { status: { conditions } }: NodeObject): NodeCondition[] =>
  conditions.filter((each) => findByType(conditionsOf(serverStatus), { ...each })?.status !== each.status);

function patchBetween(serverStatus: JsonFields, desired: JsonFields): JsonFields | undefined {
  const { addresses, ...patch } = strategicPatch(serverStatus, desired, MERGE_KEYS) ?? {};
  const fields = {
    ...patch,
    ...(addresses === undefined ? {} : { addresses: replacementList(lookUp(desired, 'addresses')) }),
  };
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function desiredStatus(serverStatus: JsonFields, { status }: NodeObject): JsonFields {
  const localStatus = toJson(withServerDefaults(status));
  const [serverConditions, localConditions] = [conditionsOf(serverStatus), conditionsOf(localStatus)];
  return {
    ...localStatus,
    ...omitFields(serverStatus, NODE_FIELDS),
    nodeInfo: {
      ...omitFields(fieldsOf(serverStatus, 'nodeInfo'), NODE_INFO_FIELDS),
      ...fieldsOf(localStatus, 'nodeInfo'),
    },
    conditions: [
      ...localConditions.map((each) => ({
        ...omitFields(findByType(serverConditions, each), CONDITION_FIELDS),
        ...each,
        lastTransitionTime: transitionTime(each, findByType(serverConditions, each)),
      })),
      ...serverConditions.filter((each) => findByType(localConditions, each) === undefined),
    ],
    capacity: { ...fieldsOf(serverStatus, 'capacity'), ...fieldsOf(localStatus, 'capacity') },
    allocatable: { ...fieldsOf(serverStatus, 'allocatable'), ...fieldsOf(localStatus, 'allocatable') },
  };
}

/**
 * Returns the server's transition time if the status is unchanged, even if the node has restarted in the meantime.
 * Otherwise returns the time of the current heartbeat.
 */
const transitionTime = (local: JsonFields, server: JsonFields | undefined): unknown =>
  server?.status === local.status ? server?.lastTransitionTime : local.lastHeartbeatTime;

/**
 * Returns the list with a directive to replace the server's list, because a merge by type would combine two addresses
 * of the same type.
 */
const replacementList = (addresses: unknown): unknown[] => [
  ...(Array.isArray(addresses) ? addresses : []),
  { $patch: 'replace' },
];

const conditionsOf = (status: JsonFields): JsonFields[] => {
  const conditions = lookUp(status, 'conditions');
  return Array.isArray(conditions) ? conditions : [];
};

const findByType = (conditions: readonly JsonFields[], { type }: JsonFields): JsonFields | undefined =>
  conditions.find((each) => each.type === type);

function fieldsOf(status: JsonFields, name: string): JsonFields {
  const fields = lookUp(status, name);
  return typeof fields === 'object' && fields !== null ? { ...fields } : {};
}

const toJson = (value: object): Record<string, unknown> => JSON.parse(JSON.stringify(value));
