/** The recording of one agent, which can be replayed. */
import type { RecordedInput } from '../../../actors/boundary.ts';
import type { NodeInput } from '../../../machines/node/context.ts';

/** The input of the node's actor and the entries that followed. */
export interface Recording {
  readonly input: NodeInput;
  readonly entries: readonly RecordedInput[];
}
