/** What a node says of itself to an API server: only what differs (`patchNodeStatus` of `pkg/kubelet`). */
import { lookUp } from '../lookUp.ts';
import { type JsonFields, strategicPatch } from '../mergePatch.ts';
import { sameValue } from '../sameValue.ts';
import type { NodeObject } from './nodeObject.ts';

const MERGED = new Map([['conditions', 'type']]);
/** What is there and the node does not know of is not its own to take away. */
const OF_OTHERS = ['volumesAttached', 'phase', 'config'] as const;

/** What a server always writes, also of what a node says nothing of. */
const written = ({ nodeInfo, ...status }: NodeObject['status']) => ({
  daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
  ...status,
  nodeInfo: { kubeProxyVersion: '', ...nodeInfo },
});

/** The patch that brings a Node's status up to date; undefined: it is. */
export function nodeStatusPatch(server: JsonFields, { status }: NodeObject): JsonFields | undefined {
  const own = jsonOf(written(status));
  const kept = OF_OTHERS.flatMap((name) =>
    lookUp(server, name) === undefined ? [] : [[name, lookUp(server, name)] as const],
  );
  const wanted = {
    ...own,
    ...Object.fromEntries(kept),
    conditions: [...conditionsOf(own), ...conditionsOf(server).filter((each) => !isAmong(conditionsOf(own), each))],
    capacity: { ...resourcesOf(server, 'capacity'), ...resourcesOf(own, 'capacity') },
    allocatable: { ...resourcesOf(server, 'allocatable'), ...resourcesOf(own, 'allocatable') },
  };
  const { addresses, ...patch } = strategicPatch(server, wanted, MERGED) ?? {};
  const all = { ...patch, ...(addresses === undefined ? {} : { addresses: replaced(lookUp(wanted, 'addresses')) }) };
  return Object.keys(all).length === 0 ? undefined : all;
}

/** Addresses would be merged by their types: two of one type would become one. */
const replaced = (addresses: unknown): unknown[] => [
  ...(Array.isArray(addresses) ? addresses : []),
  { $patch: 'replace' },
];

const conditionsOf = (status: JsonFields): JsonFields[] => {
  const conditions = lookUp(status, 'conditions');
  return Array.isArray(conditions) ? conditions : [];
};

const isAmong = (conditions: readonly JsonFields[], { type }: JsonFields): boolean =>
  conditions.some((each) => each.type === type);

function resourcesOf(status: JsonFields, name: string): JsonFields {
  const resources = lookUp(status, name);
  return typeof resources === 'object' && resources !== null ? { ...resources } : {};
}

/** Whether two statuses differ in nothing but the times at which they were looked at. */
export const sameNodeStatus = (one: NodeObject, other: NodeObject): boolean =>
  sameValue(withoutHeartbeats(one), withoutHeartbeats(other));

const withoutHeartbeats = ({ status }: NodeObject) => ({
  ...status,
  conditions: status.conditions.map(({ lastHeartbeatTime: _at, ...condition }) => condition),
});

const jsonOf = (value: object): Record<string, unknown> => JSON.parse(JSON.stringify(value));
