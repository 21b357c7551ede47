import { NodeFailure } from '../../base/failure.ts';
import { Signal } from '../generated/runtime.ts';

/**
 * Converts a name such as `SIGTERM` or `SIGRTMIN+1` to the CRI's signal. Without a name, the image determines the
 * signal.
 */
export function stopSignal(name: string | undefined): Signal {
  if (name === undefined) return Signal.SIGNAL_RUNTIME_DEFAULT;
  const key = `SIGNAL_${name.replace('+', 'PLUS').replace('-', 'MINUS')}`;
  const [, signal] = Object.entries(Signal).find(([signalKey]) => signalKey === key) ?? [];
  if (signal !== undefined) return signal;
  throw new NodeFailure('CreateContainerConfigError', `stopSignal: ${name} is not a signal`);
}
