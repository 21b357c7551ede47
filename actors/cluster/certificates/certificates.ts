/**
 * Implements the ports through which the certificate machines request and store certificates. Private keys exist only
 * in this class and on disk.
 */

import { NodeFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import {
  type CertificateName,
  nodeSubject,
  type PersistedCertificate,
} from '../../../machines/certificate/certificate.ts';
import type { CertificatePorts } from '../../../machines/certificate/ports.ts';
import type { PortServices } from '../../boundary.ts';
import { awaitSigned } from './awaitSigned.ts';
import { CertificateFiles } from './certificateFiles.ts';
import { createNamedRequest, createRequest } from './createRequest.ts';
import { RequestKey } from './requestKey.ts';

export interface CertificateDependencies {
  readonly directory: string;
  /** Requests the client certificate while the node has no valid one. Defaults to the node's own client. */
  readonly bootstrapClient?: KubeClient | undefined;
  /** Called after a certificate has been replaced. Open connections still use the previous one. */
  readonly onRenewed: (name: CertificateName) => void;
}

interface CertificatesDependencies extends CertificateDependencies {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
}

const SIGNING_OPTIONS: Readonly<
  Record<CertificateName, { readonly signerName: string; readonly usages: readonly string[] }>
> = {
  client: { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['digital signature', 'client auth'] },
  serving: { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] },
};

/** A request that is waiting for its certificate, with its private key and the client that created it. */
interface PendingRequest {
  readonly uid: string;
  readonly key: string;
  readonly client: KubeClient;
  /** Whether the key is stored on disk so that a restarted agent can resume the request. */
  readonly isResumable: boolean;
}

export class CertificateManager {
  readonly #dependencies: CertificatesDependencies;
  readonly #files: Readonly<Record<CertificateName, CertificateFiles>>;
  readonly #requestKey: RequestKey;
  readonly #pendingRequests = new Map<CertificateName, PendingRequest>();
  readonly #certificates = new Map<CertificateName, PersistedCertificate>();

  constructor(dependencies: CertificatesDependencies) {
    const { files, directory, onError } = dependencies;
    const reportProblem = (problem: string) => onError('certificate', new NodeFailure('CertificateUnusable', problem));
    this.#dependencies = dependencies;
    this.#requestKey = new RequestKey(files, directory);
    this.#files = {
      client: new CertificateFiles(files, directory, 'client', reportProblem),
      serving: new CertificateFiles(files, directory, 'serving', reportProblem),
    };
  }

  readonly ports: Pick<PortServices, keyof CertificatePorts> = {
    readCertificate: async ({ name }) => {
      const certificate = await this.#files[name].read();
      if (certificate !== undefined) this.#certificates.set(name, certificate);
      return { certificate: certificate ?? null, chance: this.#dependencies.jitter() };
    },
    requestCertificate: async ({ name, names, resumes: isResumable }, options) => {
      const { nodeName, clock, onError } = this.#dependencies;
      const client = this.#selectClient(name);
      const requestedCertificate = { ...nodeSubject(nodeName), names };
      const requestTemplate = {
        client,
        certificate: requestedCertificate,
        ...SIGNING_OPTIONS[name],
        now: () => clock.now(),
      };
      const { csr, key } = isResumable
        ? await createNamedRequest(requestTemplate, this.#requestKey, {
            ...options,
            onInvalidKey: (failure) => onError('certificate', failure),
          })
        : await createRequest(requestTemplate, options);
      const { uid } = csr.metadata;
      this.#pendingRequests.set(name, { uid, key, client, isResumable });
      return { request: csr.metadata.name, uid, at: clock.now() };
    },
    awaitCertificate: async ({ name, request, uid, limitMs }, { signal }) => {
      const { clock, jitter, onRenewed } = this.#dependencies;
      const pendingRequest = this.#pendingRequests.get(name);
      if (pendingRequest?.uid !== uid)
        throw new NodeFailure('CertificateNotIssued', `the key for request ${request} is gone`);
      const signedCertificate = await awaitSigned(
        { name: request, uid },
        { client: pendingRequest.client, clock, jitter, signal, limitMs },
      );
      const certificate = await this.#files[name].write(signedCertificate, pendingRequest.key, clock.now());
      this.#pendingRequests.delete(name);
      if (pendingRequest.isResumable) await this.#requestKey.discard();
      this.#certificates.set(name, certificate);
      onRenewed(name);
      return { certificate, chance: jitter(), at: clock.now() };
    },
  };

  /**
   * Returns the client for a request. Without a valid client certificate, only the bootstrap client is authenticated.
   */
  #selectClient(name: CertificateName): KubeClient {
    const { client, bootstrapClient = client, clock } = this.#dependencies;
    const clientCertificate = this.#certificates.get('client');
    return name === 'serving' || (clientCertificate !== undefined && clock.now() < clientCertificate.notAfter)
      ? client
      : bootstrapClient;
  }
}
