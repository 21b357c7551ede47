/** Ports of the certificate machine. Private keys never pass through a port, so no input or output is secret. */
import type { AlternativeNames } from '../../kubernetes/node/alternativeNames.ts';
import type { CertificateName, PersistedCertificate } from './certificate.ts';

export interface CertificatePorts {
  /**
   * Reads the node's certificate from disk. The output is null if the certificate does not exist. `chance` is a random
   * number in [0, 1).
   */
  readCertificate: {
    input: { name: CertificateName };
    output: { certificate: PersistedCertificate | null; chance: number };
  };
  /**
   * Creates a key and a CertificateSigningRequest for it, within a time limit. Returns the request's name and UID, and
   * the current time. With `resumes`, reuses an existing request regardless of whether it has been approved and even if
   * an earlier agent created it.
   */
  requestCertificate: {
    input: { name: CertificateName; names: AlternativeNames; resumes: boolean };
    output: { request: string; uid: string; at: number };
  };
  /**
   * Waits up to `limitMs` until the request is approved and signed, then stores the certificate and uses it for
   * connections. The output `at` is the time from which the certificate is used. Rejects if the request is denied, has
   * failed or is gone.
   */
  awaitCertificate: {
    input: { name: CertificateName; request: string; uid: string; limitMs: number };
    output: { certificate: PersistedCertificate; chance: number; at: number };
  };
}
