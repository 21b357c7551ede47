import { systemClock } from '../../../base/time/clock.ts';
import { nodeFields } from '../../../kubernetes/api/selection/selectableFields.ts';
import type { NodeObject } from '../../../kubernetes/node/nodeObject.ts';
import { nodeTable } from '../../../kubernetes/node/nodeTable.ts';
import { connectAgent } from '../../connectAgent.ts';
import { objectPrinter, readFormat } from '../../output/format/objectFormat.ts';
import { tablePrinter } from '../../terminal/table/tablePrinter.ts';
import { fetchNodes } from './fetchNodes.ts';
import { readNode } from './readPods.ts';
import { createSelection, type SelectionOptions } from './selection.ts';

export interface GetNodesOptions extends SelectionOptions {
  readonly name?: string;
  readonly output?: string;
  readonly headers?: boolean;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** Prints the running agent's node as `kubectl get nodes` does. */
export async function getNodes(options: GetNodesOptions, write: (text: string) => unknown): Promise<void> {
  const isSelected = createSelection(options, nodeFields);
  const format = await readFormat(options);
  const agent = await connectAgent(options);
  const nodes = (await fetchNodes(agent, options.name)).filter(isSelected);
  if (format.kind === 'text') {
    const nodeList = { apiVersion: 'v1', kind: 'NodeList', metadata: { resourceVersion: '' }, items: nodes };
    return void write(await format.formatValue(options.name === undefined ? nodeList : nodes[0]));
  }
  if (nodes.length === 0) return void process.stderr.write('No resources found\n');
  const { wide, headers } = { wide: false, headers: true, ...format };
  if (format.kind === 'table' && readNode(await agent.json('/node')).simulated) {
    write('SIMULATED runtime: no real containers run\n');
  }
  const printTable = (each: readonly NodeObject[]) => {
    const [header = [], ...rows] = nodeTable(each, { wide, now: systemClock.now() });
    tablePrinter(write, { headers }).print(header, rows);
  };
  await objectPrinter(format, { nameOf: ({ metadata }) => `node/${metadata.name}`, printTable }, write)(nodes);
}
