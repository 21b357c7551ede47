/** Nodes as `kubectl get nodes` shows them. */
import { humanDuration } from '../../base/duration.ts';
import type { NodeObject } from './nodeObject.ts';

const NARROW = ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION'];
const WIDE = [...NARROW, 'INTERNAL-IP', 'EXTERNAL-IP', 'OS-IMAGE', 'KERNEL-VERSION', 'CONTAINER-RUNTIME'];
const ROLE = 'node-role.kubernetes.io/';

/** The roles that a node's labels give it, as one word. */
export function rolesOf({ metadata: { labels } }: NodeObject): string {
  const roles = Object.keys(labels).flatMap((key) => (key.startsWith(ROLE) ? key.slice(ROLE.length) || [] : []));
  return roles.sort().join(',') || '<none>';
}

/** The table of nodes as lines of cells, the header first; `now` is in milliseconds since the epoch. */
export function nodeTable(nodes: readonly NodeObject[], { wide, now }: { wide: boolean; now: number }): string[][] {
  const header = wide ? WIDE : NARROW;
  const rows = nodes.map((node) => {
    const { metadata, status } = node;
    const { conditions, addresses, nodeInfo } = status;
    const isReady = conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
    return [
      metadata.name,
      isReady ? 'Ready' : 'NotReady',
      rolesOf(node),
      humanDuration(now - Date.parse(metadata.creationTimestamp)),
      nodeInfo.kubeletVersion,
      addresses.find(({ type }) => type === 'InternalIP')?.address ?? '<none>',
      '<none>',
      nodeInfo.osImage || '<unknown>',
      nodeInfo.kernelVersion || '<unknown>',
      nodeInfo.containerRuntimeVersion || '<unknown>',
    ].slice(0, header.length);
  });
  return [header, ...rows];
}
