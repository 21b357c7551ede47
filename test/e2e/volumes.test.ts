import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { listMountsUnder } from '../../host/files/mountinfo.ts';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../kubernetes/api/schema/pod.ts';
import { noAbort } from './support/containerd.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { identitiesOf, upNode } from './support/node.ts';

const execute = promisify(execFile);

const node = await nodeForAllTests(upNode, { args: ['--lenient-manifests'] });
let { agent } = node;

const end = 'that is all';

/** Runs a script in a container of a pod, and returns its output line by line. */
async function outputOf(name: string, script: string, spec: Partial<PodSpec>, more: Partial<Container> = {}) {
  const main = shell('main', steadily(`{ ${script}; } 2>&1; echo ${end}`), more);
  await node.write(name, podManifest(name, [main], spec));
  return node.log(await node.running(name), 'main', end);
}

const mountsOfPods = async () => (await listMountsUnder(join(node.rootDir, 'pods'), noAbort)).map(({ path }) => path);

test('downwardAPI: a container sees the labels of the pod, and they are updated in place when the manifest is edited', async () => {
  const items = [
    { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
    { path: 'of/main/memory', resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1Mi' } },
  ];
  const volumes = [{ name: 'info', projected: { sources: [{ downwardAPI: { items } }] } }];
  const script = [
    'cat /info/labels /info/of/main/memory; echo; touch /info/own',
    // Files read through `..data` all belong to one version.
    'until grep -q two /info/labels; do sleep 0.05; done; cat /info/..data/labels; echo; readlink /info/labels',
  ].join('; ');
  const main = shell('main', steadily(`{ ${script}; } 2>&1; echo ${end}`), {
    volumeMounts: [{ name: 'info', mountPath: '/info' }],
    resources: { limits: { memory: '32Mi' } },
  });
  const version = (number: string) => {
    const { metadata, ...manifest } = podManifest('shown', [main], { volumes, uid: 'shown-uid' });
    return { ...manifest, metadata: { ...metadata, labels: { app: 'a.b', version: number } } };
  };
  await node.write('shown', version('one'));
  const before = identitiesOf(await node.running('shown'));
  await node.write('shown', version('two'));
  expect(await node.log(await node.running('shown'), 'main', end)).toEqual([
    'app="a.b"',
    'version="one"32',
    'touch: /info/own: Read-only file system',
    'app="a.b"',
    'version="two"',
    '..data/labels',
  ]);
  expect(identitiesOf(await node.running('shown'))).toEqual(before);
});

test('C26: an emptyDir in memory has its size, and with an fsGroup the group owns it including a new subPath', async () => {
  const lines = await outputOf(
    'owned',
    `df -m /memory | awk 'END { print $2 }'; for each in /memory /memory-part /disk /disk-part; do
      touch $each/file; stat -c '%a %g' $each; stat -c %g $each/file; done; id -G`,
    {
      securityContext: { runAsUser: 1234, runAsGroup: 2345, fsGroup: 4711 },
      volumes: [
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '3Mi' } },
        { name: 'disk', emptyDir: {} },
      ],
    },
    {
      volumeMounts: [
        { name: 'memory', mountPath: '/memory' },
        { name: 'memory', mountPath: '/memory-part', subPath: 'a/b' },
        { name: 'disk', mountPath: '/disk' },
        { name: 'disk', mountPath: '/disk-part', subPath: 'a/b' },
      ],
    },
  );
  const inMemory = ['3777 4711', '4711'];
  const onDisk = ['2777 4711', '4711'];
  expect(lines).toEqual(['3', ...inMemory, ...inMemory, ...onDisk, ...onDisk, '2345 4711']);
});

test('optional missing ConfigMaps and Secrets result in volumes without files and unset variables', async () => {
  const [name, optional] = ['extra', true];
  const lines = await outputOf(
    'optional',
    'ls -A /both /key /settings | grep -v ^[.][.]; touch /both/x /key/x /settings/x; env | grep SETTING || echo unset',
    {
      volumes: [
        { name: 'settings', configMap: { name, optional } },
        { name: 'key', secret: { secretName: name, optional } },
        {
          name: 'both',
          projected: { sources: [{ configMap: { name, optional } }, { secret: { name, optional } }] },
        },
      ],
    },
    {
      env: [{ name: 'SETTING', valueFrom: { configMapKeyRef: { name, key: 'key', optional } } }],
      envFrom: [{ secretRef: { name, optional } }],
      volumeMounts: ['settings', 'key', 'both'].map((each) => ({ name: each, mountPath: `/${each}` })),
    },
  );
  expect(lines.filter((line) => line !== '')).toEqual([
    '/both:',
    '/key:',
    '/settings:',
    ...['/both/x', '/key/x', '/settings/x'].map((file) => `touch: ${file}: Read-only file system`),
    'unset',
  ]);
});

