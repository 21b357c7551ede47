import { NodeFailure } from '../pod/failure.ts';
import { Signal } from './generated/runtime.ts';

/** The CRI's number of a signal by its name (`SIGTERM`, `SIGRTMIN+1`); none is left to the image. */
export function stopSignal(name: string | undefined): Signal {
  if (name === undefined) return Signal.SIGNAL_RUNTIME_DEFAULT;
  const key = `SIGNAL_${name.replace('+', 'PLUS').replace('-', 'MINUS')}`;
  const [, signal] = Object.entries(Signal).find(([each]) => each === key) ?? [];
  if (signal !== undefined) return signal;
  throw new NodeFailure('CreateContainerConfigError', `stopSignal: ${name} is no signal`, { retryable: false });
}
