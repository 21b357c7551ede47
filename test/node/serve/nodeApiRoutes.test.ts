/** Access to every path that a node serves, by the trees of its path table, for authorized and for all other users. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { PathTable } from '../../../kubelet-api/listener/paths.ts';
import { Authority, type KeyPair } from '../../../testing/apiserver/serving/authority.ts';
import { Reviewer } from '../../fakes/serving/reviewer.ts';
import { asked, atEnd, servedNode } from '../../fakes/serving/servedNode.ts';

const authority = new Authority();

/** Returns a certificate that expired in 2001. */
function expired(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = {
    commonName: 'alice',
    organizations: ['operators'],
    publicKey,
    dnsNames: [],
    ips: [],
    isSigned: true,
  };
  const cert = authority.sign(subject, { usage: 'client auth', from: Date.UTC(2001, 0), to: Date.UTC(2001, 1) });
  return { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), cert };
}

const STRANGERS: Readonly<Record<string, RequestOptions>> = {
  nothing: {},
  'a certificate of another authority': new Authority().issue({ name: 'alice', groups: ['operators'] }),
  'a certificate that has expired': expired(),
  'a token that nobody has': { headers: { authorization: 'Bearer unknown' } },
  'a password': { headers: { authorization: `Basic ${Buffer.from('alice:secret').toString('base64')}` } },
};
const visitor = authority.issue({ name: 'mallory', groups: ['visitors'] });
const operator = authority.issue({ name: 'alice', groups: ['operators'] });

/** Path and query below a tree that a request needs, for trees that cannot be requested alone. */
const BELOW: ReadonlyMap<string, string> = new Map([
  ['/containerLogs', '/default/web-node-1/main'],
  ['/exec', '/default/web-node-1/main?output=1&command=true'],
  ['/attach', '/default/web-node-1/main?output=1'],
  ['/portForward', '/default/web-node-1'],
  ['/run', '/default/web-node-1/main?cmd=true'],
  ['/checkpoint', '/default/web-node-1/main'],
  ['/stats', '/summary'],
]);
/** Trees with subresource permissions of their own. All others require the permission `proxy`. */
const RIGHTS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['/pods', ['pods', 'proxy']],
  ['/runningpods', ['pods', 'proxy']],
  ['/healthz', ['healthz', 'proxy']],
  ['/configz', ['configz', 'proxy']],
  ['/flagz', ['configz']],
  ['/statusz', ['statusz']],
  ['/stats', ['stats']],
  ['/logs', ['log']],
  ['/checkpoint', ['checkpoint']],
]);
const rightsOf = (tree: string): readonly string[] => {
  const root = `/${tree.split('/')[1]}`;
  return RIGHTS.get(root) ?? (root === '/metrics' ? ['metrics'] : ['proxy']);
};
const VERBS: readonly (readonly [method: string, verb: string])[] = [
  ['GET', 'get'],
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
  ['HEAD', ''],
  ['OPTIONS', ''],
];
const SPDY = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };

interface Row {
  readonly tree: string;
  readonly path: string;
  readonly method: string;
  readonly verb: string;
}

/** Creates a cluster node, and a row for each method of each of its trees. */
async function serveWholeNode() {
  const place = mkdtempSync(join(tmpdir(), 'ca-'));
  atEnd(() => rmSync(place, { recursive: true, force: true }));
  writeFileSync(join(place, 'ca.crt'), authority.cert);
  const reviewer = new Reviewer();
  // The node sends it only reviews.
  const reviewClient = reviewer as unknown as KubeClient;
  const { served } = await servedNode({
    cluster: { reviewClient, followServing: () => {} },
    flags: { '--client-ca-file': join(place, 'ca.crt'), '--address': '127.0.0.1' },
  });
  const agents = new Map<unknown, Agent>();
  const ask = (path: string, method: string, who: RequestOptions, headers: Readonly<Record<string, string>> = {}) => {
    // Clients without a certificate share a connection, because each request is authenticated separately.
    const agent = agents.get(who.cert) ?? new Agent({ keepAlive: true, maxSockets: 4 });
    if (!agents.has(who.cert)) atEnd(() => agent.destroy());
    agents.set(who.cert, agent);
    return asked(served.port(), path, { ...who, method, agent, headers: { ...Object(who.headers), ...headers } });
  };
  reviewer.allowed = () => true;
  const find = jest.spyOn(PathTable.prototype, 'find');
  await ask('/healthz', 'GET', operator);
  const [table] = find.mock.contexts;
  find.mockRestore();
  if (!(table instanceof PathTable)) throw new Error('no path table has been used');
  const trees = table.servedPaths;
  const rows = await Promise.all(
    trees.map(async (tree) => {
      const path = `${tree}${BELOW.get(tree) ?? ''}`;
      // A directory redirects to its path with a trailing slash.
      const { headers } = await ask(path, 'GET', operator);
      return VERBS.map(([method, verb]): Row => ({ tree, path: headers.location ?? path, method, verb }));
    }),
  );
  return { rows: rows.flat(), trees, reviewer, ask };
}

