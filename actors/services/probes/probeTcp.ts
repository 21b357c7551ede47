/** Tries a probe by opening a connection. */
import { messageOf } from '../../../base/failure.ts';
import { addressOf, dialFailure } from '../http/dialError.ts';
import type { Network } from '../http/network.ts';
import type { Try } from './probeTry.ts';

/** That it could be opened is success: it is closed at once. */
export function tryTcp(
  network: Pick<Network, 'connect'>,
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<Try> {
  return new Promise((resolve) => {
    const end = (outcome: Try) => {
      signal.removeEventListener('abort', giveUp);
      connection.destroy();
      resolve(outcome);
    };
    const giveUp = () => end({ result: 'failure', message: `dial tcp ${addressOf(host, port)}: i/o timeout` });
    const wordsOf = (error: unknown) => dialFailure(error, host, port) ?? messageOf(error);
    const connection = network.connect(
      { host, port, isSecure: false },
      {
        onConnect: () => end({ result: 'success', message: '' }),
        onError: (error) => end({ result: 'failure', message: wordsOf(error) }),
      },
    );
    signal.addEventListener('abort', giveUp, { once: true });
  });
}
