/** What a thread that reads the past is told, and what it answers. */
import type { Past } from './past.ts';

/** What it is to read. */
export interface PastData {
  readonly path: string;
  readonly machines: string;
  readonly mode: 'past' | 'file';
}

/** A question, under a number of its own. */
export interface PastTask {
  readonly id: number;
  readonly ask: keyof Past;
  readonly args: readonly unknown[];
}

/** Its answer as JSON, which is parsed faster than a copy is made; or why there is none. */
export type PastNews = { readonly id: number } & (
  | { readonly json: string }
  | { readonly failed: string; readonly isMissing: boolean }
);
