/** What statuses say of the runtime's own affairs when they are asked to be verbose: JSON, in containerd's fields. */
import type { Image } from '../generated/runtime.ts';
import { digestOf, repositoryOf } from './imageName.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';

type Info = { [key: string]: string };

const ROOT = '/var/lib/containerd';
const SNAPSHOTTER = 'overlayfs';
const RUNTIME_TYPE = 'io.containerd.runc.v2';
const PAUSE = 'registry.k8s.io/pause:3.6';

/** Where images and the containers' own layers would be. */
export const IMAGE_FILESYSTEM = `${ROOT}/io.containerd.snapshotter.v1.${SNAPSHOTTER}`;

/** Of a sandbox. */
export function sandboxInfo(record: SandboxRecord): Info {
  const { id, ready, pid, config, runtimeHandler, ip, onHostNetwork } = record;
  return asInfo({
    pid: ready ? pid : 0,
    processStatus: ready ? 'running' : 'deleted',
    netNamespaceClosed: !onHostNetwork && ip === undefined,
    image: PAUSE,
    snapshotKey: id,
    snapshotter: SNAPSHOTTER,
    runtimeHandler,
    runtimeType: RUNTIME_TYPE,
    config: inGoFields(config),
    runtimeSpec: { linux: { cgroupsPath: record.cgroup } },
    cniResult: ip === undefined ? null : { Interfaces: { eth0: { IPConfigs: [{ IP: ip, Gateway: '10.88.0.1' }] } } },
  });
}

/** Of a container. */
export function containerInfo({ id, sandbox, life, removing, config, cgroup }: ContainerRecord): Info {
  return asInfo({
    sandboxID: sandbox.id,
    pid: life.state === 'running' ? life.pid : 0,
    removing,
    snapshotKey: id,
    snapshotter: SNAPSHOTTER,
    runtimeType: RUNTIME_TYPE,
    config: inGoFields(config),
    runtimeSpec: { process: { args: [...config.command, ...config.args] }, linux: { cgroupsPath: cgroup } },
  });
}

/** Of an image. */
export function imageInfo({ id, repoTags }: Image): Info {
  const [name = id] = repoTags;
  const layer = digestOf(`layer of ${repositoryOf(name)}`);
  const imageSpec = { architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [layer] } };
  return asInfo({ chainID: layer, imageSpec });
}

/** Of the runtime itself, with what is wrong with its network. */
export function runtimeInfo(problem: string | undefined): Info {
  const containerd = { snapshotter: SNAPSHOTTER, defaultRuntimeName: 'runc' };
  return {
    config: JSON.stringify({ containerd, containerdRootDir: ROOT, sandboxImage: PAUSE, simulated: true }),
    golang: JSON.stringify('none'),
    lastCNILoadStatus: problem ?? 'OK',
    'lastCNILoadStatus.default': problem ?? 'OK',
  };
}

function asInfo(fields: Record<string, unknown>): Info {
  return { info: JSON.stringify(fields) };
}

/** A message as Go writes it: fields in snake case, empty ones left out. Keys of maps stay as they are. */
function inGoFields(message: unknown, isMap = false): unknown {
  if (typeof message === 'bigint') return Number(message);
  if (Buffer.isBuffer(message)) return message.toString();
  if (Array.isArray(message)) return message.map((each) => inGoFields(each));
  if (typeof message !== 'object' || message === null) return message;
  const fields = Object.entries(message).filter(([, field]) => !isEmpty(field));
  return Object.fromEntries(
    fields.map(([name, field]) => [isMap ? name : snakeCase(name), inGoFields(field, MAPS.has(name))]),
  );
}

const MAPS = new Set(['labels', 'annotations', 'sysctls', 'unified']);

function isEmpty(field: unknown): boolean {
  if (typeof field === 'object' && field !== null) return Object.keys(field).length === 0;
  return [undefined, null, '', 0, 0n, false].some((empty) => field === empty);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
