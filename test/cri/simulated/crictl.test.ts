/**
 * `crictl` of kubernetes-sigs/cri-tools works against the simulated runtime's socket. Each request is the one that the
 * command sends according to its sources in cmd/crictl, and the tests read the response as the command does.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import * as wire from '../../../cri/generated/runtime.ts';
import { serveSimulatedRuntime } from '../../../cri/simulated/serveSimulatedRuntime.ts';
import { type RawCalls, rawCalls } from '../rawCalls.ts';
import { IMAGE, type Simulation, simulate } from './support.ts';

const { PodSandboxState, ContainerState } = wire;

let directory: string;
let server: { close: () => Promise<void> };
let simulation: Simulation;
let crictl: RawCalls;
let sandbox: string;
let container: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crictl-'));
  simulation = simulate();
  server = await serveSimulatedRuntime(simulation.runtime, join(directory, 'runtime.sock'));
  crictl = rawCalls(`unix://${directory}/runtime.sock`);
  const sandboxConfig = wire.PodSandboxConfig.fromPartial({
    metadata: { name: 'web', namespace: 'default', uid: 'u1' },
    labels: { app: 'web' },
    linux: { cgroupParent: '/kubepods/podu1' },
  });
  const config = wire.ContainerConfig.fromPartial({
    metadata: { name: 'main' },
    image: { image: IMAGE },
    command: ['httpd', '-f'],
    envs: [{ key: 'MODE', value: Buffer.from('fast') }],
    labels: { app: 'web' },
    linux: { resources: { memoryLimitInBytes: 64n * 2n ** 20n } },
  });
  sandbox = (await crictl.call('runPodSandbox', { config: sandboxConfig, runtimeHandler: '' })).podSandboxId;
  const created = await crictl.call('createContainer', { podSandboxId: sandbox, config, sandboxConfig });
  container = created.containerId;
  await crictl.call('startContainer', { containerId: container });
  await simulation.clock.advance(10_000);
});

afterEach(async () => {
  crictl.close();
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

/** Returns what `outputStatusInfo` in util.go prints in addition to the status, parsed as JSON. */
const parsedInfo = (info: Readonly<Record<string, string>>) => JSON.parse(info.info ?? '');

test('crictl connects, because the runtime and the image service both respond', async () => {
  // NewRemoteRuntimeService and NewRemoteImageService of k8s.io/cri-client
  await expect(crictl.call('version', { version: '' })).resolves.toBeDefined();
  await expect(crictl.call('imageFsInfo', {})).resolves.toBeDefined();
});

test('crictl version works', async () => {
  // version.go
  expect(await crictl.call('version', { version: 'v1' })).toEqual({
    version: '0.1.0',
    runtimeName: 'simulated',
    runtimeVersion: '1.0.0',
    runtimeApiVersion: 'v1',
  });
});

test('crictl info shows conditions, and the configuration unless it is quiet', async () => {
  // info.go
  const { status, info } = await crictl.call('status', { verbose: true });
  expect(status?.conditions).toMatchObject([
    { type: 'RuntimeReady', status: true },
    { type: 'NetworkReady', status: true },
  ]);
  expect(JSON.parse(info.config ?? '')).toMatchObject({ simulated: true });
  expect(info.lastCNILoadStatus).toBe('OK');
  expect((await crictl.call('status', { verbose: false })).info).toEqual({});
});

test('crictl pods lists all sandboxes, or selects by ID, state or label', async () => {
  // ListPodSandboxes in sandbox.go
  const pods = async (filter: Partial<wire.PodSandboxFilter>) => {
    const { items } = await crictl.call('listPodSandbox', { filter: wire.PodSandboxFilter.fromPartial(filter) });
    return items.map(({ id, state, metadata }) => [id, state, metadata?.name, metadata?.namespace, metadata?.attempt]);
  };
  const row = [sandbox, PodSandboxState.SANDBOX_READY, 'web', 'default', 0];
  expect(await pods({})).toEqual([row]);
  expect(await pods({ id: sandbox.slice(0, 13) })).toEqual([row]);
  expect(await pods({ state: { state: PodSandboxState.SANDBOX_NOTREADY } })).toEqual([]);
  expect(await pods({ labelSelector: { app: 'web' } })).toEqual([row]);
});

