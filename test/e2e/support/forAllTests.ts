/** Setup that all tests of a file share, in one line at its top. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, jest } from '@jest/globals';
import type { TestNode } from './node.ts';
import type { StartOptions, Statelet } from './statelet.ts';

/** Time limit in milliseconds. Tests on a real runtime can be slow. */
const LIMIT_MS = 180_000;

/** Creates something for all tests of a file, and ends it after the last test. */
export async function forAllTests<T extends { end(): Promise<void> }>(make: () => Promise<T>): Promise<T> {
  jest.setTimeout(LIMIT_MS);
  const value = await withinLimit(make());
  afterAll(() => value.end());
  return value;
}

/**
 * Applies the time limit to code at the top of a file, where Jest has none. A value that arrives too late is ended too.
 */
async function withinLimit<T extends { end(): Promise<void> }>(creation: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const over = pause(LIMIT_MS, undefined, timer).then(() => {
    void creation.then((late) => late.end()).catch(() => {});
    throw new Error(`what all tests of this file share was not made in ${LIMIT_MS} ms`);
  });
  try {
    return await Promise.race([creation, over]);
  } finally {
    // The aborted timer rejects, which nobody awaits.
    over.catch(() => {});
    timer.abort();
  }
}

/** Options for the start of a node's agent. */
interface StartOfAgent<N> extends StartOptions {
  /** Arguments of the agent's command. */
  readonly args?: readonly string[];
  /** Called with the node before the agent starts. */
  readonly prepare?: (node: N) => Promise<unknown>;
}

/** Creates a node for all tests of a file, and starts its agent. */
export function nodeForAllTests<N extends TestNode>(
  make: () => Promise<N>,
  { prepare = async () => {}, ...options }: StartOfAgent<N> = {},
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
