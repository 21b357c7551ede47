/** Implements the ports of the certificate machines. Private keys exist only in this class and on disk. */

import type { Clock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import type { FileSystem } from '../../../host/files/fileSystem.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import {
  type CertificateName,
  nodeSubject,
  type PersistedCertificate,
} from '../../../machines/certificate/certificate.ts';
import type { CertificatePorts } from '../../../machines/certificate/ports.ts';
import type { Services } from '../../boundary.ts';
import { awaitSigned } from './awaitSigned.ts';
import { CertificateFiles } from './certificateFiles.ts';
import { createNamedRequest, createRequest } from './createRequest.ts';
import { RequestKey } from './requestKey.ts';

export interface CertificateParts {
  readonly directory: string;
  /** Requests certificates while the node has no valid client certificate. Defaults to the node's own client. */
  readonly bootstrapClient?: KubeClient | undefined;
  /** Called after a certificate was replaced. Open connections still use the previous one. */
  readonly onRenewed: (name: CertificateName) => void;
}

interface Parts extends CertificateParts {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly onError: (source: string, error: unknown) => void;
}

const SIGNERS: Readonly<Record<CertificateName, { readonly signerName: string; readonly usages: readonly string[] }>> =
  {
    client: { signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['digital signature', 'client auth'] },
    serving: { signerName: 'kubernetes.io/kubelet-serving', usages: ['digital signature', 'server auth'] },
  };

/** A request that is waiting for its certificate, with its private key and the client that created it. */
interface Pending {
  readonly uid: string;
  readonly key: string;
  readonly client: KubeClient;
  /** Whether the key is stored on disk so that a restarted agent can resume the request. */
  readonly resumes: boolean;
}

export class Certificates {
  readonly #parts: Parts;
  readonly #files: Readonly<Record<CertificateName, CertificateFiles>>;
  readonly #requestKey: RequestKey;
  readonly #pending = new Map<CertificateName, Pending>();
  readonly #certificates = new Map<CertificateName, PersistedCertificate>();

  constructor(parts: Parts) {
    const { files, directory, onError } = parts;
    const report = (problem: string) => onError('certificate', new NodeFailure('CertificateUnusable', problem));
    this.#parts = parts;
    this.#requestKey = new RequestKey(files, directory);
    this.#files = {
      client: new CertificateFiles(files, directory, 'client', report),
      serving: new CertificateFiles(files, directory, 'serving', report),
    };
  }

  readonly ports: Pick<Services, keyof CertificatePorts> = {
    readCertificate: async ({ name }) => {
      const certificate = await this.#files[name].read();
      if (certificate !== undefined) this.#certificates.set(name, certificate);
      return { certificate: certificate ?? null, chance: this.#parts.jitter() };
    },
    requestCertificate: async ({ name, names, resumes }, options) => {
      const { nodeName, clock, onError } = this.#parts;
      const client = this.#clientFor(name);
      const wanted = { ...nodeSubject(nodeName), names };
      const template = { client, wanted, ...SIGNERS[name], now: () => clock.now() };
      const { csr, key } = resumes
        ? await createNamedRequest(template, this.#requestKey, {
            ...options,
            onInvalidKey: (failure) => onError('certificate', failure),
          })
        : await createRequest(template, options);
      const { uid } = csr.metadata;
      this.#pending.set(name, { uid, key, client, resumes });
      return { request: csr.metadata.name, uid, at: clock.now() };
    },
    awaitCertificate: async ({ name, request, uid, limitMs }, { signal }) => {
      const { clock, jitter, onRenewed } = this.#parts;
      const pending = this.#pending.get(name);
      if (pending?.uid !== uid) throw new NodeFailure('CertificateNotIssued', `the key for request ${request} is gone`);
      const signed = await awaitSigned(
        { name: request, uid },
        { client: pending.client, clock, jitter, signal, limitMs },
      );
      const certificate = await this.#files[name].write(signed, pending.key, clock.now());
      this.#pending.delete(name);
      if (pending.resumes) await this.#requestKey.discard();
      this.#certificates.set(name, certificate);
      onRenewed(name);
      return { certificate, chance: jitter(), at: clock.now() };
    },
  };

  /**
   * Returns the client for a request. Without a valid client certificate, only the bootstrap client is authenticated.
   */
  #clientFor(name: CertificateName): KubeClient {
    const { client, bootstrapClient = client, clock } = this.#parts;
    const clientCertificate = this.#certificates.get('client');
    return name === 'serving' || (clientCertificate !== undefined && clock.now() < clientCertificate.notAfter)
      ? client
      : bootstrapClient;
  }
}
