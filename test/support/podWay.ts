/**
 * Program that runs a pod from its manifest to phase Running, and prints the files of the product with the functions
 * that ran on the way, as JSON.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNode } from '../../actors/node/createNode.ts';
import { SIMULATED_ENDPOINT } from '../../actors/store/leftOnDisk.ts';
import { systemClock } from '../../base/time/clock.ts';
import { inProcessCri } from '../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../cri/simulated/runtime.ts';
import { root } from './root.ts';

const manifest = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - {name: main, image: example.org/web:1, volumeMounts: [{name: data, mountPath: /data}]}
  volumes: [{name: data, emptyDir: {}}]
`;

const directory = await mkdtemp(join(tmpdir(), 'statelet-way-'));
const staticPodPath = join(directory, 'manifests');
await mkdir(staticPodPath);
await writeFile(join(staticPodPath, 'web.yaml'), manifest);

const runs = Promise.withResolvers<void>();
const put = async ({ status }: { status: { phase?: string } }) => status.phase === 'Running' && runs.resolve();
const cri = inProcessCri(createSimulatedRuntime({ clock: systemClock, images: { anyPullable: true } }));
const node = await createNode(
  {
    nodeName: 'node',
    rootDir: join(directory, 'root'),
    runtimeEndpoint: SIMULATED_ENDPOINT,
    staticPodPath,
    hostIps: ['192.0.2.1'],
    capacity: { cpuMillis: 4_000, memoryBytes: 2 ** 34, pods: 110 },
  },
  { cri, sinks: [{ name: 'way', mustAcknowledge: false, put }] },
);

// Start the profiler only now, because loading the modules runs functions as well.
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
node.start();
await runs.promise;
const { result } = await session.post('Profiler.takePreciseCoverage');

const ran = result.filter(({ functions }) =>
  functions.some(({ functionName, ranges: [range] }) => functionName && range?.count),
);
const files = ran.flatMap(({ url }) => (url.startsWith('file:') ? relative(root, fileURLToPath(url)) : []));
await node.stop();
cri.close();
await rm(directory, { recursive: true, force: true });
process.stdout.write(JSON.stringify(files));
