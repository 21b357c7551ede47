/** Calls to the smaller targets, which pass the gate of an agent. */
import type { StatusReport, StatusSink } from '../../../actors/status/statusReports.ts';
import type { Gate as RoomGate } from '../../../host/simulated/gate.ts';
import { callError } from '../faults/failures.ts';
import type { Gate } from '../run/gate.ts';

/** Accepts statuses like an API server. */
export const gatedStatusSink =
  (gate: Gate, { statusAccepted }: { statusAccepted(report: StatusReport): void }): StatusSink['put'] =>
  (report, { signal }) => {
    const call = { target: 'sink', name: 'put', about: report.uid, writes: true } as const;
    return gate.pass(call, { act: () => statusAccepted(report), failure: (code) => callError(call, code), signal });
  };

/** Returns the gate of a room. */
export const targetGate =
  (target: 'mounts' | 'cgroups' | 'network' | 'drivers', gate: Gate): RoomGate =>
  (call, act, partly) =>
    gate.pass(
      { target, ...call },
      { act, failure: (code) => callError({ target, ...call }, code), actPartly: partly && (async () => partly()) },
    );
