import { NodeFailure } from '../base/failure.ts';
import { Signal } from './generated/runtime.ts';

/** The CRI's number of a signal by its name (`SIGTERM`, `SIGRTMIN+1`); none is left to the image. */
export function stopSignal(name: string | undefined): Signal {
  if (name === undefined) return Signal.SIGNAL_RUNTIME_DEFAULT;
  const key = `SIGNAL_${name.replace('+', 'PLUS').replace('-', 'MINUS')}`;
  const [, signal] = Object.entries(Signal).find(([each]) => each === key) ?? [];
  if (signal !== undefined) return signal;
  throw new NodeFailure('CreateContainerConfigError', `stopSignal: ${name} is not a signal`);
}

/** The name of a signal by its number; none for what was left to the image. */
export function signalName(signal: Signal): string | undefined {
  if (signal === Signal.SIGNAL_RUNTIME_DEFAULT) return undefined;
  const [key] = Object.entries(Signal).find(([, each]) => each === signal) ?? [];
  return key?.replace('SIGNAL_', '').replace('PLUS', '+').replace('MINUS', '-');
}
