/**
 * Defines the outcomes and durations of port calls for the metrics. Outcomes never leave this process, so they need no
 * redaction.
 */

import type { Failure } from '../base/failure.ts';
import type { PortName, PortTypes } from '../machines/shared/ports.ts';

/** A port call that succeeded or failed. Cancelled calls are not reported. */
export type PortOutcome = {
  readonly [K in PortName]: {
    readonly port: K;
    readonly input: PortTypes[K]['input'];
    readonly ms: number;
    /** Absent on success. */
    readonly failure?: Failure;
    /** Absent on failure. */
    readonly output?: PortTypes[K]['output'];
  };
}[PortName];

/** Receives outcomes and must not modify them. */
export type OutcomeListener = (outcome: PortOutcome) => void;
