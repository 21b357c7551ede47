/** Pod IP addresses on a real containerd that generates its network configuration from a template (`conf_template`). */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { spawnContainerd } from '../../cri/managed/containerd/process.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { noAbort } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';

const CIDR = '10.213.77.0/24';
const node = await forAllTests(() => runNode(`podCIDR: ${CIDR}`));
const { containerd, cri, directory } = node.runtime;

/** Restarts containerd with its network configuration as a template, so that it has no network until it gets a CIDR. */
async function restartWithTemplate(): Promise<void> {
  const layout = layoutOf(directory);
  const [file = ''] = await readdir(layout.cniConfig);
  const template = join(directory, 'cni.template');
  const written = await readFile(join(layout.cniConfig, file), 'utf8');
  await writeFile(template, written.replace(/"subnet": "[^"]+"/, '"subnet": "{{.PodCIDR}}"'));
  await rm(join(layout.cniConfig, file));
  const config = await readFile(layout.config, 'utf8');
  await writeFile(
    layout.config,
    config.replace(/^ *conf_dir = /m, `    conf_template = ${JSON.stringify(template)}\n$&`),
  );
  await containerd.halt();
  await spawnContainerd(layout);
}

const isNetworkReady = async () => {
  const { status } = await cri.status({ verbose: false }, { signal: noAbort, timeoutMs: 2_000 });
  return status?.conditions.find(({ type }) => type === 'NetworkReady')?.status;
};

test('C27: containerd with a network template becomes ready by podCIDR, and pods get addresses from it', async () => {
  await restartWithTemplate();
  await eventually('containerd has no network', async () =>
    (await isNetworkReady().catch(() => undefined)) === false ? true : undefined,
  );
  await node.write('web', podManifest('web', [shell('main', steadily())]));
  await node.start();
  const { status } = await node.running('web');
  expect(status?.podIP).toMatch(/^10\.213\.77\.\d+$/);
  expect(await isNetworkReady()).toBe(true);
});
