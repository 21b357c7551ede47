/**
 * Pods whose names are too long for their files on the host. They cannot run, but removing them leaves nothing behind.
 */
import { expect, test } from '@jest/globals';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, upNode } from './support/node.ts';

const node = await nodeForAllTests(upNode);

/** Valid pod names that make the log directory, `<namespace>_<pod>_<uid>`, just too long and just short enough. */
const NAMESPACE = 'default';
const UID_LENGTH = 32;
const longest = 255 - NAMESPACE.length - UID_LENGTH - '__'.length - '-node'.length;
const tooLong = 'a'.repeat(longest + 1);
const fitting = 'b'.repeat(longest);

interface Events {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly involvedObject: { readonly name: string };
    readonly reason: string;
    readonly message: string;
  }[];
}

const eventsOf = async (pod: string) => {
  // The agent's own socket responds with an EventList.
  const { items } = (await node.ask('/api/v1/events')) as Events;
  return items.filter(({ involvedObject }) => involvedObject.name === `${pod}-node`);
};

test('a pod with an overlong log directory name waits for its sandbox as on a kubelet, and is removed at once', async () => {
  const main = shell('m'.repeat(63), steadily());
  await node.write('long', podManifest(tooLong, [main], { terminationGracePeriodSeconds: 1 }));
  await node.write('fits', podManifest(fitting, [main], { terminationGracePeriodSeconds: 1 }));
  await node.running(fitting);
  const failed = await eventually('the sandbox fails', async () =>
    (await eventsOf(tooLong)).find(({ reason }) => reason === 'FailedCreatePodSandBox'),
  );
  expect(failed.message).toMatch(
    /^Failed to create pod sandbox: mkdir \/\S+_a+-node_[0-9a-f]{32}: file name too long$/,
  );
  expect(failed.metadata.name).toMatch(/^a+-node\.[0-9a-f]+$/);
  const waiting = await node.until('waits', tooLong, (pod) => containerOf(pod).state?.waiting);
  expect(waiting.reason).toBe('ContainerCreating');
  const startedAt = performance.now();
  await node.remove('long');
  await node.gone(tooLong);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await node.remove('fits');
  await node.gone(fitting);
});

test('an event of a pod with the longest name is named by a UUID, and the agent stops within seconds', async () => {
  const name = 'c'.repeat(253 - '-node'.length);
  await node.write('longest', podManifest(name, [shell('main', steadily())], { terminationGracePeriodSeconds: 1 }));
  const failed = await eventually('the sandbox fails', async () =>
    (await eventsOf(name)).find(({ reason }) => reason === 'FailedCreatePodSandBox'),
  );
  expect(failed.metadata.name).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const startedAt = performance.now();
  node.agent.kill('SIGTERM');
  expect(await node.agent.ended).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
