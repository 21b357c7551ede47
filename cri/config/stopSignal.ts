import { NodeFailure } from '../../base/failure.ts';
import { Signal } from '../generated/runtime.ts';

/** Returns the CRI's signal for a name such as `SIGTERM` or `SIGRTMIN+1`. Without a name, the image decides. */
export function stopSignal(name: string | undefined): Signal {
  if (name === undefined) return Signal.SIGNAL_RUNTIME_DEFAULT;
  const key = `SIGNAL_${name.replace('+', 'PLUS').replace('-', 'MINUS')}`;
  const [, signal] = Object.entries(Signal).find(([signalKey]) => signalKey === key) ?? [];
  if (signal !== undefined) return signal;
  throw new NodeFailure('CreateContainerConfigError', `stopSignal: ${name} is not a signal`);
}

/** Returns the name of a CRI signal, or undefined if the image decides. */
export function signalName(signal: Signal): string | undefined {
  if (signal === Signal.SIGNAL_RUNTIME_DEFAULT) return undefined;
  const [key] = Object.entries(Signal).find(([, value]) => value === signal) ?? [];
  return key?.replace('SIGNAL_', '').replace('PLUS', '+').replace('MINUS', '-');
}
