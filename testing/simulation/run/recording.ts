/** A life of an agent as it can be played again. */
import type { Entry } from '../../../actors/boundary.ts';
import type { NodeInput } from '../../../machines/node/context.ts';

/** What a replay begins with, and what has entered since. */
export interface Recording {
  readonly input: NodeInput;
  readonly entries: readonly Entry[];
}
