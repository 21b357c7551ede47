import * as z from 'zod/mini';
import { NodeFailure } from '../../../base/failure.ts';
import type { NodeObject } from '../../../kubernetes/node/nodeObject.ts';
import type { AgentClient } from '../../../socket/client.ts';

const quantitiesSchema = z.record(z.string(), z.string());

/** Validates the fields that a table needs. Other fields are passed through. */
const nodeSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), labels: z.record(z.string(), z.string()) }),
  spec: z.looseObject({}),
  status: z.looseObject({ capacity: quantitiesSchema, allocatable: quantitiesSchema, nodeInfo: z.looseObject({}) }),
});

const listSchema = z.looseObject({ items: z.array(nodeSchema) });

/** Fetches the agent's node as a list. Throws a `NodeFailure` if `name` is given and is not the name of that node. */
export async function fetchNodes(agent: AgentClient, name: string | undefined): Promise<NodeObject[]> {
  // Safe cast, because the agent serialized the other fields from this type.
  const nodes = listSchema.parse(await agent.json('/api/v1/nodes')).items as unknown as NodeObject[];
  const matchingNodes = nodes.filter(({ metadata }) => name === undefined || metadata.name === name);
  if (matchingNodes.length === 0) throw new NodeFailure('NotFound', `nodes "${name}" not found`);
  return matchingNodes;
}
