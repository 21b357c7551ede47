/** Probes a container by opening a TCP connection. */
import { messageOf } from '../../../base/failure.ts';
import { dialFailureMessage, joinHostPort } from '../http/dialError.ts';
import type { Network } from '../http/network.ts';
import type { ProbeAttempt } from './probeAttempt.ts';

/** Succeeds once the connection is established, and closes the connection immediately. */
export function probeTcp(
  network: Pick<Network, 'connect'>,
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<ProbeAttempt> {
  return new Promise((resolve) => {
    const finishProbe = (outcome: ProbeAttempt) => {
      signal.removeEventListener('abort', abort);
      connection.destroy();
      resolve(outcome);
    };
    const abort = () =>
      finishProbe({ result: 'failure', message: `dial tcp ${joinHostPort(host, port)}: i/o timeout` });
    const describe = (error: unknown) => dialFailureMessage(error, host, port) ?? messageOf(error);
    const connection = network.connect(
      { host, port, isSecure: false },
      {
        onConnect: () => finishProbe({ result: 'success', message: '' }),
        onError: (error) => finishProbe({ result: 'failure', message: describe(error) }),
      },
    );
    signal.addEventListener('abort', abort, { once: true });
  });
}
