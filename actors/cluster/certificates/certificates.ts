/** What the machines of a node's certificates ask for. Keys stay here, and on disk. */

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
import { askByName, askOnce } from './askCertificate.ts';
import { awaitSigned } from './awaitSigned.ts';
import { CertificateFiles } from './certificateFiles.ts';
import { RequestKey } from './requestKey.ts';

/** How a node has its certificates. */
export interface CertificateParts {
  readonly directory: string;
  /** Asks where the node has no certificate that is good; absent: it asks by what else it has. */
  readonly bootstrapClient?: KubeClient | undefined;
  /** There is another one: what is connected shows the former. */
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

/** A key until its certificate has come, and who asked for it. */
interface Pending {
  readonly uid: string;
  readonly key: string;
  readonly client: KubeClient;
  /** Whether the key is on disk as well. */
  readonly resumes: boolean;
}

export class Certificates {
  readonly #parts: Parts;
  readonly #files: Readonly<Record<CertificateName, CertificateFiles>>;
  readonly #requestKey: RequestKey;
  readonly #pending = new Map<CertificateName, Pending>();
  readonly #known = new Map<CertificateName, PersistedCertificate>();

  constructor(parts: Parts) {
    const { files, directory } = parts;
    this.#parts = parts;
    this.#requestKey = new RequestKey(files, directory);
    this.#files = {
      client: new CertificateFiles(files, directory, 'client'),
      serving: new CertificateFiles(files, directory, 'serving'),
    };
  }

  readonly ports: Pick<Services, keyof CertificatePorts> = {
    readCertificate: async ({ name }) => {
      const certificate = await this.#files[name].read();
      if (certificate !== undefined) this.#known.set(name, certificate);
      return { certificate: certificate ?? null, chance: this.#parts.jitter() };
    },
    requestCertificate: async ({ name, names, resumes }, options) => {
      const { nodeName, clock, onError } = this.#parts;
      const client = this.#clientFor(name);
      const wanted = { ...nodeSubject(nodeName), names };
      const asked = { client, wanted, ...SIGNERS[name], now: () => clock.now() };
      const { found, key } = resumes
        ? await askByName(asked, this.#requestKey, {
            ...options,
            onOther: (failure) => onError('certificate', failure),
          })
        : await askOnce(asked, options);
      const { uid } = found.metadata;
      this.#pending.set(name, { uid, key, client, resumes });
      return { request: found.metadata.name, uid, at: clock.now() };
    },
    awaitCertificate: async ({ name, request, uid, limitMs }, { signal }) => {
      const { clock, jitter, onRenewed } = this.#parts;
      const asked = this.#pending.get(name);
      if (asked?.uid !== uid) throw new NodeFailure('CertificateNotIssued', `the key for request ${request} is gone`);
      const signed = await awaitSigned(
        { name: request, uid },
        { client: asked.client, clock, jitter, signal, limitMs },
      );
      const certificate = await this.#files[name].write(signed, asked.key, clock.now());
      this.#pending.delete(name);
      if (asked.resumes) await this.#requestKey.forget();
      this.#known.set(name, certificate);
      onRenewed(name);
      return { certificate, chance: jitter(), at: clock.now() };
    },
  };

  /** Whoever has an expired certificate is nobody: it begins anew, if it can. */
  #clientFor(name: CertificateName): KubeClient {
    const { client, bootstrapClient = client, clock } = this.#parts;
    const own = this.#known.get('client');
    return name === 'serving' || (own !== undefined && clock.now() < own.notAfter) ? client : bootstrapClient;
  }
}