test('crictl ps lists running containers, all containers, or selects by ID or pod', async () => {
  // ListContainers in container.go
  const ps = async (filter: Partial<wire.ContainerFilter>) => {
    const { containers } = await crictl.call('listContainers', { filter: wire.ContainerFilter.fromPartial(filter) });
    return containers.map(({ id, image, metadata, podSandboxId }) => [id, image?.image, metadata?.name, podSandboxId]);
  };
  const row = [container, IMAGE, 'main', sandbox];
  const running = { state: { state: ContainerState.CONTAINER_RUNNING } };
  expect(await ps(running)).toEqual([row]);
  expect(await ps({})).toEqual([row]);
  expect(await ps({ id: container.slice(0, 13), ...running })).toEqual([row]);
  expect(await ps({ podSandboxId: sandbox.slice(0, 13), ...running })).toEqual([row]);
  expect(await ps({ state: { state: ContainerState.CONTAINER_EXITED } })).toEqual([]);
});

test('crictl inspectp shows status and configuration by an ID prefix', async () => {
  // PodSandboxStatus in sandbox.go
  const request = { podSandboxId: sandbox.slice(0, 13), verbose: true };
  const { status, info } = await crictl.call('podSandboxStatus', request);
  expect(status).toMatchObject({ id: sandbox, state: PodSandboxState.SANDBOX_READY, network: { ip: '10.88.0.2' } });
  expect(parsedInfo(info)).toMatchObject({
    pid: expect.any(Number),
    processStatus: 'running',
    netNamespaceClosed: false,
    config: { metadata: { name: 'web' }, linux: { cgroup_parent: '/kubepods/podu1' }, labels: { app: 'web' } },
  });
  const quiet = await crictl.call('podSandboxStatus', { ...request, verbose: false });
  expect(quiet.info).toEqual({});
});

test('crictl inspect shows status, process and configuration by an ID prefix', async () => {
  // ContainerStatus in container.go
  const request = { containerId: container.slice(0, 13), verbose: true };
  const { status, info } = await crictl.call('containerStatus', request);
  expect(status).toMatchObject({ id: container, state: ContainerState.CONTAINER_RUNNING, image: { image: IMAGE } });
  expect(parsedInfo(info)).toMatchObject({
    sandboxID: sandbox,
    pid: expect.any(Number),
    removing: false,
    runtimeSpec: { process: { args: ['httpd', '-f'] } },
    config: {
      envs: [{ key: 'MODE', value: Buffer.from('fast') }],
      linux: { resources: { memory_limit_in_bytes: 67_108_864 } },
    },
  });
  simulation.runtime.exitContainer(container, 0);
  expect(parsedInfo((await crictl.call('containerStatus', request)).info)).toMatchObject({ pid: 0 });
});

test('crictl images and inspecti select by name and by an ID prefix', async () => {
  // ListImages and ImageStatus in image.go
  const spec = (image: string) => wire.ImageSpec.fromPartial({ image });
  const { images } = await crictl.call('listImages', { filter: { image: spec('') } });
  expect(images).toMatchObject([{ repoTags: [IMAGE], size: 2n * 2n ** 20n }]);
  const id = images[0]?.id ?? '';
  for (const name of [IMAGE, id, id.slice('sha256:'.length, 20)]) {
    const { image, info } = await crictl.call('imageStatus', { image: spec(name), verbose: true });
    expect(image?.id).toBe(id);
    expect(parsedInfo(info)).toMatchObject({ imageSpec: { os: 'linux', rootfs: { type: 'layers' } } });
  }
});

test('crictl imagefsinfo grows with each image and each container', async () => {
  // ImageFsInfo in image.go
  const used = async () => {
    const { imageFilesystems } = await crictl.call('imageFsInfo', {});
    expect(imageFilesystems).toMatchObject([
      {
        timestamp: BigInt(simulation.clock.now()) * 1_000_000n,
        fsId: { mountpoint: '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs' },
      },
    ]);
    return [imageFilesystems[0]?.usedBytes?.value ?? 0n, imageFilesystems[0]?.inodesUsed?.value ?? 0n] as const;
  };
  const before = await used();
  simulation.runtime.images.add('statelet.local/big:1', 50_000_000);
  const [bytes, inodes] = await used();
  expect(bytes - before[0]).toBe(50_000_000n);
  expect(inodes).toBeGreaterThan(before[1]);
});

