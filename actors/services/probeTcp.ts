/** Tries a probe by opening a connection. */
import { connect } from 'node:net';
import { addressOf, dialFailure } from './dialError.ts';
import type { Try } from './probeTry.ts';

/** That it could be opened is success: it is closed at once. */
export function tryTcp(host: string, port: number, signal: AbortSignal): Promise<Try> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (outcome: Try) => {
      signal.removeEventListener('abort', giveUp);
      socket.destroy();
      resolve(outcome);
    };
    const giveUp = () => end({ result: 'failure', message: `dial tcp ${addressOf(host, port)}: i/o timeout` });
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('connect', () => end({ result: 'success', message: '' }));
    socket.on('error', (error) => end({ result: 'failure', message: dialFailure(error, host, port) ?? error.message }));
  });
}
