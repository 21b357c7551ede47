import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { requireRoot, run } from '../../../../cli/commands/run/run.ts';
import { errorText } from '../../../../cli/output/errorText.ts';
import { readFlags } from '../../../../node/config/flags.ts';
import type { NodeConfig } from '../../../../node/config/nodeConfig.ts';

test('run without root reports in one line that it requires root', () => {
  expect(() => requireRoot(0)).not.toThrow();
  // Some platforms have no user IDs.
  expect(() => requireRoot(undefined)).not.toThrow();
  try {
    requireRoot(65_534);
    throw new Error('it did not throw');
  } catch (error) {
    expect(errorText(error)).toMatch(/^statelet: run needs root; [^\n]+\n$/);
  }
});

describe('STATELET_HOST_SETTINGS', () => {
  const given = process.env.STATELET_HOST_SETTINGS;
  let directory: string | undefined;

  afterEach(async () => {
    process.env.STATELET_HOST_SETTINGS = given;
    if (directory !== undefined) await rm(directory, { recursive: true });
    directory = undefined;
  });

  /** Returns the configuration with which `run` would start the node. */
  async function startedConfig(value: string): Promise<NodeConfig | undefined> {
    process.env.STATELET_HOST_SETTINGS = value;
    directory = await mkdtemp(join(tmpdir(), 'statelet-cli-'));
    let startConfig: NodeConfig | undefined;
    const flags = readFlags({ '--root-dir': directory, '--hostname-override': 'host' });
    const started = run(
      flags,
      async ({ config }) => {
        startConfig = config;
        throw new Error('nothing is started');
      },
      () => true,
    );
    await expect(started).rejects.toThrow('nothing is started');
    return startConfig;
  }

  test('leaves the kernel parameters, the iptables and the device plugins of the host alone', async () => {
    expect(await startedConfig('unchanged')).toMatchObject({
      hostSetup: { kernelParameters: 'unchanged', createsUtilChains: false },
      devicePluginDirectory: join(directory ?? '', 'device-plugins'),
    });
  });

  test('is not required, and run sets them as a kubelet does', async () => {
    expect(await startedConfig('')).toMatchObject({
      hostSetup: { kernelParameters: 'set', createsUtilChains: true },
      devicePluginDirectory: '/var/lib/kubelet/device-plugins',
    });
  });

  test('has no other values', async () => {
    process.env.STATELET_HOST_SETTINGS = 'none';
    const flags = readFlags({ '--root-dir': '/nowhere' });
    await expect(
      run(
        flags,
        () => Promise.reject(new Error('it starts')),
        () => true,
      ),
    ).rejects.toThrow('STATELET_HOST_SETTINGS: expected "unchanged", got "none"');
  });

  test('keeps every test from changing the host on which it runs', () => {
    expect(given).toBe('unchanged');
  });
});
