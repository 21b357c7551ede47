/** What a node says of itself to an API server: only what differs (`patchNodeStatus` of `pkg/kubelet`). */
import { lookUp } from '../../base/lookUp.ts';
import { fieldsBut, type JsonFields, strategicPatch } from '../../base/mergePatch.ts';
import type { NodeCondition } from './nodeConditions.ts';
import type { NodeObject } from './nodeObject.ts';

const MERGED = new Map([['conditions', 'type']]);
/** What is for the node to say, and to take back: all else stays, also what is not known here. */
const OWN: ReadonlySet<string> = new Set([
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
const OWN_OF_NODE_INFO: ReadonlySet<string> = new Set([
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
const OWN_OF_CONDITION: ReadonlySet<string> = new Set([
  'type',
  'status',
  'lastHeartbeatTime',
  'lastTransitionTime',
  'reason',
  'message',
]);

/** What a server always writes, also of what a node says nothing of. */
const written = ({ nodeInfo, ...status }: NodeObject['status']) => ({
  daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  ...status,
  nodeInfo: { kubeProxyVersion: '', ...nodeInfo },
});

/** The patch that brings a Node's status up to date, with the time of this look at it; undefined: it is. */
export const nodeStatusPatch = (server: JsonFields, node: NodeObject): JsonFields | undefined =>
  patchTo(server, wantedOf(server, node));

/** What of that patch is more than the time: undefined where there is nothing that the server has to know at once. */
export function nodeStatusChange(server: JsonFields, node: NodeObject): JsonFields | undefined {
  const wanted = wantedOf(server, node);
  const conditions = conditionsOf(wanted).map((each) => {
    const { lastHeartbeatTime } = ofType(conditionsOf(server), each) ?? each;
    return { ...each, lastHeartbeatTime };
  });
  return patchTo(server, { ...wanted, conditions });
}

/** The conditions that become another by the patch, as they are then. */
export const changedConditions = (server: JsonFields, { status: { conditions } }: NodeObject): NodeCondition[] =>
  conditions.filter((each) => ofType(conditionsOf(server), { ...each })?.status !== each.status);

function patchTo(server: JsonFields, wanted: JsonFields): JsonFields | undefined {
  const { addresses, ...patch } = strategicPatch(server, wanted, MERGED) ?? {};
  const all = { ...patch, ...(addresses === undefined ? {} : { addresses: replaced(lookUp(wanted, 'addresses')) }) };
  return Object.keys(all).length === 0 ? undefined : all;
}

function wantedOf(server: JsonFields, { status }: NodeObject): JsonFields {
  const own = jsonOf(written(status));
  const [theirs, ours] = [conditionsOf(server), conditionsOf(own)];
  return {
    ...own,
    ...fieldsBut(server, OWN),
    nodeInfo: { ...fieldsBut(fieldsIn(server, 'nodeInfo'), OWN_OF_NODE_INFO), ...fieldsIn(own, 'nodeInfo') },
    conditions: [
      ...ours.map((each) => ({
        ...fieldsBut(ofType(theirs, each), OWN_OF_CONDITION),
        ...each,
        lastTransitionTime: transitionOf(each, ofType(theirs, each)),
      })),
      ...theirs.filter((each) => ofType(ours, each) === undefined),
    ],
    capacity: { ...fieldsIn(server, 'capacity'), ...fieldsIn(own, 'capacity') },
    allocatable: { ...fieldsIn(server, 'allocatable'), ...fieldsIn(own, 'allocatable') },
  };
}

/** Since when it is so is what the server says, however often the node began anew meanwhile. */
const transitionOf = (own: JsonFields, server: JsonFields | undefined): unknown =>
  server?.status === own.status ? server?.lastTransitionTime : own.lastHeartbeatTime;

/** Addresses would be merged by their types: two of one type would become one. */
const replaced = (addresses: unknown): unknown[] => [
  ...(Array.isArray(addresses) ? addresses : []),
  { $patch: 'replace' },
];

const conditionsOf = (status: JsonFields): JsonFields[] => {
  const conditions = lookUp(status, 'conditions');
  return Array.isArray(conditions) ? conditions : [];
};

const ofType = (conditions: readonly JsonFields[], { type }: JsonFields): JsonFields | undefined =>
  conditions.find((each) => each.type === type);

function fieldsIn(status: JsonFields, name: string): JsonFields {
  const fields = lookUp(status, name);
  return typeof fields === 'object' && fields !== null ? { ...fields } : {};
}

const jsonOf = (value: object): Record<string, unknown> => JSON.parse(JSON.stringify(value));
