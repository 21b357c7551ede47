import { systemClock } from '../../../base/clock.ts';
import { describeNode } from '../../../show/describe/node.ts';
import { describePod } from '../../../show/describe/pod.ts';
import { agentNamed } from '../../agent.ts';
import { askForPod } from '../stream/askPod.ts';
import { nodeOf, podNameOf } from './explain.ts';
import { readEventList } from './readEvents.ts';
import { readPodExtras } from './readExplanation.ts';
import { askForNodes } from './readNodes.ts';
import { readPodList } from './readPods.ts';

export interface DescribeOptions {
  readonly namespace?: string;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** Prints all there is to know of a pod, or the node, and its events, as kubectl does. */
export async function describe(
  words: readonly string[],
  options: DescribeOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const meant = nodeOf(words);
  if (meant) return describeTheNode(meant.name, options, write);
  const name = podNameOf(words);
  const agent = await agentNamed(options);
  const pod = await askForPod(agent, name, options.namespace);
  const events = readEventList(await agent.json('/api/v1/events')).filter(
    ({ involvedObject }) => involvedObject.uid === pod.metadata.uid,
  );
  // It may have gone since: then there is nothing more to tell of it.
  const resource = `/explain/uids/${encodeURIComponent(pod.metadata.uid)}`;
  const told = await agent.json(resource).then(readPodExtras, () => undefined);
  write(describePod(pod, events, systemClock.now(), told));
}

async function describeTheNode(
  name: string | undefined,
  options: DescribeOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const agent = await agentNamed(options);
  const [node] = await askForNodes(agent, name);
  const pods = readPodList(await agent.json('/api/v1/pods'));
  const events = readEventList(await agent.json('/api/v1/events'));
  const own = events.filter(({ involvedObject }) => involvedObject.kind === 'Node');
  if (node) write(describeNode(node, pods, own, systemClock.now()));
}
