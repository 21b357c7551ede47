/** Tests every path of the node's server with each method, and with valid and invalid credentials, over real TLS. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../../base/time/clock.ts';
import { type Access, createAccess } from '../../../kubelet-api/access/access.ts';
import { Authority, type KeyPair } from '../../../testing/apiserver/serving/authority.ts';
import { Reviewer } from '../../fakes/serving/reviewer.ts';

const authority = new Authority();
const stranger = new Authority();
const end = new AbortController();
const reviewer = new Reviewer();
const agents = new Map<string, Agent>();
let server: Server;

/** Each path with the subresources of `nodes`, one of which a caller needs access to. */
const PATHS: readonly (readonly [path: string, subresources: readonly string[]])[] = [
  ['/pods', ['pods', 'proxy']],
  ['/pods/', ['pods', 'proxy']],
  ['/runningpods/', ['pods', 'proxy']],
  ['/healthz', ['healthz', 'proxy']],
  ['/healthz/syncloop', ['healthz', 'proxy']],
  ['/configz', ['configz', 'proxy']],
  ['/flagz', ['configz']],
  ['/statusz', ['statusz']],
  ['/stats/summary', ['stats']],
  ['/metrics', ['metrics']],
  ['/metrics/cadvisor', ['metrics']],
  ['/metrics/probes', ['metrics']],
  ['/metrics/resource', ['metrics']],
  ['/metrics/slis', ['metrics']],
  ['/logs/', ['log']],
  ['/logs/syslog', ['log']],
  ['/checkpoint/ns/pod/main', ['checkpoint']],
  ['/containerLogs/ns/pod/main', ['proxy']],
  ['/exec/ns/pod/main', ['proxy']],
  ['/attach/ns/pod/uid/main', ['proxy']],
  ['/portForward/ns/pod', ['proxy']],
  ['/run/ns/pod/main', ['proxy']],
  ['/debug/pprof/profile', ['proxy']],
  ['/debug/flags/v', ['proxy']],
  // Paths that merely start with the same letters are different paths.
  ['/podsx', ['proxy']],
  ['/metricsx/cadvisor', ['proxy']],
  ['/logsx', ['proxy']],
];
const METHODS: readonly (readonly [method: string, verb: string])[] = [
  ['GET', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
  ['OPTIONS', ''],
];

/** Returns a certificate that expired in 2001. */
function expired(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificateRequest = {
    commonName: 'alice',
    organizations: ['operators'],
    publicKey,
    dnsNames: [],
    ips: [],
    isSigned: true,
  };
  const times = { from: Date.UTC(2001, 0), to: Date.UTC(2001, 1) };
  const cert = authority.sign(certificateRequest, { usage: 'client auth', ...times });
  return { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), cert };
}

const CREDENTIALS: Readonly<Record<string, KeyPair | string | undefined>> = {
  none: undefined,
  wrongAuthority: stranger.issue({ name: 'alice', groups: ['operators'] }),
  expired: expired(),
  wrongGroup: authority.issue({ name: 'mallory', groups: ['visitors'] }),
  operator: authority.issue({ name: 'alice', groups: ['developers', 'operators'] }),
  unknownToken: 'nobody-has-it',
  wrongGroupToken: 'visitors-token',
  operatorToken: 'operators-token',
};

interface Told {
  readonly code: number | undefined;
  readonly type: string | undefined;
  readonly text: string;
}

function ask(credential: string, method: string, path: string): Promise<Told> {
  const given = CREDENTIALS[credential];
  const agent = agents.get(credential) ?? new Agent({ keepAlive: true, maxSockets: 4 });
  agents.set(credential, agent);
  const { port } = server.address() as AddressInfo;
  const shown = typeof given === 'string' ? { headers: { authorization: `Bearer ${given}` } } : given;
  return new Promise((done, fail) => {
    const options = { host: '127.0.0.1', port, ca: authority.cert, agent, method, path, ...shown };
    const clientRequest = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => done({ code: response.statusCode, type: response.headers['content-type'], text }));
    });
    clientRequest.on('error', fail).end();
  });
}

beforeAll(async () => {
  reviewer.tokens.set('visitors-token', { username: 'mallory', groups: ['visitors'] });
  reviewer.tokens.set('operators-token', { username: 'alice', groups: ['operators'] });
  const authorities = [new X509Certificate(authority.cert)];
  const access: Access = createAccess({
    nodeName: 'node-1',
    clock: systemClock,
    signal: end.signal,
    client: reviewer,
    authentication: { isAnonymousAllowed: false, webhook: { cacheMs: 120_000 } },
    // Disable the cache, so that each request is authorized separately.
    authorization: { mode: 'Webhook', allowedMs: 0, deniedMs: 0 },
    clientAuthorities: () => authorities,
    onError: () => undefined,
  });
  const tls = { ...authority.issue({ name: 'node', groups: [] }), ca: authority.cert };
  server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false }, async (request, response) => {
    const asking = { request, path: request.url ?? '', signal: end.signal };
    // Safe cast: an HTTPS server has only TLS sockets.
    const answer = await access.admit({ ...asking, socket: request.socket as TLSSocket });
    response.writeHead(answer.isAdmitted ? 200 : answer.code, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(answer.isAdmitted ? answer.caller.name : answer.text);
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
});
afterAll(async () => {
  end.abort();
  for (const agent of agents.values()) agent.destroy();
  await new Promise((done) => void server.close(done));
});

const TYPE = 'text/plain; charset=utf-8';
const UNAUTHORIZED: Told = { code: 401, type: TYPE, text: 'Unauthorized' };
const ROWS = PATHS.flatMap(([path, subresources]) =>
  METHODS.map(([method, verb]) => ({ path, subresources, method, verb })),
);

const forbidden = (user: string, verb: string, subresources: readonly string[]): Told => ({
  code: 403,
  type: TYPE,
  text: `Forbidden (user=${user}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])\n`,
});

test.each(['none', 'wrongAuthority', 'expired', 'unknownToken'])(
  'every path rejects the credential %s as unauthorized',
  async (credential) => {
    reviewer.allowed = () => true;
    for (const { path, method } of ROWS) expect(await ask(credential, method, path)).toEqual(UNAUTHORIZED);
  },
);

test.each(['wrongGroup', 'wrongGroupToken'])('every path is forbidden for the credential %s', async (credential) => {
  reviewer.allowed = ({ groups }) => groups.includes('operators');
  for (const { path, method, verb, subresources } of ROWS)
    expect(await ask(credential, method, path)).toEqual(forbidden('mallory', verb, subresources));
});

test.each(['operator', 'operatorToken'])(
  'any of the permissions that a path requires admits %s',
  async (credential) => {
    for (const { path, method, verb, subresources } of ROWS) {
      for (const right of subresources) {
        reviewer.allowed = ({ groups, resourceAttributes: { verb: requestedVerb, subresource, name, resource } }) =>
          groups.includes('operators') &&
          requestedVerb === verb &&
          `${resource}/${name}/${subresource}` === `nodes/node-1/${right}`;
        expect(await ask(credential, method, path)).toEqual({ code: 200, type: TYPE, text: 'alice' });
      }
    }
  },
);

test.each(['operator', 'operatorToken'])('no other verb or permission admits %s to any path', async (credential) => {
  for (const { path, method, verb, subresources } of ROWS) {
    reviewer.allowed = ({ resourceAttributes: { verb: requestedVerb, subresource } }) =>
      requestedVerb !== verb || !subresources.includes(subresource);
    expect(await ask(credential, method, path)).toEqual(forbidden('alice', verb, subresources));
  }
});
