/** What all tests of a file share, made in one line at its top. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, jest } from '@jest/globals';
import type { TestNode } from './node.ts';
import type { StartOptions, Statelet } from './statelet.ts';

/** On a real runtime a test may take its time. */
const LIMIT_MS = 180_000;

/** Makes something for all tests of a file; it is ended after the last of them. */
export async function forAllTests<T extends { end(): Promise<void> }>(make: () => Promise<T>): Promise<T> {
  jest.setTimeout(LIMIT_MS);
  const made = await withinLimit(make());
  afterAll(() => made.end());
  return made;
}

/** At the top of a file no limit of jest holds. What comes too late is ended all the same. */
async function withinLimit<T extends { end(): Promise<void> }>(making: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const over = pause(LIMIT_MS, undefined, timer).then(() => {
    void making.then((late) => late.end()).catch(() => {});
    throw new Error(`what all tests of this file share was not made in ${LIMIT_MS} ms`);
  });
  try {
    return await Promise.race([making, over]);
  } finally {
    // Nobody waits for it any more.
    over.catch(() => {});
    timer.abort();
  }
}

/** How the agent of a node begins. */
interface Beginning<N> extends StartOptions {
  /** Arguments of its command. */
  readonly args?: readonly string[];
  /** Is done to the node before. */
  readonly prepare?: (node: N) => Promise<unknown>;
}

/** Makes a node for all tests of a file, and starts its agent. */
export function nodeForAllTests<N extends TestNode>(
  make: () => Promise<N>,
  { prepare = async () => {}, ...options }: Beginning<N> = {},
): Promise<N & { readonly agent: Statelet }> {
  return forAllTests(async () => {
    const node = await make();
    try {
      await prepare(node);
      return { ...node, agent: await node.start(options) };
    } catch (error) {
      await node.end();
      throw error;
    }
  });
}
