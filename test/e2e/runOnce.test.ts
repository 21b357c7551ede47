/** `run --runonce` on a real containerd: starts the pods, leaves them running, and exits with 1 if a pod failed. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { noAbort } from './support/containerd.ts';
import { forAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';
import { statelet } from './support/statelet.ts';

const node = await forAllTests(runNode);

const once = () =>
  statelet(
    'run',
    '--runonce',
    '--root-dir',
    node.rootDir,
    '--config',
    join(node.directory, 'kubelet.yaml'),
    '--pod-manifest-path',
    node.manifests,
    '--hostname-override',
    'node',
  );

test('pods that are running or have succeeded count as a success, and continue without the agent', async () => {
  await node.write('steady', podManifest('steady', [shell('main', steadily())]));
  await node.write('job', podManifest('job', [shell('main', 'exit 0')], { restartPolicy: 'Never' }));
  const { code, out } = await once();
  expect(out.split('\n').sort()).toEqual(['', 'pod default/job-node: Succeeded', 'pod default/steady-node: Running']);
  expect(code).toBe(0);
  const { containers } = await node.runtime.cri.listContainers({ filter: undefined }, { signal: noAbort });
  expect(containers.map(({ state, metadata }) => `${metadata?.attempt} ${state}`).sort()).toEqual(['0 1', '0 2']);
});

test('a failing pod is reported, and the exit code is 1', async () => {
  await node.write('bad', podManifest('bad', [shell('main', 'exit 7')], { restartPolicy: 'Never' }));
  const { code, out, err } = await once();
  expect(out).toContain('pod default/bad-node: Failed: exit code 7\n');
  expect(err).toContain('statelet: error running pods: pod default/bad-node\n');
  expect(code).toBe(1);
});
