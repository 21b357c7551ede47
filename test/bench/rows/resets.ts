/**
 * Measures clients that reset their TLS connection right after a request with a random token, and the descriptors that
 * remain open.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../base/time/clock.ts';
import { PathTable } from '../../../kubelet-api/listener/paths.ts';
import { serve } from '../../../kubelet-api/listener/server.ts';
import { Authority } from '../../../testing/apiserver/serving/authority.ts';
import { afterReset, openSockets, resetAfterRequest } from '../../host/support/resettingClients.ts';
import type { Figure } from '../report.ts';

const CONNECTIONS = 10_000;
/** Time within which the descriptors must be released. */
const RELEASE_MS = 10_000;
const REQUEST = 'GET /pods HTTP/1.1\r\nHost: node\r\nAuthorization: Bearer random';

/**
 * Returns the number of descriptors of the kubelet API that stay open. The server runs in this process, without a node.
 */
export async function resets(): Promise<Figure[]> {
  const pair = new Authority().issue({ name: 'node', groups: [] });
  const flags = { debugging: true, systemLogs: true, profiling: true, debugFlags: true };
  const route = { pathPrefix: '/pods', handle: async () => {} };
  let requests = 0;
  const admit = async () => {
    requests += 1;
    await afterReset();
    return { isAdmitted: false, code: 401, text: 'Unauthorized' } as const;
  };
  const { port, close } = await serve(
    { host: '127.0.0.1', port: 0 },
    {
      paths: new PathTable([route], flags),
      clock: systemClock,
      onError: () => {},
      access: { admit },
      tls: { cert: pair.cert, key: pair.key },
    },
  );
  const before = openSockets();
  await resetAfterRequest(port, CONNECTIONS, REQUEST);
  const rightAfter = openSockets() - before;
  await pause(RELEASE_MS);
  const left = openSockets() - before;
  await close();
  return [
    {
      row: 'resets',
      name: 'descriptors open 10 s after 10,000 resets',
      unit: 'descriptors',
      goal: 0,
      value: left,
      detail: `${requests} requests, ${rightAfter} descriptors right after the last`,
    },
  ];
}
