/** How the calls through the ports went, for who counts and times them: in this process alone, for nothing is kept out of it. */

import type { Failure } from '../base/failure.ts';
import type { PortName, PortTypes } from '../machines/shared/ports.ts';

/** A call that was answered, or has failed; of one that was given up nothing is told. */
export type PortAnswer = {
  readonly [K in PortName]: {
    readonly port: K;
    readonly input: PortTypes[K]['input'];
    /** How long it took. */
    readonly ms: number;
    /** Absent: it was answered. */
    readonly failure?: Failure;
    /** Absent: it has failed. */
    readonly output?: PortTypes[K]['output'];
  };
}[PortName];

/** Told of each; it must not change what it is given. */
export type AnswerListener = (answer: PortAnswer) => void;
