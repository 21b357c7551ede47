/** The conditions of a node beside Ready, and what a kubelet tells of each (`nodestatus/setters.go`). */

import { lookUp } from '../../base/lookUp.ts';
import type { EventMessage } from '../events/recordedEvent.ts';

export interface NodeCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

interface Pressure {
  /** By whether there is pressure. */
  readonly reason: Readonly<Record<'True' | 'False', string>>;
  readonly message: Readonly<Record<'True' | 'False', string>>;
  readonly event: Readonly<Record<'True' | 'False', string>>;
}

const shortage = (of: string, what: string): Pressure => ({
  reason: { True: `KubeletHasInsufficient${of}`, False: `KubeletHasSufficient${of}` },
  message: { True: `kubelet has insufficient ${what} available`, False: `kubelet has sufficient ${what} available` },
  event: { True: `NodeHasInsufficient${of}`, False: `NodeHasSufficient${of}` },
});

/** In the kubelet's order. */
const PRESSURES: ReadonlyMap<string, Pressure> = new Map([
  ['MemoryPressure', shortage('Memory', 'memory')],
  [
    'DiskPressure',
    {
      reason: { True: 'KubeletHasDiskPressure', False: 'KubeletHasNoDiskPressure' },
      message: { True: 'kubelet has disk pressure', False: 'kubelet has no disk pressure' },
      event: { True: 'NodeHasDiskPressure', False: 'NodeHasNoDiskPressure' },
    },
  ],
  ['PIDPressure', shortage('PID', 'PID')],
]);

/** All but Ready: those that are told, and of the others that nothing is short. */
export function pressureConditions(
  told: readonly NodeCondition[],
  { since, now }: { readonly since: string; readonly now: string },
): NodeCondition[] {
  const own = Array.from(PRESSURES, ([type, { reason, message }]): NodeCondition => {
    const known = told.find((each) => each.type === type);
    const none = { type, status: 'False', reason: reason.False, message: message.False } as const;
    return known ?? { ...none, lastHeartbeatTime: now, lastTransitionTime: since };
  });
  return [...own, ...told.filter(({ type }) => type !== 'Ready' && !PRESSURES.has(type))];
}

/** What is recorded when a condition has become another. */
export function conditionEvents(
  nodeName: string,
  { type, status }: Pick<NodeCondition, 'type' | 'status'>,
): EventMessage[] {
  const reason = type === 'Ready' ? READY_EVENTS.get(status) : lookUp(PRESSURES.get(type)?.event, status);
  return reason === undefined ? [] : [nodeEvent(nodeName, reason)];
}

const READY_EVENTS: ReadonlyMap<string, string> = new Map([
  ['True', 'NodeReady'],
  ['False', 'NodeNotReady'],
]);

/** As a kubelet words what the node has come to. */
export const nodeEvent = (nodeName: string, reason: string): EventMessage => ({
  reason,
  message: `Node ${nodeName} status is now: ${reason}`,
});
