/** What the listener needs of who decides about its clients. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../exchange.ts';

/** A request before anybody knows whose it is. */
export interface Asked {
  readonly request: IncomingMessage;
  /** As it is routed: without anything that leads elsewhere. */
  readonly path: string;
  /** Of the client's certificate, if it has shown one: in DER, and whether the authorities of clients vouch for it. */
  readonly certificate?: ShownCertificate;
  /** Aborts when the client has gone, or the server ends. */
  readonly signal: AbortSignal;
}

export interface ShownCertificate {
  readonly der: Buffer;
  readonly isTrusted: boolean;
}

/** Whose request it is, and that it may; or the answer to it. */
export type Admission =
  | { readonly caller: Caller }
  | { readonly refusal: { readonly code: number; readonly text: string } };

export interface Access {
  admit(asked: Asked): Promise<Admission>;
}
