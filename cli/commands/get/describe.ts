import { systemClock } from '../../../base/time/clock.ts';
import { describeNode } from '../../../show/describe/node.ts';
import { describePod } from '../../../show/describe/pod.ts';
import { connectAgent } from '../../connectAgent.ts';
import { fetchPod } from '../stream/fetchPod.ts';
import { parseNodeArgument, parsePodName } from './explain.ts';
import { fetchNodes } from './fetchNodes.ts';
import { readEventList } from './readEvents.ts';
import { readPodExtras } from './readExplanation.ts';
import { readPodList } from './readPods.ts';

export interface DescribeOptions {
  readonly namespace?: string;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** Prints the details and events of a pod or the node in the format of `kubectl describe`. */
export async function describe(
  args: readonly string[],
  options: DescribeOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const node = parseNodeArgument(args);
  if (node) return printNodeDescription(node.name, options, write);
  const name = parsePodName(args);
  const agent = await connectAgent(options);
  const pod = await fetchPod(agent, name, options.namespace);
  const events = readEventList(await agent.json('/api/v1/events')).filter(
    ({ involvedObject }) => involvedObject.uid === pod.metadata.uid,
  );
  // The pod may have been removed in the meantime. In this case, describe it without its explanation.
  const explanationPath = `/explain/uids/${encodeURIComponent(pod.metadata.uid)}`;
  const podExtras = await agent.json(explanationPath).then(readPodExtras, () => undefined);
  write(describePod(pod, events, systemClock.now(), podExtras));
}

async function printNodeDescription(
  name: string | undefined,
  options: DescribeOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const agent = await connectAgent(options);
  const [node] = await fetchNodes(agent, name);
  const pods = readPodList(await agent.json('/api/v1/pods'));
  const events = readEventList(await agent.json('/api/v1/events'));
  const nodeEvents = events.filter(({ involvedObject }) => involvedObject.kind === 'Node');
  if (node) write(describeNode(node, pods, nodeEvents, systemClock.now()));
}
