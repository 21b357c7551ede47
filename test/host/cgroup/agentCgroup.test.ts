import { expect, test } from '@jest/globals';
import { agentCgroup } from '../../../host/cgroup/agentCgroup.ts';

test.each([
  ['v2', '0::/system.slice/statelet.service\n', 'system.slice/statelet.service'],
  ['the root of v2', '0::/\n', ''],
  ['v1', '5:cpuacct,cpu:/a\n4:memory:/a\n1:name=systemd:/a/b\n0::/c\n', 'a/b'],
  ['v1 without systemd', '5:cpu,cpuacct:/a\n4:memory:/a\n', 'a'],
  ['v1 with a cgroup of its own for each controller', '5:cpu:/a\n4:memory:/b\n0::/\n', undefined],
  ['v1 without memory', '5:cpu:/a\n', undefined],
  ['no cgroups', '', undefined],
])('the own cgroup on %s', (_, text, path) => {
  expect(agentCgroup(text)).toBe(path);
});
