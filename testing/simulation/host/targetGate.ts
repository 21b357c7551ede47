/** Passes the calls to the status sink, mounts, cgroups, network and drivers through the gate of an agent. */
import type { StatusReport, StatusSink } from '../../../actors/status/statusReports.ts';
import type { Gate as SimulatedGate } from '../../../host/simulated/gate.ts';
import { callError } from '../faults/failures.ts';
import type { Gate } from '../run/gate.ts';

/** Returns a status sink that accepts every status, like an API server. */
export const gatedStatusSink =
  (gate: Gate, { statusAccepted }: { statusAccepted(report: StatusReport): void }): StatusSink['put'] =>
  (report, { signal }) => {
    const call = { target: 'sink', name: 'put', about: report.uid, writes: true } as const;
    return gate.pass(call, { act: () => statusAccepted(report), failure: (code) => callError(call, code), signal });
  };

/** Returns a gate that passes all calls to one target. */
export const targetGate =
  (target: 'mounts' | 'cgroups' | 'network' | 'drivers', gate: Gate): SimulatedGate =>
  (call, act, actPartly) =>
    gate.pass(
      { target, ...call },
      {
        act,
        failure: (code) => callError({ target, ...call }, code),
        actPartly: actPartly && (async () => actPartly()),
      },
    );
