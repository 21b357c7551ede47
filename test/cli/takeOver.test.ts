import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { SIMULATED } from '../../actors/store/leftOnDisk.ts';
import { planTakeOver } from '../../cli/takeOver.ts';
import type { NodeConfig } from '../../node/config/nodeConfig.ts';
import { inFolder } from '../volume/onDisk.ts';

test('the plan of a take-over names the logs of a pod by its whole UID, and no other whose UID ends like it', async () => {
  await inFolder(async (folder) => {
    const podLogsDirectory = join(folder, 'logs');
    const rootDirectory = join(folder, 'root');
    await mkdir(join(rootDirectory, 'pods', 'c'), { recursive: true });
    const config = { rootDirectory, podLogsDirectory, nodeName: 'node-1', containerRuntimeEndpoint: SIMULATED };
    const logs = async () => {
      // It asks for nothing else of the configuration.
      const { pods } = await planTakeOver(config as NodeConfig);
      return pods.map((pod) => pod.logs);
    };
    await mkdir(join(podLogsDirectory, 'shop_cart_b_c'), { recursive: true });
    expect(await logs()).toEqual([undefined]);
    await mkdir(join(podLogsDirectory, 'shop_cart_c'));
    expect(await logs()).toEqual([join(podLogsDirectory, 'shop_cart_c')]);
  });
});
