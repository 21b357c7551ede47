/** Events that are still deferred in favor of pod starts when the agent stops, with real containers. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../base/time/clock.ts';
import { ApiServer } from '../../testing/apiserver/apiServer.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { manyNames, manyPods } from './support/manyPods.ts';
import { runNode } from './support/node.ts';

/** The node uses `run`, whose agent stops without stopping the pods. */
const node = await forAllTests(runNode);
const { server, kubeconfig } = await forAllTests(async () => {
  const api = await ApiServer.start(systemClock);
  const served = await api.serve();
  const file = join(node.directory, 'node.kubeconfig');
  await writeFile(file, served.kubeconfig({ name: 'system:node:node', groups: ['system:nodes'] }));
  const end = async () => {
    api.close();
    await served.close();
  };
  return { server: api, kubeconfig: file, end };
});

test('an agent that stops while pod starts are queued sends the deferred events before it exits', async () => {
  const pods = manyPods(server);
  const agent = await node.start({ args: ['--kubeconfig', kubeconfig, '--inspect-address', ''] });
  await pods.make();
  const pendingPod = await eventually('a pod runs whose events give way', async () => {
    const [running, reported] = [await pods.running(), await pods.started()];
    return manyNames.find((name) => running.includes(name) && !reported.includes(name));
  });
  agent.kill('SIGTERM');
  expect(await agent.ended).toBe(0);
  expect((await pods.running()).length).toBeLessThan(manyNames.length);
  expect(await pods.started()).toContain(pendingPod);
});
