import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { writeHostsFile } from '../../../host/pods/hostsFile.ts';
import { inFolder, podWith, signal } from '../../volume/onDisk.ts';

/** Writes the hosts file of a pod and reads it back. */
async function hostsOf(spec: object, ips: readonly string[], nodeHosts?: string): Promise<string> {
  let text = '';
  await inFolder(async (folder, layout) => {
    await mkdir(layout.podDir('u1'), { recursive: true });
    const nodeHostsFile = path.join(folder, 'hosts');
    if (nodeHosts !== undefined) await writeFile(nodeHostsFile, nodeHosts);
    await writeHostsFile({ pod: podWith(spec), layout, ips, clusterDomain: 'cluster.local', nodeHostsFile, signal });
    text = await readFile(layout.hostsFile('u1'), 'utf8');
    expect((await stat(layout.hostsFile('u1'))).mode & 0o777).toBe(0o644);
  });
  return text;
}

const LOCAL = `# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
`;

test('C18: the file has a line for each IP address of the pod', async () => {
  expect(await hostsOf({}, ['10.0.0.7', 'fd00::7'])).toBe(`${LOCAL}10.0.0.7\tweb\nfd00::7\tweb\n`);
});

test('C18: with hostname and subdomain, the full name comes first', async () => {
  expect(await hostsOf({ hostname: 'front', subdomain: 'shop' }, ['10.0.0.7'])).toBe(
    `${LOCAL}10.0.0.7\tfront.shop.default.svc.cluster.local\tfront\n`,
  );
});

test('C18: the host aliases are at the end', async () => {
  const hostAliases = [{ ip: '192.0.2.1', hostnames: ['a', 'b.example'] }, { ip: '192.0.2.2' }];
  expect(await hostsOf({ hostAliases }, ['10.0.0.7'])).toBe(
    `${LOCAL}10.0.0.7\tweb\n\n# Entries added by HostAliases.\n192.0.2.1\ta\tb.example\n192.0.2.2\n`,
  );
});

test('C18: a pod on the host network has the hosts file of the node plus its aliases', async () => {
  const hostAliases = [{ ip: '192.0.2.1', hostnames: ['a'] }];
  expect(await hostsOf({ hostNetwork: true, hostAliases }, ['10.0.0.7'], '127.0.0.1 localhost node\n')).toBe(
    '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost node\n' +
      '\n# Entries added by HostAliases.\n192.0.2.1\ta\n',
  );
});

test('C18: without a hosts file on the node, a pod on the host network waits with the reason, and others have their own file', async () => {
  await expect(hostsOf({ hostNetwork: true }, [])).rejects.toMatchObject({
    reason: 'CreateContainerConfigError',
    message: expect.stringMatching(/^ENOENT: no such file or directory, open '.*hosts'$/),
  });
  expect(await hostsOf({}, ['10.0.0.7'])).toContain('10.0.0.7');
});

test('C18: updates are written in place, because running containers have mounted the file', async () => {
  await inFolder(async (_folder, layout) => {
    await mkdir(layout.podDir('u1'), { recursive: true });
    const given = { pod: podWith(), layout, clusterDomain: 'cluster.local', signal };
    await writeHostsFile({ ...given, ips: ['10.0.0.7', 'fd00::7'] });
    const before = await stat(layout.hostsFile('u1'));
    await writeHostsFile({ ...given, ips: ['10.0.0.8'] });
    expect((await stat(layout.hostsFile('u1'))).ino).toBe(before.ino);
    expect(await readFile(layout.hostsFile('u1'), 'utf8')).toBe(`${LOCAL}10.0.0.8\tweb\n`);
  });
});