test('crictl stats shows CPU time that grows between its two samples, memory and the writable layer', async () => {
  // ContainerStats in container_stats.go, which takes two samples and skips containers without usage
  const sample = async (filter: Partial<wire.ContainerStatsFilter>) =>
    (await crictl.call('listContainerStats', { filter: wire.ContainerStatsFilter.fromPartial(filter) })).stats;
  const [first] = await sample({});
  await simulation.clock.advance(1000);
  const [second] = await sample({ id: container.slice(0, 13), podSandboxId: sandbox.slice(0, 13) });
  expect(second).toMatchObject({
    attributes: { id: container, metadata: { name: 'main' }, labels: { app: 'web' } },
    memory: { workingSetBytes: { value: 2n ** 20n }, availableBytes: { value: 63n * 2n ** 20n } },
    writableLayer: { usedBytes: { value: 32n * 1024n } },
  });
  const cpu = (stats: wire.ContainerStats | undefined) => Number(stats?.cpu?.usageCoreNanoSeconds?.value ?? 0n);
  const nanoseconds = Number((second?.cpu?.timestamp ?? 0n) - (first?.cpu?.timestamp ?? 0n));
  expect((cpu(second) - cpu(first)) / nanoseconds).toBeCloseTo(0.01);
  simulation.runtime.exitContainer(container, 0);
  expect(await sample({})).toMatchObject([{ attributes: { id: container }, cpu: undefined, memory: undefined }]);
  expect(await sample({ labelSelector: { app: 'other' } })).toEqual([]);
});

test('crictl statsp shows the pod and all its containers, network and processes', async () => {
  // podStats in pod_stats.go, which always sends a filter
  const filter = wire.PodSandboxStatsFilter.fromPartial({ id: sandbox.slice(0, 13) });
  const { stats } = await crictl.call('listPodSandboxStats', { filter });
  expect(stats).toMatchObject([
    {
      attributes: { id: sandbox, metadata: { name: 'web' } },
      linux: {
        memory: { workingSetBytes: { value: 2n ** 20n + 256n * 1024n } },
        network: { defaultInterface: { name: 'eth0', rxBytes: { value: 2000n } } },
        process: { processCount: { value: 1n } },
        containers: [{ attributes: { id: container } }],
      },
    },
  ]);
  expect((await crictl.call('podSandboxStats', { podSandboxId: sandbox })).stats).toEqual(stats[0]);
  simulation.runtime.killSandbox(sandbox);
  expect((await crictl.call('listPodSandboxStats', { filter })).stats).toEqual([]);
  const whole = crictl.call('podSandboxStats', { podSandboxId: sandbox });
  await expect(whole).rejects.toMatchObject({ details: expect.stringContaining('is not in ready state') });
});

test('crictl stop, rm, stopp, rmp and rmi accept ID prefixes', async () => {
  // StopContainer and RemoveContainer in container.go, StopPodSandbox and RemovePodSandbox in sandbox.go, rmi in image.go
  await crictl.call('stopContainer', { containerId: container.slice(0, 13), timeout: 0n });
  expect([...simulation.runtime.containers()]).toMatchObject([{ state: 'exited' }]);
  await crictl.call('removeContainer', { containerId: container.slice(0, 13) });
  expect([...simulation.runtime.containers()]).toEqual([]);
  await crictl.call('stopPodSandbox', { podSandboxId: sandbox.slice(0, 13) });
  expect([...simulation.runtime.sandboxes()]).toMatchObject([{ ready: false }]);
  await crictl.call('removePodSandbox', { podSandboxId: sandbox.slice(0, 13) });
  expect([...simulation.runtime.sandboxes()]).toEqual([]);
  await crictl.call('removeImage', { image: wire.ImageSpec.fromPartial({ image: IMAGE }) });
  expect(simulation.runtime.images.listed()).toEqual([]);
});
