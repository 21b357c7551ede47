/** What a machine of a certificate asks of the world. Keys stay behind its ports: nothing that enters or leaves is secret. */
import type { AlternativeNames } from '../../kubernetes/node/alternativeNames.ts';
import type { CertificateName, KeptCertificate } from './certificate.ts';

export interface CertificatePorts {
  /** The certificate that the node has on disk; null for none. `chance` is from 0 to less than 1. */
  readCertificate: {
    input: { name: CertificateName };
    output: { certificate: KeptCertificate | null; chance: number };
  };
  /**
   * Makes a key, and asks the API server for a certificate for it: the answer is the request's name and UID there, and
   * when it was taken. Within a time limit. Where it `resumes`, a request that has been made before, be it by a former agent,
   * is gone on with while it is there, whatever has been decided of it.
   */
  requestCertificate: {
    input: { name: CertificateName; names: AlternativeNames; resumes: boolean };
    output: { request: string; uid: string; at: number };
  };
  /**
   * Waits until a request has been approved and signed, as long as the limit, and puts the certificate in use: on disk,
   * and for the connections, at the moment `at`. Rejects where it is denied, has failed, or is gone.
   */
  awaitCertificate: {
    input: { name: CertificateName; request: string; uid: string; limitMs: number };
    output: { certificate: KeptCertificate; chance: number; at: number };
  };
}
