/** A process of little memory whose profiles are served at the port that it says: a snapshot of a test's own takes a minute. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { profilesRoute } from '../../../serving/debug/profiles.ts';

const route = profilesRoute({ clock: new SimulatedClock(), command: () => [] });
const caller = { name: 'kube-apiserver', groups: [], extra: new Map() };
const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://node');
  const { signal } = new AbortController();
  route.answer({ request, response, url, caller, signal }).catch(() => response.destroy());
});
// It listens on a port.
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
