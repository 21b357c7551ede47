import { expect, test } from '@jest/globals';
import { readFlags } from '../../../node/config/flags.ts';
import { loadConfig } from '../../../node/config/loadConfig.ts';

const defaults = { rootDirectory: '/var/lib/x', podLogsDirectory: '/var/log/pods' };

test('an address that the host does not have is used, with a warning if the host is checked', async () => {
  const flags = readFlags({ '--node-ip': '192.0.2.7' });
  const warned = async (checkHost: boolean) => {
    const { warnings, config } = await loadConfig(flags, { defaults, checkHost });
    expect(config.nodeIps).toEqual(['192.0.2.7']);
    return warnings.filter((each) => each.startsWith('--node-ip'));
  };
  expect(await warned(false)).toEqual([]);
  expect(await warned(true)).toEqual([expect.stringContaining('"192.0.2.7" not found')]);
});
