/** Creates the node conditions other than Ready, with the kubelet's reasons and messages (`nodestatus/setters.go`). */

import { lookUp } from '../../base/values/lookUp.ts';
import type { EventMessage } from '../events/recordedEvent.ts';

export interface NodeCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

interface PressureCondition {
  /** Reasons by condition status. */
  readonly reason: Readonly<Record<'True' | 'False', string>>;
  readonly message: Readonly<Record<'True' | 'False', string>>;
  readonly event: Readonly<Record<'True' | 'False', string>>;
}

const shortagePressure = (suffix: string, noun: string): PressureCondition => ({
  reason: { True: `KubeletHasInsufficient${suffix}`, False: `KubeletHasSufficient${suffix}` },
  message: { True: `kubelet has insufficient ${noun} available`, False: `kubelet has sufficient ${noun} available` },
  event: { True: `NodeHasInsufficient${suffix}`, False: `NodeHasSufficient${suffix}` },
});

/** Pressure conditions in the kubelet's order. */
const PRESSURE_CONDITIONS: ReadonlyMap<string, PressureCondition> = new Map([
  ['MemoryPressure', shortagePressure('Memory', 'memory')],
  [
    'DiskPressure',
    {
      reason: { True: 'KubeletHasDiskPressure', False: 'KubeletHasNoDiskPressure' },
      message: { True: 'kubelet has disk pressure', False: 'kubelet has no disk pressure' },
      event: { True: 'NodeHasDiskPressure', False: 'NodeHasNoDiskPressure' },
    },
  ],
  ['PIDPressure', shortagePressure('PID', 'PID')],
]);

/** Returns all conditions except Ready. The status of a pressure condition that was not reported is False. */
export function pressureConditions(
  reportedConditions: readonly NodeCondition[],
  { since, now }: { readonly since: string; readonly now: string },
): NodeCondition[] {
  const pressures = Array.from(PRESSURE_CONDITIONS, ([type, { reason, message }]): NodeCondition => {
    const reportedCondition = reportedConditions.find((each) => each.type === type);
    const noPressure = { type, status: 'False', reason: reason.False, message: message.False } as const;
    return { ...(reportedCondition ?? { ...noPressure, lastTransitionTime: since }), lastHeartbeatTime: now };
  });
  return [...pressures, ...reportedConditions.filter(({ type }) => type !== 'Ready' && !PRESSURE_CONDITIONS.has(type))];
}

/**
 * Returns the conditions with the node's current pressure. `now` (RFC 3339) becomes the transition time of changed
 * conditions.
 */
export function withPressure(
  reportedConditions: readonly NodeCondition[],
  pressure: readonly string[],
  now: string,
): readonly NodeCondition[] {
  const pressures = Array.from(PRESSURE_CONDITIONS).flatMap(([type, { reason, message }]): NodeCondition[] => {
    const status = pressure.includes(type) ? 'True' : 'False';
    const existingCondition = reportedConditions.find((each) => each.type === type);
    if (status === (existingCondition?.status ?? 'False'))
      return existingCondition === undefined ? [] : [existingCondition];
    const timestamps = { lastHeartbeatTime: now, lastTransitionTime: now };
    return [{ type, status, ...timestamps, reason: reason[status], message: message[status] }];
  });
  return [...pressures, ...reportedConditions.filter(({ type }) => !PRESSURE_CONDITIONS.has(type))];
}

/**
 * Returns the pressure conditions whose status has changed. A condition that was never reported is treated as False.
 */
export const changedPressure = (
  previousConditions: readonly NodeCondition[],
  currentConditions: readonly NodeCondition[],
): NodeCondition[] =>
  currentConditions.filter(
    ({ type, status }) =>
      PRESSURE_CONDITIONS.has(type) &&
      status !== (previousConditions.find((each) => each.type === type)?.status ?? 'False'),
  );

/** Returns the events for a changed condition. */
export function conditionEvents(
  nodeName: string,
  { type, status }: Pick<NodeCondition, 'type' | 'status'>,
): EventMessage[] {
  const reason = type === 'Ready' ? READY_EVENTS.get(status) : lookUp(PRESSURE_CONDITIONS.get(type)?.event, status);
  return reason === undefined ? [] : [nodeEvent(nodeName, reason)];
}

const READY_EVENTS: ReadonlyMap<string, string> = new Map([
  ['True', 'NodeReady'],
  ['False', 'NodeNotReady'],
]);

/** Creates an event with the kubelet's message about a node condition. */
export const nodeEvent = (nodeName: string, reason: string): EventMessage => ({
  reason,
  message: `Node ${nodeName} status is now: ${reason}`,
});
