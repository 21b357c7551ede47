/** Calls to a disk in memory, each of which can fail as one to a disk can. */
import { type FileErrorCode, fileError } from './fileErrors.ts';

/** A call that changes or reads a file, by its name in `node:fs`. */
export interface FileCall {
  readonly call: string;
  readonly path: string;
  /** Whether it changes something. */
  readonly writes: boolean;
}

/** What goes wrong with a call: it fails, or it is done and the disk's answer is a failure; or it never answers. */
export type FileFault = FailedCall | HangingCall;

/** `done`: it fails although it was done. */
interface FailedCall {
  readonly code: FileErrorCode;
  readonly done?: boolean;
}

/** `done`: it is done all the same. */
interface HangingCall {
  readonly hangs: true;
  readonly done?: boolean;
}

/** Says what goes wrong with a call, if anything. */
export type FileFaults = (call: FileCall) => FileFault | undefined;

/** Calls that may fail, or never answer. */
export class FaultyCalls {
  readonly #faults: FileFaults;

  constructor(faults: FileFaults) {
    this.#faults = faults;
  }

  async answer<T>(call: FileCall, act: () => T): Promise<T> {
    const fault = this.#faults(call);
    if (fault === undefined || !('hangs' in fault)) return done(call, fault, act);
    if (fault.done === true) act();
    // One of its own: the reactions of all who ever waited would pile up at one that they share.
    return new Promise(() => {});
  }

  /** What is asked for on the spot does not hang. */
  atOnce<T>(call: FileCall, act: () => T): T {
    const fault = this.#faults(call);
    return done(call, fault !== undefined && 'hangs' in fault ? undefined : fault, act);
  }
}

function done<T>({ call, path }: FileCall, fault: FailedCall | undefined, act: () => T): T {
  if (fault !== undefined && fault.done !== true) throw fileError(fault.code, call, path);
  const answer = act();
  if (fault !== undefined) throw fileError(fault.code, call, path);
  return answer;
}
