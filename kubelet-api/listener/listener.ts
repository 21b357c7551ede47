/** The node's server: TLS with the node's certificate, a path for each route, and access control. */
import type { X509Certificate } from 'node:crypto';
import type { SecureServerOptions } from 'node:http2';
import { type TLSSocket, Server as TlsServer } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { Access } from '../access/access.ts';
import type { Route } from '../exchange.ts';
import { Paths, type Switches } from './paths.ts';
import { type Bound, type RequestListener, serve } from './server.ts';
import type { CertificatePair } from './servingCertificate.ts';
import { type Material, TlsFiles } from './tlsFiles.ts';
import { type TlsSettings, tlsNames } from './tlsNames.ts';

interface Address {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

interface Common {
  readonly address: Address;
  readonly routes: readonly Route[];
  readonly clock: Clock;
  /** Told of answers that have failed. */
  readonly onError: (error: unknown) => void;
  /** Told of each request. */
  readonly onRequest?: RequestListener | undefined;
}

/** One that looks at certificates is told of each connection before its first request. */
type Gatekeeper = Pick<Access, 'admit'> & Partial<Pick<Access, 'greet'>>;

interface ListenerOptions extends Common {
  readonly switches: Switches;
  /** Who may; it is given those who vouch for clients, where there are any. */
  readonly access: (clientAuthorities: (() => readonly X509Certificate[]) | undefined) => Gatekeeper;
  readonly tls: TlsSettings;
  readonly pair: CertificatePair;
  /** Whether the pair may come later: nobody can shake hands until then. */
  readonly isAwaited: boolean;
  readonly clientCaFile?: string;
  readonly files: FileSystem;
  /** Told of a certificate that cannot be used; the one before it stays. */
  readonly onProblem: (problem: string) => void;
}

export interface Listener extends Pick<Bound, 'port' | 'close'> {
  /** Looks at once whether there is another certificate. */
  readonly look: () => Promise<void>;
}

/** Listens at an address; rejects with a `NodeFailure` that says why not. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { address, routes, switches, access, clock, onError, onRequest, clientCaFile } = options;
  const files = new TlsFiles(options);
  const names = tlsNames(options.tls);
  const clients = clientCaFile === undefined ? {} : { requestCert: true, rejectUnauthorized: false };
  const material = await files.load().catch((cause: unknown) => {
    throw new NodeFailure('CertificateUnusable', `the node's server: ${messageOf(cause)}`, { cause });
  });
  const tls: SecureServerOptions = { ...names, ...clients, ...trusted(material) };
  const admits = access(clientCaFile === undefined ? undefined : () => files.authorities);
  const bound = await bind(address, {
    paths: new Paths(routes, switches),
    access: admits,
    onError,
    onRequest,
    clock,
    tls,
  });
  const { server } = bound;
  server.on('secureConnection', (socket: TLSSocket) => admits.greet?.(socket));
  files.follow((changed, isOfClients) => {
    if (server instanceof TlsServer) server.setSecureContext({ ...names, ...trusted(changed) });
    // Whom the former authorities vouched for may be nobody now.
    if (isOfClients) bound.renew();
  });
  const close = async () => {
    files.end();
    await bound.close();
  };
  return { port: bound.port, look: () => files.look(), close };
}

/** Without authorities of its own a server would take those of the host for them. */
const trusted = (material: Material) => ({ ca: [], ...material });

/** What a server without TLS shows everybody who reaches it: that alone of the routes that may be shown so. */
export async function listenPlain({
  address,
  routes,
  clock,
  onError,
  onRequest,
}: Common): Promise<Pick<Bound, 'port' | 'close'>> {
  const switches = { debugging: false, systemLogs: true, profiling: true, debugFlags: true };
  return bind(address, { paths: new Paths(routes, switches), onError, onRequest, clock });
}

async function bind(address: Address, options: Parameters<typeof serve>[1]): Promise<Bound> {
  try {
    return await serve(address, options);
  } catch (cause) {
    const { host, port } = address;
    const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const isTaken = errorCode(cause) === 'EADDRINUSE';
    const why = isTaken ? `${place} is in use by another process` : `cannot listen on ${place}: ${messageOf(cause)}`;
    throw new NodeFailure('AddressUnusable', why, { cause });
  }
}
