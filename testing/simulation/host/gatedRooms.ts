/** Calls to the smaller targets, which pass the gate of an agent. */
import type { StatusReport, StatusSink } from '../../../actors/status/statusReports.ts';
import type { Gate as RoomGate } from '../../../host/simulated/gate.ts';
import { failureOf } from '../faults/failures.ts';
import type { Gate } from '../run/outside.ts';

/** Accepts statuses like an API server. */
export const apiServer =
  (gate: Gate, { reported }: { reported(report: StatusReport): void }): StatusSink['put'] =>
  (report, { signal }) => {
    const call = { room: 'sink', name: 'put', about: report.uid, writes: true } as const;
    return gate.pass(call, { act: () => reported(report), failure: (code) => failureOf(call, code), signal });
  };

/** Returns the gate of a room. */
export const gatedRoom =
  (room: 'mounts' | 'cgroups' | 'network', gate: Gate): RoomGate =>
  (call, act, partly) =>
    gate.pass(
      { room, ...call },
      { act, failure: (code) => failureOf({ room, ...call }, code), partly: partly && (async () => partly()) },
    );
