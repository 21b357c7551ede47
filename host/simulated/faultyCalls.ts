/** Injects faults into calls to a simulated disk. */
import { type FileErrorCode, fileError } from './fileError.ts';

/** A call that reads or changes a file. `call` is its name in `node:fs`. */
export interface FileCall {
  readonly call: string;
  readonly path: string;
  /** Whether the call modifies the disk. */
  readonly writes: boolean;
}

/** Fault that is injected into a call. The call fails before or after taking effect, or never completes. */
export type FileFault = FailedCall | HangingCall;

/** `done` means that the call takes effect before it fails. */
interface FailedCall {
  readonly code: FileErrorCode;
  readonly done?: boolean;
}

/** `done` means that the call takes effect before it hangs. */
interface HangingCall {
  readonly hangs: true;
  readonly done?: boolean;
}

/** Returns the fault to inject into a call, if any. */
export type GetFileFault = (call: FileCall) => FileFault | undefined;

export class FaultInjector {
  readonly #getFault: GetFileFault;

  constructor(getFault: GetFileFault) {
    this.#getFault = getFault;
  }

  async run<T>(call: FileCall, operation: () => T): Promise<T> {
    const fault = this.#getFault(call);
    if (fault === undefined || !('hangs' in fault)) return runWithFailure(call, fault, operation);
    if (fault.done === true) operation();
    // Return a new promise for each call, because the reactions to a shared promise would accumulate.
    return new Promise(() => {});
  }

  /** Runs a synchronous call, which never hangs. */
  runSync<T>(call: FileCall, operation: () => T): T {
    const fault = this.#getFault(call);
    return runWithFailure(call, fault !== undefined && 'hangs' in fault ? undefined : fault, operation);
  }
}

function runWithFailure<T>({ call, path }: FileCall, fault: FailedCall | undefined, operation: () => T): T {
  if (fault !== undefined && fault.done !== true) throw fileError(fault.code, call, path);
  const result = operation();
  if (fault !== undefined) throw fileError(fault.code, call, path);
  return result;
}
