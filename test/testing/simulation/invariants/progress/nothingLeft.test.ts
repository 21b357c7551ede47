import { expect, test } from '@jest/globals';
import { PATHS } from '../../../../../testing/simulation/host/host.ts';
import type { Hooks, Invariant } from '../../../../../testing/simulation/invariants/invariant.ts';
import { nothingLeft } from '../../../../../testing/simulation/invariants/progress/nothingLeft.ts';
import { simulateNode } from '../../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../../testing/simulation/stories/manifests.ts';

/**
 * Creates a node on which one pod runs and one was removed. Returns the violations at rest, and the UID of the removed
 * pod.
 */
async function afterAnother() {
  const broken: string[] = [];
  let following: Hooks = {};
  const watching: Invariant = {
    ...nothingLeft,
    follow: (watched) => {
      following = nothingLeft.follow(watched, (message) => void broken.push(message));
      return {};
    },
  };
  const node = await simulateNode({ seed: 1, invariants: [watching] });
  node.apply(manifest('web'));
  node.apply(manifest('gone'));
  await node.advance(20_000);
  const gone = node.pods().find(({ metadata }) => metadata.name.startsWith('gone'))?.metadata.uid ?? '';
  node.remove('gone');
  const violations = () => {
    following.atRest?.();
    return broken.splice(0);
  };
  return { node, violations, gone };
}

test('a terminating pod may have resources left, and a terminated one none, while other pods run', async () => {
  const { node, violations, gone } = await afterAnother();
  expect(violations()).toContain('default/gone-node-1 is not wanted, but exists');
  await node.advance(60_000);
  expect(gone).not.toBe('');
  expect(violations()).toEqual([]);
  node.kill();
});

test('leftovers of a removed pod are detected while other pods run', async () => {
  const { node, violations, gone } = await afterAnother();
  await node.advance(60_000);
  const { disk, files } = node.host;
  disk.createDirectories(`${PATHS.root}/pods/${gone}`);
  disk.createDirectories(`${PATHS.logs}/default_gone-node-1_${gone}`);
  const fact = `${PATHS.root}/statelet/manifests/sha256-0.json`;
  await files.writeFile(fact, JSON.stringify({ metadata: { uid: gone } }));
  const link = `${PATHS.logs}/../containers/gone-node-1_default_main-0.log`;
  await files.symlink(`${PATHS.logs}/default_gone-node-1_${gone}/main/0.log`, link);
  expect(violations()).toEqual([
    `${PATHS.root}/pods/${gone}`,
    `${PATHS.logs}/default_gone-node-1_${gone}`,
    expect.stringMatching(/containers\/gone-node-1_default_main-0\.log$/),
    fact,
  ]);
  node.kill();
});
