import type { IncomingMessage, ServerResponse } from 'node:http';
import { type BuiltImage, OCI_MANIFEST_TYPE } from '../../../cri/managed/images/ociArchive.ts';
import { loopbackServer } from './loopbackServer.ts';
import { registryCertificate as cert, registryKey as key } from './registryCertificate.ts';

/** A registry for a test that only this host can reach. */
export interface Registry {
  /** The prefix of its image names, e.g. `127.0.0.1:5000`. */
  readonly host: string;
  /** The user of each request, in order. Empty for anonymous requests. */
  readonly requestUsers: readonly string[];
  end(): Promise<void>;
}

interface User {
  readonly username: string;
  readonly password: string;
}

/**
 * Authenticates a request and returns its user. If it rejects the request, it sends the response and returns undefined.
 */
type Door = (request: IncomingMessage, response: ServerResponse) => string | undefined;

/** Serves one image under every repository and tag through the registry API. */
export const openRegistry = (image: BuiltImage): Promise<Registry> => serve(image, () => passwordDoor(() => true));

/** Like `openRegistry`, but responds with 401 to everyone except this user. */
export const guardedRegistry = (image: BuiltImage, { username, password }: User): Promise<Registry> =>
  serve(image, () => passwordDoor((given) => given === `${username}:${password}`));

/** Like `guardedRegistry`, over TLS and with several users. */
export const tlsRegistry = (image: BuiltImage, users: readonly User[]): Promise<Registry> =>
  serve(image, () => passwordDoor(knows(users)), { key, cert });

/** Serves an image over TLS with token authentication for these users. */
export const tokenRegistry = (image: BuiltImage, users: readonly User[]): Promise<Registry> =>
  serve(image, (host) => tokenDoor(`https://${host}/token`, knows(users)), { key, cert });

const knows =
  (users: readonly User[]) =>
  (given: string): boolean =>
    users.some(({ username, password }) => given === `${username}:${password}`);

const userOf = (given: string): string => given.split(':')[0] ?? '';

function givenBy({ headers }: IncomingMessage): string {
  const [, given = ''] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? [];
  return Buffer.from(given, 'base64').toString();
}

const passwordDoor =
  (isAllowed: (given: string) => boolean): Door =>
  (request, response) => {
    const given = givenBy(request);
    if (isAllowed(given)) return userOf(given);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
    return undefined;
  };

/** Issues tokens at a URL to users with the right password, and rejects others. */
const tokenDoor =
  (realm: string, isAllowed: (given: string) => boolean): Door =>
  (request, response) => {
    const given = givenBy(request);
    const [, token = ''] = /^Bearer token-of-(.*)$/.exec(request.headers.authorization ?? '') ?? [];
    if (token !== '') return token;
    // Responds to a token request by POST with 404, so that the client retries with GET.
    if (!request.url?.startsWith('/token')) {
      const repository = /^\/v2\/(.*)\/(?:manifests|blobs)\//.exec(request.url ?? '')?.[1] ?? '';
      const challenge = `Bearer realm="${realm}",service="test",scope="repository:${repository}:pull"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
    } else if (request.method !== 'GET') response.writeHead(404).end();
    else if (!isAllowed(given)) response.writeHead(401).end();
    else response.end(JSON.stringify({ token: `token-of-${userOf(given)}` }));
    return undefined;
  };

async function serve(
  image: BuiltImage,
  doorOf: (host: string) => Door,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Registry> {
  const requestUsers: string[] = [];
  const { port, end } = await loopbackServer((request, response) => {
    requestUsers.push(userOf(givenBy(request)));
    if (door(request, response) !== undefined) serveImage(image, request, response);
  }, tls);
  const host = `127.0.0.1:${port}`;
  const door = doorOf(host);
  return { host, requestUsers, end };
}

function serveImage(
  { manifest, blobs }: BuiltImage,
  { url = '', method }: IncomingMessage,
  response: ServerResponse,
): void {
  const [, kind, what = ''] = /\/(manifests|blobs)\/([^/]+)$/.exec(url) ?? [];
  const digest = kind === 'manifests' && !what.startsWith('sha256:') ? manifest.digest : what;
  const content = blobs.find((blob) => blob.digest === digest)?.content;
  if (content === undefined) {
    response.writeHead(kind === undefined ? 200 : 404).end();
    return;
  }
  const type = digest === manifest.digest ? OCI_MANIFEST_TYPE : 'application/octet-stream';
  response.writeHead(200, {
    'content-type': type,
    'content-length': content.length,
    'docker-content-digest': digest,
  });
  response.end(method === 'HEAD' ? undefined : content);
}
