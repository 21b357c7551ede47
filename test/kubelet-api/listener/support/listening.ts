/** Starts the node's server over TLS on loopback with its own certificates, and clients for it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterEach } from '@jest/globals';
import { systemClock } from '../../../../base/time/clock.ts';
import { hostFiles } from '../../../../host/files/fileSystem.ts';
import type { Admission } from '../../../../kubelet-api/access/access.ts';
import type { Route } from '../../../../kubelet-api/exchange.ts';
import { type Listener, listen } from '../../../../kubelet-api/listener/listener.ts';
import { Authority, type KeyPair } from '../../../../testing/apiserver/serving/authority.ts';

/** The authority that signs the certificates of servers and clients. */
export const authority = new Authority();
export const other = new Authority();
export const server = authority.issue({ name: 'node', groups: [] });
export const client = authority.issue({ name: 'kubectl', groups: ['system:masters'] });
export const stranger = other.issue({ name: 'kubectl', groups: ['system:masters'] });

export const ALL_ON = { debugging: true, systemLogs: true, profiling: true, debugFlags: true };
/** TLS settings for tests that do not depend on them. */
export const TLS = { minVersion: '', cipherSuites: [], curves: [] };

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Creates a directory that is removed after the test. */
export function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'listener-'));
  ends.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Calls the function after the test. */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

export const route = (pathPrefix: string, handle: Route['handle']): Route => ({ pathPrefix, handle });
/** Returns a route that responds with the name of the caller and the requested path. */
export const echo = (tree: string): Route =>
  route(tree, async ({ response, caller, url }) => void response.end(`${caller.name} ${url.pathname}${url.search}`));

/** Admits clients with a verified certificate as `kubectl`, and rejects all others. */
export const byCertificate = async ({
  socket,
}: {
  readonly socket?: Pick<TLSSocket, 'authorized'>;
}): Promise<Admission> =>
  socket?.authorized
    ? { isAdmitted: true, caller: { name: 'kubectl', groups: [], extra: new Map() } }
    : { isAdmitted: false, code: 401, text: 'Unauthorized' };

const anybody = async (): Promise<Admission> => ({
  isAdmitted: true,
  caller: { name: 'anybody', groups: [], extra: new Map() },
});

export interface Listening extends Listener {
  readonly directory: string;
  /** Replaces the certificate of the server. */
  lay(pair: KeyPair): void;
  layAuthority(cert: string): void;
  readonly problems: string[];
  readonly errors: unknown[];
  ask(path: string, options?: RequestOptions): Promise<Answered>;
  connect(options?: ConnectionOptions): Promise<TLSSocket>;
}

interface Answered {
  readonly code: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

type Options = Partial<Parameters<typeof listen>[0]> & { readonly isCertificateThere?: boolean };

/** Starts a server. It serves `/pods` to everybody by default. */
export async function listening({ isCertificateThere = true, ...options }: Options = {}): Promise<Listening> {
  const place = directory();
  const [certFile, keyFile, clientCaFile] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => join(place, name)) as [
    ...[string, string, string],
  ];
  const lay = ({ cert, key }: KeyPair) => {
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  };
  const layAuthority = (cert: string) => writeFileSync(clientCaFile, cert);
  if (isCertificateThere) lay(server);
  layAuthority(authority.cert);
  const [problems, errors]: [string[], unknown[]] = [[], []];
  const listener = await listen({
    address: { host: '127.0.0.1', port: 0 },
    routes: [echo('/pods')],
    enabledFeatures: ALL_ON,
    tls: TLS,
    certificatePair: { certFile, keyFile },
    isAwaited: false,
    clientCaFile,
    files: hostFiles,
    clock: systemClock,
    access: () => ({ admit: anybody }),
    onError: (error) => void errors.push(error),
    onProblem: (problem) => void problems.push(problem),
    ...options,
  });
  ends.push(() => listener.close());
  const { port } = listener;
  return {
    ...listener,
    directory: place,
    lay,
    layAuthority,
    problems,
    errors,
    ask: (path, requestOptions = {}) => ask(port, path, requestOptions),
    connect: async (requestOptions = {}) => {
      const socket = connect({
        host: '127.0.0.1',
        port,
        ca: authority.cert,
        servername: 'localhost',
        ...requestOptions,
      });
      ends.push(() => socket.destroy());
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      return socket;
    },
  };
}

/** Sends a request on its own connection, unless the options contain an agent. */
async function ask(port: number, path: string, options: RequestOptions): Promise<Answered> {
  const agent = new Agent({ keepAlive: false });
  const clientRequest = request({
    host: '127.0.0.1',
    port,
    path,
    ca: authority.cert,
    servername: 'localhost',
    agent,
    ...options,
  });
  clientRequest.on('error', () => {});
  clientRequest.end();
  const [response] = await once(clientRequest, 'response');
  return { code: response.statusCode, headers: response.headers, body: await text(response) };
}

/** Returns everything received until the connection is closed. */
export async function allFrom(socket: TLSSocket): Promise<string> {
  let all = '';
  socket.on('data', (chunk) => {
    all += String(chunk);
  });
  await once(socket, 'close');
  return all;
}
