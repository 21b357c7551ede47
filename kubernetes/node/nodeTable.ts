/** Formats nodes like `kubectl get nodes`. */
import { humanDuration } from '../../base/time/duration.ts';
import type { NodeObject } from './nodeObject.ts';

const NARROW_COLUMNS = ['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION'];
const WIDE_COLUMNS = [
  ...NARROW_COLUMNS,
  'INTERNAL-IP',
  'EXTERNAL-IP',
  'OS-IMAGE',
  'KERNEL-VERSION',
  'CONTAINER-RUNTIME',
];
const ROLE_LABEL_PREFIX = 'node-role.kubernetes.io/';

/** Returns the roles from a node's labels, separated by commas. */
export function rolesOf({ metadata: { labels } }: NodeObject): string {
  const roles = Object.keys(labels).flatMap((key) =>
    key.startsWith(ROLE_LABEL_PREFIX) ? key.slice(ROLE_LABEL_PREFIX.length) || [] : [],
  );
  return roles.sort().join(',') || '<none>';
}

/** Returns the table as rows of cells, starting with the header. `now` is in milliseconds since the epoch. */
export function nodeTable(nodes: readonly NodeObject[], { wide, now }: { wide: boolean; now: number }): string[][] {
  const header = wide ? WIDE_COLUMNS : NARROW_COLUMNS;
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
