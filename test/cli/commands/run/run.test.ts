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
  // A platform without user IDs.
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

  /** Returns the changes to the host with which `run` would start the node. */
  async function hostSetup(value: string): Promise<NodeConfig['hostSetup'] | undefined> {
    process.env.STATELET_HOST_SETTINGS = value;
    directory = await mkdtemp(join(tmpdir(), 'statelet-cli-'));
    let setup: NodeConfig['hostSetup'] | undefined;
    const flags = readFlags({ '--root-dir': directory, '--hostname-override': 'host' });
    const started = run(
      flags,
      async ({ config }) => {
        setup = config.hostSetup;
        throw new Error('nothing is started');
      },
      () => true,
    );
    await expect(started).rejects.toThrow('nothing is started');
    return setup;
  }

  test('leaves the kernel parameters and the iptables of the host unchanged', async () => {
    expect(await hostSetup('unchanged')).toMatchObject({ kernelParameters: 'unchanged', createsUtilChains: false });
  });

  test('is not required, and run sets them as a kubelet does', async () => {
    expect(await hostSetup('')).toMatchObject({ kernelParameters: 'set', createsUtilChains: true });
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
