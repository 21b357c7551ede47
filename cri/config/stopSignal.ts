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
