import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { startSimulatedNode } from '../../../actors/simulated/startSimulatedNode.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { parseConfigFile } from '../../../node/config/files/readFile.ts';
import { readFlags } from '../../../node/config/flags.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';
import { readHostConfig } from '../../../node/host/hostConfig.ts';

const root = mkdtempSync(join(tmpdir(), 'statelet-machine-'));
const node = await startSimulatedNode({});

afterAll(async () => {
  await node.stop();
  rmSync(root, { recursive: true });
});

/** Exceeds the number of CPUs that this process may use, so that the number can only come from sysfs. */
const CPU_COUNT = availableParallelism() + 3;

/** Reads the configuration of an agent on the simulated runtime. */
const readConfig = (yaml = '') => {
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  const config = compileConfig({
    flags: readFlags({ '--root-dir': root }),
    file: parseConfigFile('/etc/k.yaml', head + yaml),
    defaults: { hostname: 'node-1', addresses: ['192.0.2.1'], rootDirectory: root, podLogsDirectory: root },
  });
  return readHostConfig(config, { cri: inProcessCri(node.runtime), hierarchies: [], isSimulated: true, root });
};

test('the capacity of the node is that of the machine, not that of this process', async () => {
  const files = Array.from({ length: CPU_COUNT }, (_, cpu) => `sys/devices/system/cpu/cpu${cpu}/online`);
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '1\n');
  }
  mkdirSync(join(root, 'proc'));
  writeFileSync(join(root, 'proc/meminfo'), 'MemTotal: 3145728 kB\n');
  const { capacity, startSlots } = await readConfig();
  expect(capacity).toMatchObject({ cpuMillis: CPU_COUNT * 1_000, memoryBytes: 3 * 2 ** 30 });
  expect(startSlots).toBe(2 * CPU_COUNT);
});

test.each([true, false])(
  'whether statuses contain the health of devices depends on the feature gate: %s',
  async (gate) => {
    const gates = `{ResourceHealthStatus: ${gate}, ResourceHealthStatusMessage: ${gate}}`;
    const { reportsDeviceHealth, reportsHealthMessages } = await readConfig(`featureGates: ${gates}`);
    expect([reportsDeviceHealth, reportsHealthMessages]).toEqual([gate, gate]);
  },
);
