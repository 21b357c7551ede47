/** Defines the properties of a persisted node certificate that the certificate machine uses. None of them is secret. */
import type { AlternativeNames } from '../../kubernetes/node/alternativeNames.ts';

/**
 * The purpose of a certificate: authenticating to the API server (`client`) or serving the node's own HTTPS API
 * (`serving`).
 */
export type CertificateName = 'client' | 'serving';

export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export interface PersistedCertificate {
  readonly subject: CertificateSubject;
  /** Start of the validity in milliseconds since the epoch. */
  readonly notBefore: number;
  /** End of the validity in milliseconds since the epoch. */
  readonly notAfter: number;
  readonly names: AlternativeNames;
}

const NODES_ORGANIZATION = 'system:nodes';

export const nodeSubject = (nodeName: string) => ({
  commonName: `system:node:${nodeName}`,
  organization: NODES_ORGANIZATION,
});

/**
 * Whether a subject identifies this node. It may contain additional organizations (`certSatisfiesTemplateLocked` in
 * `util/certificate/certificate_manager.go` of client-go).
 */
export const isNodeSubject = ({ commonName, organizations }: CertificateSubject, nodeName: string): boolean => {
  const node = nodeSubject(nodeName);
  return commonName === node.commonName && organizations.includes(node.organization);
};

/**
 * Earliest time of renewal as a fraction of the lifetime. Like a kubelet, the node renews a certificate between 70% and
 * 90% of its lifetime, so that nodes do not all renew at the same time.
 */
const EARLIEST_RENEWAL = 0.7;
const RENEWAL_SPREAD = 0.2;

/** Returns the time of renewal in milliseconds since the epoch. `chance` is a random number in [0, 1). */
export const renewalTime = ({ notBefore, notAfter }: PersistedCertificate, chance: number): number =>
  notBefore + Math.round((notAfter - notBefore) * (EARLIEST_RENEWAL + RENEWAL_SPREAD * chance));
