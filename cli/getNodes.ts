/** `get nodes`: the agent's own node. */
import { systemClock } from '../actors/clock.ts';
import { nodeTable } from '../pod/node/nodeTable.ts';
import { agentNamed } from './agent.ts';
import { asText, type OutputFormat } from './output.ts';
import { askForNodes } from './readNodes.ts';
import { readNode } from './readPods.ts';
import { tablePrinter } from './table/printer.ts';

export interface GetNodesOptions {
  readonly name?: string;
  readonly output?: OutputFormat;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** Prints the running agent's node like kubectl does. */
export async function getNodes(options: GetNodesOptions, write: (text: string) => unknown): Promise<void> {
  const { name, output } = options;
  const agent = await agentNamed(options);
  const nodes = await askForNodes(agent, name);
  if (output === 'name') return nodes.forEach(({ metadata }) => void write(`node/${metadata.name}\n`));
  if (output === 'json' || output === 'yaml') {
    const list = { apiVersion: 'v1', kind: 'NodeList', metadata: { resourceVersion: '' }, items: nodes };
    return void write(await asText(name === undefined ? list : nodes[0], output));
  }
  if (readNode(await agent.json('/node')).simulated) write('SIMULATED runtime: no real containers run\n');
  const [header = [], ...rows] = nodeTable(nodes, { wide: output === 'wide', now: systemClock.now() });
  tablePrinter(write).print(header, rows);
}
