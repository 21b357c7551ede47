import * as z from 'zod/mini';
import { NodeFailure } from '../../../base/failure.ts';
import type { NodeObject } from '../../../kubernetes/node/nodeObject.ts';
import type { AgentClient } from '../../../socket/client.ts';

const amounts = z.record(z.string(), z.string());

/** As much of a node as a table cannot do without; the rest is as the agent wrote it. */
const nodeShape = z.looseObject({
  metadata: z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.looseObject({}),
  status: z.looseObject({ capacity: amounts, allocatable: amounts, nodeInfo: z.looseObject({}) }),
});

const listShape = z.looseObject({ items: z.array(nodeShape) });

/** The agent's node, or that of the given name. */
export async function askForNodes(agent: AgentClient, name: string | undefined): Promise<NodeObject[]> {
  // The agent wrote the other fields from this very type.
  const nodes = listShape.parse(await agent.json('/api/v1/nodes')).items as unknown as NodeObject[];
  const found = nodes.filter(({ metadata }) => name === undefined || metadata.name === name);
  if (found.length === 0) throw new NodeFailure('NotFound', `nodes "${name}" not found`);
  return found;
}
