import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SIMULATED_ENDPOINT } from '../../../../actors/store/leftOnDisk.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { planTakeOver, planText } from '../../../../cli/commands/run/takeOver.ts';
import { compileCluster } from '../../../../node/config/compile/cluster.ts';
import type { NodeConfig } from '../../../../node/config/nodeConfig.ts';
import { settingValues } from '../../../../node/config/settings/settingValues.ts';
import { ApiServer } from '../../../../testing/apiserver/apiServer.ts';
import type { ServedApi } from '../../../../testing/apiserver/serving/servedApi.ts';
import { inFolder } from '../../../volume/onDisk.ts';

const PODS = '/api/v1/namespaces/default/pods';
const POD = `${PODS}/web`;
const bound = {
  metadata: { name: 'web' },
  spec: { nodeName: 'node-1', automountServiceAccountToken: false, containers: [{ name: 'main', image: 'busybox:1' }] },
};

test('the take-over plan assigns logs to a pod by its full UID, and not to a UID with the same ending', async () => {
  await inFolder(async (folder) => {
    const podLogsDirectory = join(folder, 'logs');
    const rootDirectory = join(folder, 'root');
    await mkdir(join(rootDirectory, 'pods', 'c'), { recursive: true });
    const config = {
      rootDirectory,
      podLogsDirectory,
      nodeName: 'node-1',
      containerRuntimeEndpoint: SIMULATED_ENDPOINT,
    };
    const logs = async () => {
      // `planTakeOver` reads only these fields of the configuration.
      const { pods } = await planTakeOver(config as NodeConfig);
      return pods.map((pod) => pod.logDirectory);
    };
    await mkdir(join(podLogsDirectory, 'shop_cart_b_c'), { recursive: true });
    expect(await logs()).toEqual([undefined]);
    await mkdir(join(podLogsDirectory, 'shop_cart_c'));
    expect(await logs()).toEqual([join(podLogsDirectory, 'shop_cart_c')]);
  });
});

describe('the take-over plan for a node of a cluster', () => {
  const { server, served } = forEachTest();

  async function planned(kubeconfig: string) {
    const plan = { uid: '', text: '' };
    await inFolder(async (folder) => {
      const rootDirectory = join(folder, 'root');
      const file = join(folder, 'kubeconfig');
      await writeFile(file, kubeconfig);
      const { metadata } = await server()
        .request('GET', POD)
        .catch(() => server().request('POST', PODS, bound));
      const { uid } = metadata as { uid: string };
      for (const each of [uid, 'nobodys']) await mkdir(join(rootDirectory, 'pods', each), { recursive: true });
      const cluster = compileCluster(settingValues({ flags: { '--kubeconfig': file } }), '/nowhere');
      const place = { rootDirectory, podLogsDirectory: join(folder, 'logs'), nodeName: 'node-1' };
      // `planTakeOver` reads only these fields of the configuration.
      const config = { ...place, containerRuntimeEndpoint: SIMULATED_ENDPOINT, cluster } as NodeConfig;
      Object.assign(plan, { uid, text: planText(await planTakeOver(config), config) });
    });
    return plan;
  }

  test('shows which pods the API server has for the node', async () => {
    const { uid, text } = await planned(served().kubeconfig({ name: 'system:node:node-1', groups: ['system:nodes'] }));
    expect(text).toContain('Pods whose UID is in a manifest or at the API server would be adopted');
    expect(text).toMatch(new RegExp(`^${uid}\n.*\n  at the API server   yes$`, 'm'));
    expect(text).toMatch(/^nobodys\n.*\n {2}at the API server {3}no$/m);
  });

  test('reports why the API server could not be queried', async () => {
    const kubeconfig = served().kubeconfig({ name: 'system:node:node-1', groups: ['system:nodes'] });
    const { text } = await planned(kubeconfig.replaceAll(String(served().port), '1'));
    expect(text).toContain('the API server did not say which pods it has for this node: ');
    expect(text).not.toContain('at the API server   ');
  });
});

function forEachTest() {
  const made: { server?: ApiServer; served?: ServedApi } = {};
  beforeAll(async () => {
    made.server = await ApiServer.start(systemClock);
    made.served = await made.server.serve();
  });
  afterAll(async () => {
    made.server?.close();
    await made.served?.close();
  });
  const known = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the server has not started');
    return value;
  };
  return { server: () => known(made.server), served: () => known(made.served) };
}
