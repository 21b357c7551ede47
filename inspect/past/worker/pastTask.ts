/** Defines the messages between the main thread and the thread that reads the past. */
import type { Past } from '../past.ts';

/** The recording to read. */
export interface PastWorkerData {
  readonly path: string;
  readonly machines: string;
  readonly mode: 'past' | 'file';
}

/** A request with a unique ID. */
export interface PastTask {
  readonly id: number;
  readonly method: keyof Past;
  readonly args: readonly unknown[];
}

/**
 * The response, or an error message. The response is serialized, because parsing JSON is faster than structured
 * cloning.
 */
export type PastResponse = { readonly id: number } & (
  | { readonly json: string }
  | { readonly errorMessage: string; readonly isMissing: boolean }
);
