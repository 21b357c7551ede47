/** The small rooms of the outside, each call of which passes the gate of a life. */
import type { StatusReport, StatusSink } from '../../../actors/status/statusReports.ts';
import type { Gate as RoomGate } from '../../../host/simulated/gate.ts';
import { failureOf } from '../faults/failures.ts';
import type { Gate } from '../run/outside.ts';

/** Takes statuses as an API server does. */
export const apiServer =
  (gate: Gate, { reported }: { reported(report: StatusReport): void }): StatusSink['put'] =>
  (report, { signal }) => {
    const call = { room: 'sink', name: 'put', about: report.uid, writes: true } as const;
    return gate.pass(call, { act: () => reported(report), failure: (code) => failureOf(call, code), signal });
  };

/** A room whose calls are answered on the spot. */
export const gatedRoom =
  (room: 'mounts' | 'cgroups' | 'network', gate: Gate): RoomGate =>
  (call, act, partly) =>
    gate.pass(
      { room, ...call },
      { act, failure: (code) => failureOf({ room, ...call }, code), partly: partly && (async () => partly()) },
    );
