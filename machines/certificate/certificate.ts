/** A certificate that the node keeps, as far as its machine decides by it: nothing in it is secret. */
import type { AlternativeNames } from '../../pod/node/alternativeNames.ts';

/** Whom the node shows it: the API server as its client, or those who ask the node. */
export type CertificateName = 'client' | 'serving';

export interface KeptCertificate {
  /** In milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly names: AlternativeNames;
}

/** As a kubelet: it is renewed somewhere in this part of its life, that not all nodes come at once. */
const EARLIEST = 0.7;
const SPREAD = 0.2;

/** When it is renewed; `chance` is from 0 to less than 1. */
export const renewalOf = ({ notBefore, notAfter }: KeptCertificate, chance: number): number =>
  notBefore + Math.round((notAfter - notBefore) * (EARLIEST + SPREAD * chance));
