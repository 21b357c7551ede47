/** A certificate that the node persists, as far as its machine needs it. Nothing here is secret. */
import type { AlternativeNames } from '../../kubernetes/node/alternativeNames.ts';

/** Whom the node shows it: the API server as its client, or those who ask the node. */
export type CertificateName = 'client' | 'serving';

/** The identity in a certificate. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export interface KeptCertificate {
  readonly subject: CertificateSubject;
  /** In milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly names: AlternativeNames;
}

const NODES = 'system:nodes';

/** Returns the subject that identifies a node to an API server. */
export const nodeSubject = (nodeName: string) => ({
  commonName: `system:node:${nodeName}`,
  organization: NODES,
});

/** Whether a subject is that of this node; it may have more organizations (`certSatisfiesTemplateLocked` in `util/certificate/certificate_manager.go` of client-go). */
export const isNodeSubject = ({ commonName, organizations }: CertificateSubject, nodeName: string): boolean => {
  const node = nodeSubject(nodeName);
  return commonName === node.commonName && organizations.includes(node.organization);
};

/** As a kubelet: it is renewed somewhere in this part of its life, that not all nodes come at once. */
const EARLIEST = 0.7;
const SPREAD = 0.2;

/** When it is renewed; `chance` is from 0 to less than 1. */
export const renewalOf = ({ notBefore, notAfter }: KeptCertificate, chance: number): number =>
  notBefore + Math.round((notAfter - notBefore) * (EARLIEST + SPREAD * chance));
