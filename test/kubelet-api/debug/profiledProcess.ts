/**
 * A process with a small heap whose profiles are served, because a snapshot of the test's own process takes a minute. It
 * prints its port, and one secret for each way of storing it: in a string, and in the ways that the agent uses.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CachedToken } from '../../../actors/objects/tokens/cachedToken.ts';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import type { Secret } from '../../../host/secret.ts';
import { createTokenMatcher } from '../../../host/tokenMatcher.ts';
import { servePage } from '../../../inspect/servePage.ts';
import { profilesRoute } from '../../../kubelet-api/debug/profiles.ts';
import { tokenFileSource } from '../../../node/credentials/bearerToken.ts';
import { LastGood } from '../../../node/credentials/lastGood.ts';

const secret = () => randomBytes(24).toString('hex');

/** Objects that exist as long as the process. */
const stored: unknown[] = [];

/**
 * Returns an object that stores the token of a file. `contents` is popped, because a `read` that always returned the
 * token would store it too.
 */
async function bearerOf(contents: string[]): Promise<unknown> {
  const file = { errorPrefix: 'token', read: async () => contents.pop() ?? '' };
  const bearer = tokenFileSource({ file, lastGoodToken: new LastGood<Secret>(() => {}), monotonic: () => 0 });
  await bearer.token();
  return bearer;
}

/** Returns an inspection page that a browser has opened by its link. */
async function openedPage(token: string): Promise<unknown> {
  const openInspectedNode = async () => {
    throw new Error('nothing is shown');
  };
  const page = await servePage({
    address: { host: '127.0.0.1', port: 0 },
    token,
    directory: '/nowhere',
    openInspectedNode,
  });
  await fetch(page.url, { redirect: 'manual', headers: { connection: 'close' } });
  return page;
}

async function storeSecrets(): Promise<string> {
  const [inString, ofAccount, ofFile, ofNode, ofPage] = [secret(), secret(), secret(), secret(), secret()];
  stored.push(
    { inString },
    new CachedToken(ofAccount, 1, { monotonic: 0, now: 0 }, 0),
    await bearerOf([ofFile]),
    createTokenMatcher(ofNode),
    await openedPage(ofPage),
  );
  return JSON.stringify({ inString, ofAccount, ofFile, ofNode, ofPage });
}

const route = profilesRoute({ clock: new SimulatedClock(), command: () => [] });
const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://node');
  const { signal } = new AbortController();
  const groups = url.searchParams.getAll('group');
  const caller = { name: 'somebody', groups, extra: new Map() };
  route.handle({ request, response, url, caller, signal }).catch(() => response.destroy());
});
let secrets = await storeSecrets();
// Safe cast: the server listens on a port.
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port} ${secrets}\n`);
  secrets = '';
});
