import { expect, test } from '@jest/globals';
import { nextQueue, quietQueue } from '../../../machines/node/eventQueue.ts';
import { nextSourceState } from '../../../machines/node/source.ts';
import { nodeStory } from '../support/nodeStory.ts';

const access = {
  ...{ server: 'https://192.0.2.1:6443', kubeconfig: '/etc/kubeconfig', context: 'prod', user: 'node' },
  means: 'client certificate',
};
const story = () => nodeStory({ cluster: { leaseMs: 40_000, statusCheckMs: 10_000, access } });
const shown = ({ view }: ReturnType<typeof nodeStory>) =>
  view().tree.children.flatMap(({ kind, name, state, facts }) =>
    ['credentials', 'watch', 'event queue'].includes(kind) ? [[kind, name, state, ...facts]] : [],
  );

test('a node of a cluster shows how it asks, what it watches, and what waits to be told', () => {
  const node = story();
  const credentials = [
    ...['credentials', 'prod', 'in use', 'asks https://192.0.2.1:6443 as node by client certificate'],
    'context prod of /etc/kubeconfig',
  ];
  expect(shown(node)).toEqual([credentials, ['event queue', 'api', 'idle']]);
  const state = nextSourceState(undefined, { state: 'watching' }, { place: 'the Node node', now: 1_000 });
  node.tell({ type: 'cluster.watchChanged', watch: 'Node', state });
  const queue = nextQueue(quietQueue(0), { now: 1_000, waiting: 2, dropped: 0, until: 6_000, failure: 'away' });
  node.tell({ type: 'cluster.eventsChanged', state: queue });
  expect(shown(node)).toEqual([
    credentials,
    ['watch', 'Node', 'watching', 'follows the Node node'],
    ['event queue', 'api', 'failing', '2 events to send'],
  ]);
});

test('a node without a cluster shows nothing of one', () => {
  expect(shown(nodeStory())).toEqual([]);
});
