import { expect, test } from '@jest/globals';
import { cniConfig, containerdConfig } from '../../../../cri/managed/containerd/config.ts';
import { layoutOf } from '../../../../cri/managed/layout.ts';

const layout = layoutOf('/nodes/one');
const config = containerdConfig({
  layout,
  sandboxImage: 'pause:1',
  snapshotter: 'overlayfs',
  cniPlugins: '/opt/cni/bin',
  canLowerOomScore: true,
});

/** Returns the lines of a table, up to the next table. */
const table = (name: string): string[] => {
  const [, after = ''] = config.split(`[${name}]\n`);
  return (after.split(/^ *\[/m)[0] ?? '').split('\n').map((line) => line.trim());
};

test('all paths are below the directory', () => {
  const paths = [...config.matchAll(/^ *\w+ = "(\/.*)"$/gm)].map(([, path]) => path);
  expect(paths.filter((path) => !path?.startsWith('/nodes/one/'))).toEqual(['/opt/cni/bin']);
  expect(table('plugins."io.containerd.grpc.v1.cri"')).toContain('netns_mounts_under_state_dir = true');
});

test("leaves the host's NRI socket alone, which containerd 2 uses by default", () => {
  expect(table('plugins."io.containerd.nri.v1.nri"')).toContain('disable = true');
});

test('disables plugins that only monitor containers, under the names of all versions', () => {
  for (const name of ['monitor.v1.cgroups', 'monitor.task.v1.cgroups', 'monitor.container.v1.restart'])
    expect(config).toContain(`"io.containerd.${name}"`);
});

test('the network has the MTU of the uplink, if there is one', () => {
  const [bridge] = JSON.parse(cniConfig({ layout, subnet: '10.1.2.0/24', mtu: 1_400 })).plugins;
  expect(bridge).toMatchObject({ bridge: layout.bridge, mtu: 1_400 });
  expect(cniConfig({ layout, subnet: '10.1.2.0/24', mtu: undefined })).not.toContain('mtu');
});