describe('C26: subPath', () => {
  const volumes = [{ name: 'data', emptyDir: {} }];
  const whole = [{ name: 'data', mountPath: '/data' }];

  test('exposes only a part of a volume to a container: a directory, a file, or one that a variable names', async () => {
    const lines = await outputOf(
      'partial',
      'echo x > /made/file; cat /one; find /data | sort; touch /read-only/no',
      {
        volumes,
        initContainers: [shell('setup', 'mkdir -p /data/there; echo text > /data/there/file', { volumeMounts: whole })],
      },
      {
        env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
        volumeMounts: [
          ...whole,
          { name: 'data', mountPath: '/made', subPathExpr: 'of/$(POD)' },
          { name: 'data', mountPath: '/one', subPath: 'there/file' },
          { name: 'data', mountPath: '/read-only', subPath: 'there', readOnly: true },
        ],
      },
    );
    expect(lines).toEqual([
      'text',
      '/data',
      '/data/of',
      '/data/of/partial-node',
      '/data/of/partial-node/file',
      '/data/there',
      '/data/there/file',
      'touch: /read-only/no: Read-only file system',
    ]);
  });

  test('does not follow a symlink that a container created to the host', async () => {
    const main = shell('main', steadily(), { volumeMounts: [{ name: 'data', mountPath: '/host', subPath: 'link' }] });
    const initContainers = [shell('setup', 'ln -s / /data/link', { volumeMounts: whole })];
    await node.write('escaping', podManifest('escaping', [main], { volumes, initContainers }));
    const waiting = await node.until('is refused', 'escaping', ({ status }) => {
      const { waiting } = status?.containerStatuses?.[0]?.state ?? {};
      return waiting?.reason === 'CreateContainerConfigError' && waiting;
    });
    expect(waiting.message).toBe(
      'failed to prepare subPath for volumeMount "data" of container "main": link leads outside the volume',
    );
    await node.remove('escaping');
    await node.gone('escaping');
  });
});

test('mountPropagation: a later mount of the host is visible with HostToContainer, and not without', async () => {
  const shared = join(node.shared, 'propagated');
  await mkdir(join(shared, 'sub'), { recursive: true });
  const look = `until test -e /host/go; do sleep 0.05; done; ls /host/sub; echo ${end}`;
  const seeing = (name: string, mountPropagation: 'None' | 'HostToContainer') =>
    shell(name, steadily(look), { volumeMounts: [{ name: 'host', mountPath: '/host', mountPropagation }] });
  await execute('mount', ['--bind', '--make-shared', shared, shared]);
  try {
    const both = [seeing('both', 'HostToContainer'), seeing('alone', 'None')];
    const volumes = [{ name: 'host', hostPath: { path: shared, type: 'Directory' as const } }];
    await node.write('propagating', podManifest('propagating', both, { volumes }));
    const pod = await node.running('propagating');
    await execute('mount', ['-t', 'tmpfs', 'tmpfs', join(shared, 'sub')]);
    await writeFile(join(shared, 'sub', 'seen'), '');
    await writeFile(join(shared, 'go'), '');
    expect(await node.log(pod, 'both', end)).toEqual(['seen']);
    expect(await node.log(pod, 'alone', end)).toEqual([]);
    await node.remove('propagating');
    await node.gone('propagating');
  } finally {
    for (const { path } of await listMountsUnder(shared, noAbort)) await execute('umount', [path]);
  }
});

test('mountPropagation: a mount of a privileged container is visible on the host with Bidirectional', async () => {
  const shared = join(node.shared, 'given');
  await mkdir(join(shared, 'inner'), { recursive: true });
  await execute('mount', ['--bind', '--make-shared', shared, shared]);
  try {
    const main = shell('main', steadily(`mount -t tmpfs tmpfs /host/inner; touch /host/inner/seen; echo ${end}`), {
      securityContext: { privileged: true },
      volumeMounts: [{ name: 'host', mountPath: '/host', mountPropagation: 'Bidirectional' }],
    });
    const volumes = [{ name: 'host', hostPath: { path: shared, type: 'Directory' as const } }];
    await node.write('giving', podManifest('giving', [main], { volumes }));
    await node.log(await node.running('giving'), 'main', end);
    expect((await listMountsUnder(shared, noAbort)).map(({ path }) => path)).toContain(join(shared, 'inner'));
    expect(await readdir(join(shared, 'inner'))).toEqual(['seen']);
    await node.remove('giving');
    await node.gone('giving');
  } finally {
    for (const { path } of await listMountsUnder(shared, noAbort)) await execute('umount', [path]);
  }
});

