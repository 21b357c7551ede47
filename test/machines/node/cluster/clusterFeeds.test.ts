import { expect, test } from '@jest/globals';
import { idleQueue, nextQueueState } from '../../../../machines/node/cluster/eventQueue.ts';
import { nextSourceState } from '../../../../machines/node/pods/source.ts';
import { explainNode } from '../../../../show/explain/explainNode.ts';
import { formatNodeExplanation } from '../../../../show/explain/formatExplanation.ts';
import { nodeStory } from '../../support/nodeStory.ts';

const access = {
  server: 'https://192.0.2.1:6443',
  kubeconfig: '/etc/kubeconfig',
  context: 'prod',
  user: 'node',
  credentialKind: 'client certificate',
};
const story = () => nodeStory({ cluster: { leaseMs: 40_000, statusCheckMs: 10_000, access } });
const shown = ({ view }: ReturnType<typeof nodeStory>) =>
  view().tree.children.flatMap(({ kind, name, state, facts }) =>
    ['credentials', 'watch', 'event queue'].includes(kind) ? [[kind, name, state, ...facts]] : [],
  );

test('a node in a cluster shows its credentials, its watches and its event queue', () => {
  const node = story();
  const credentials = [
    'credentials',
    'prod',
    'in use',
    'connects to https://192.0.2.1:6443 as node with client certificate',
    'context prod of /etc/kubeconfig',
  ];
  expect(shown(node)).toEqual([credentials, ['event queue', 'api', 'idle']]);
  const state = nextSourceState(undefined, { state: 'watching' }, { place: 'the Node node', now: 1_000 });
  node.tell({ type: 'cluster.watchChanged', watch: 'Node', state });
  const queue = nextQueueState(idleQueue(0), {
    now: 1_000,
    waitingCount: 2,
    droppedCount: 0,
    until: 6_000,
    failure: 'away',
  });
  node.tell({ type: 'cluster.eventsChanged', state: queue });
  expect(shown(node)).toEqual([
    credentials,
    ['watch', 'Node', 'watching', 'follows the Node node'],
    ['event queue', 'api', 'failing', '2 events to send'],
  ]);
});

test('a watch of objects shows how many objects pods refer to and how many are missing, whatever their names', () => {
  const node = story();
  const names = ['default/a', String.raw`"default/b\x1b[2J\nnode: all is well"`];
  const lacking = [{ cause: 'forbidden', count: 2, names, since: Date.UTC(2026, 10, 27, 13, 5, 6) }];
  const counts = { strategy: 'Watch', objectCount: 3, unavailableObjects: lacking } as const;
  const watchInfo = { place: 'the Secrets that its pods name', now: 1_000 };
  const failure = `${names[0]}: forbidden`;
  const state = nextSourceState(undefined, { state: 'failing', until: 9_000, failure, counts }, watchInfo);
  node.tell({ type: 'cluster.watchChanged', watch: 'Secret', state });
  const text = formatNodeExplanation(explainNode(node.view(), 2_000)).replaceAll(/\s+│?\s*/g, ' ');
  expect(text).toContain(
    'follows the Secrets that its pods name; 3 objects; strategy Watch; 2 forbidden since 2026-11-27 13:05:06 UTC ' +
      `(${names.join(', ')}) waiting for another attempt to watch its objects`,
  );
  expect(text).toContain('FailedRead: default/a: forbidden');
  // A changed count is published, but does not change the time of the failure.
  const more = nextSourceState(
    state,
    { state: 'failing', until: 9_000, failure, counts: { ...counts, objectCount: 4 } },
    { ...watchInfo, now: 5_000 },
  );
  expect(more).toMatchObject({ counts: { objectCount: 4 }, since: 1_000, failure: { at: 1_000 } });
});

test('a node without a cluster shows no credentials, watches or event queue', () => {
  expect(shown(nodeStory())).toEqual([]);
});