test('C38: requests without credentials or with unverified ones are rejected', async () => {
  const { rows, trees, reviewer, ask } = await serveWholeNode();
  // The trees that must not be lost. New ones are added to the rows automatically.
  for (const tree of ['/pods', '/logs', '/containerLogs', '/exec', '/attach', '/portForward', '/run', '/configz'])
    expect(trees).toContain(tree);
  const before = reviewer.count('SubjectAccessReview');
  for (const [credential, who] of Object.entries(STRANGERS)) {
    for (const { path, method } of rows) {
      const body = method === 'HEAD' ? '' : 'Unauthorized';
      expect([credential, path, method, await ask(path, method, who)]).toMatchObject([
        credential,
        path,
        method,
        { code: 401, body },
      ]);
      expect(await ask(path, method, who, SPDY)).toMatchObject({ code: 401 });
    }
  }
  expect(reviewer.count('SubjectAccessReview')).toBe(before);
}, 120_000);

test('C38: the error for a user without permissions names the required ones', async () => {
  const { rows, reviewer, ask } = await serveWholeNode();
  reviewer.allowed = ({ groups }) => groups.includes('operators');
  for (const { tree, path, method, verb } of rows) {
    const rights = rightsOf(tree).join(' ');
    const said = `Forbidden (user=mallory, verb=${verb}, resource=nodes, subresource(s)=[${rights}])\n`;
    expect(await ask(path, method, visitor)).toMatchObject({ code: 403, body: method === 'HEAD' ? '' : said });
  }
}, 120_000);

test('C38: each permission grants access to its own paths with its own verb, and no other permission or verb does', async () => {
  const { rows, reviewer, ask } = await serveWholeNode();
  let users = 0;
  /** Returns a user for whom nothing is cached yet. */
  const somebody = (): RequestOptions => {
    users += 1;
    reviewer.tokens.set(`token-${users}`, { username: `user-${users}` });
    return { headers: { authorization: `Bearer token-${users}` } };
  };
  for (const { tree, path, method, verb } of rows) {
    for (const right of rightsOf(tree)) {
      reviewer.allowed = ({ resourceAttributes: { verb: deed, subresource, name, resource } }) =>
        `${deed} ${resource}/${name}/${subresource}` === `${verb} nodes/node-1/${right}`;
      const { code } = await ask(path, method, somebody());
      expect([path, method, right, [401, 403].includes(code)]).toEqual([path, method, right, false]);
    }
    reviewer.allowed = ({ resourceAttributes: { verb: deed, subresource } }) =>
      deed !== verb || !rightsOf(tree).includes(subresource);
    expect([path, method, await ask(path, method, somebody())]).toMatchObject([path, method, { code: 403 }]);
  }
}, 120_000);

const ODD: readonly (readonly [path: string, code: number])[] = [
  ['/containerLogs/default/web-node-1/..%2f..%2fmain', 404],
  ['/containerLogs/default/..%2f..%2fetc/passwd', 404],
  ['/containerLogs/..%2f..%2f..%2fetc/web-node-1/main', 404],
  ['/containerLogs/default/web-node-1/main%00', 404],
  ['/containerLogs/default/web-node-1/%0d%0aX-Own:%20yes', 404],
  ['/containerLogs/default/web-node-1/constructor', 404],
  ['/containerLogs/default/__proto__/main', 404],
  ['/containerLogs/default/web-node-1/%ff', 404],
  [`/containerLogs/default/web-node-1/${'a'.repeat(100_000)}`, 404],
  ['/exec/default/web-node-1/..%2fmain?output=1&command=true', 500],
  ['/exec/default/web-node-1/__proto__?output=1&command=true', 500],
  ['/attach/default/web-node-1/%0d%0aX-Own:%20yes?output=1', 500],
  ['/portForward/default/%0d%0aX-Own:%20yes', 404],
  ['/run/default/web-node-1/..%2fmain?cmd=true', 405],
  ['/logs/..%2f..%2fetc%2fpasswd', 404],
  ['/logs/%2fetc%2fpasswd', 404],
];

test('an odd path exposes nothing, however a file system or a header would interpret it', async () => {
  const { ask } = await serveWholeNode();
  for (const [path, code] of ODD) {
    const answer = await ask(path, 'GET', operator);
    expect([path, answer.code]).toEqual([path, code]);
    expect(answer.headers['x-own']).toBeUndefined();
    expect(answer.body).not.toContain('root:');
  }
  expect((await ask('/healthz', 'GET', operator)).body).toBe('ok');
});