test('files and mounts of containers survive an agent restart, and are removed with the pod', async () => {
  const volumes = [{ name: 'memory', emptyDir: { medium: 'Memory' } }];
  const kept = await mountsOfPods();
  const volumeMounts = [
    { name: 'memory', mountPath: '/memory' },
    { name: 'memory', mountPath: '/part', subPath: 'part' },
  ];
  const script = 'echo before > /part/file; until test -e /memory/go; do sleep 0.05; done; cat /part/file';
  const main = shell('main', steadily(`${script}; echo ${end}`), { volumeMounts });
  const go = shell('go', steadily('until test -e /memory/part/file; do sleep 0.05; done; sleep 1; touch /memory/go'), {
    volumeMounts: volumeMounts.slice(0, 1),
  });
  await node.write('lasting', podManifest('lasting', [main, go], { volumes }));
  const before = await node.running('lasting');
  agent.kill('SIGKILL');
  await agent.ended;
  agent = await node.start();
  const after = await node.running('lasting');
  expect(identitiesOf(after)).toEqual(identitiesOf(before));
  expect(await node.log(after, 'main', end)).toEqual(['before']);
  expect((await mountsOfPods()).length).toBe(kept.length + 2);
  await node.remove('lasting');
  await node.gone('lasting');
  expect((await mountsOfPods()).sort()).toEqual(kept.sort());
  expect(await readdir(join(node.rootDir, 'pods'))).not.toContain(before.metadata.uid);
});

test('C21: a variable can be read from a file that an init container wrote, and combined with pod fields and other variables', async () => {
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const write = `printf "FROM='a file'\\nOTHER='no'\\n" > /data/config.env`;
  const spec = {
    volumes: [{ name: 'data', emptyDir: {} }],
    initContainers: [shell('setup', write, { volumeMounts })],
  };
  const fileKeyRef = { volumeName: 'data', path: 'config.env' };
  const env = [
    { name: 'FROM', valueFrom: { fileKeyRef: { ...fileKeyRef, key: 'FROM' } } },
    { name: 'MISSING', valueFrom: { fileKeyRef: { ...fileKeyRef, key: 'MISSING', optional: true } } },
    { name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    { name: 'ALL', value: '$(FROM) $(MISSING) $$(FROM)' },
  ];
  const lines = await outputOf('informed', 'echo "$ALL"; echo "$HOST"; ls /data', spec, { env });
  const { hostIP } = (await node.running('informed')).status ?? {};
  expect(lines).toEqual(['a file $(MISSING) $(FROM)', hostIP, 'ls: /data: No such file or directory']);
});

describe('names', () => {
  test('C18, C19, C20: include host aliases, the FQDN as hostname, and a custom resolver', async () => {
    const lines = await outputOf('named', 'hostname; cat /etc/resolv.conf; tail -n 4 /etc/hosts', {
      hostname: 'front',
      subdomain: 'shop',
      setHostnameAsFQDN: true,
      hostAliases: [{ ip: '192.0.2.1', hostnames: ['a', 'b.example'] }],
      dnsPolicy: 'None',
      dnsConfig: {
        nameservers: ['192.0.2.53'],
        searches: ['one.example', 'two.example'],
        options: [{ name: 'ndots', value: '3' }, { name: 'edns0' }],
      },
    });
    const { podIP } = (await node.running('named')).status ?? {};
    // The node has no cluster domain.
    const domain = 'shop.default.svc.';
    expect(lines).toEqual([
      `front.${domain}`,
      'search one.example two.example',
      'nameserver 192.0.2.53',
      'options ndots:3 edns0',
      `${podIP}\tfront.${domain}\tfront`,
      '',
      '# Entries added by HostAliases.',
      '192.0.2.1\ta\tb.example',
    ]);
  });

  test('C18, C19: are those of the host for a pod on the host network', async () => {
    const hostAliases = [{ ip: '192.0.2.1', hostnames: ['alias'] }];
    const lines = await outputOf('hosted', 'head -n 1 /etc/hosts; tail -n 1 /etc/hosts; hostname', {
      hostNetwork: true,
      hostAliases,
    });
    expect(lines).toEqual(['# Kubernetes-managed hosts file (host network).', '192.0.2.1\talias', hostname()]);
  });
});
