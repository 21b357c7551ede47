/** Creates the node's server with TLS, routes and access control. */
import type { X509Certificate } from 'node:crypto';
import type { SecureServerOptions } from 'node:http2';
import { type TLSSocket, Server as TlsServer } from 'node:tls';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import type { Access } from '../access/access.ts';
import type { Route } from '../exchange.ts';
import { type EnabledFeatures, PathTable } from './paths.ts';
import { type BoundServer, type RequestListener, serve } from './server.ts';
import type { CertificatePair } from './servingCertificate.ts';
import { TlsFiles, type TlsMaterial } from './tlsFiles.ts';
import { type TlsSettings, toTlsOptions } from './tlsNames.ts';

interface ListenAddress {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

interface CommonOptions {
  readonly address: ListenAddress;
  readonly routes: readonly Route[];
  readonly clock: Clock;
  /** Called when a route fails. */
  readonly onError: (error: unknown) => void;
  readonly onRequest?: RequestListener | undefined;
}

/**
 * Access control. `greet` is present if client certificates are checked, and is called for each connection before its
 * first request.
 */
type AccessControl = Pick<Access, 'admit'> & Partial<Pick<Access, 'greet'>>;

interface ListenerOptions extends CommonOptions {
  readonly enabledFeatures: EnabledFeatures;
  /**
   * Creates the access control. `clientAuthorities` returns the current client CAs and is undefined if none are
   * configured.
   */
  readonly access: (clientAuthorities: (() => readonly X509Certificate[]) | undefined) => AccessControl;
  readonly tls: TlsSettings;
  readonly certificatePair: CertificatePair;
  /** Whether to start without the certificate and key. TLS handshakes fail until they exist. */
  readonly isAwaited: boolean;
  readonly clientCaFile?: string;
  readonly files: FileSystem;
  /** Called if a certificate cannot be used. The previous certificate stays in use. */
  readonly onProblem: (problem: string) => void;
}

export interface Listener extends Pick<BoundServer, 'port' | 'close'> {
  /** Checks immediately whether the certificate files have changed. */
  readonly checkFilesNow: () => Promise<void>;
}

/** Listens on an address. Rejects with a `NodeFailure` that states the reason. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { address, routes, enabledFeatures, access, clock, onError, onRequest, clientCaFile } = options;
  const files = new TlsFiles(options);
  const tlsOptions = toTlsOptions(options.tls);
  const clientOptions = clientCaFile === undefined ? {} : { requestCert: true, rejectUnauthorized: false };
  const material = await files.load().catch((cause: unknown) => {
    throw new NodeFailure('CertificateUnusable', `the node's server: ${messageOf(cause)}`, { cause });
  });
  const tls: SecureServerOptions = { ...tlsOptions, ...clientOptions, ...toSecureContext(material) };
  const accessControl = access(clientCaFile === undefined ? undefined : () => files.authorities);
  const boundServer = await bind(address, {
    paths: new PathTable(routes, enabledFeatures),
    access: accessControl,
    onError,
    onRequest,
    clock,
    tls,
  });
  const { server } = boundServer;
  server.on('secureConnection', (socket: TLSSocket) => accessControl.greet?.(socket));
  files.follow((nextMaterial, haveAuthoritiesChanged) => {
    if (server instanceof TlsServer) server.setSecureContext({ ...tlsOptions, ...toSecureContext(nextMaterial) });
    // Force clients to reconnect, because their certificates may have been issued by a CA that is no longer trusted.
    if (haveAuthoritiesChanged) boundServer.renew();
  });
  const close = async () => {
    files.end();
    await boundServer.close();
  };
  return { port: boundServer.port, checkFilesNow: () => files.checkNow(), close };
}

/** Sets `ca` explicitly, to an empty list by default, because OpenSSL would otherwise trust the CAs of the host. */
const toSecureContext = (material: TlsMaterial) => ({ ca: [], ...material });

/**
 * Serves routes without TLS or access control. The debugging routes are disabled, because they are not safe to expose
 * to every client.
 */
export async function listenPlain({
  address,
  routes,
  clock,
  onError,
  onRequest,
}: CommonOptions): Promise<Pick<BoundServer, 'port' | 'close'>> {
  const enabledFeatures = { debugging: false, systemLogs: true, profiling: true, debugFlags: true };
  return bind(address, { paths: new PathTable(routes, enabledFeatures), onError, onRequest, clock });
}

async function bind(address: ListenAddress, options: Parameters<typeof serve>[1]): Promise<BoundServer> {
  try {
    return await serve(address, options);
  } catch (cause) {
    const { host, port } = address;
    const hostAndPort = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const isAddressInUse = errorCode(cause) === 'EADDRINUSE';
    const why = isAddressInUse
      ? `${hostAndPort} is in use by another process`
      : `cannot listen on ${hostAndPort}: ${messageOf(cause)}`;
    throw new NodeFailure('AddressUnusable', why, { cause });
  }
}
