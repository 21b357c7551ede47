/** Builds the verbose information in the runtime's statuses, as JSON with containerd's field names. */
import type { Image } from '../../generated/runtime.ts';
import { computeDigest, repositoryName } from '../objects/imageName.ts';
import type { ContainerRecord, SandboxRecord } from '../objects/records.ts';

type VerboseInfo = { [key: string]: string };

const CONTAINERD_ROOT = '/var/lib/containerd';
const SNAPSHOTTER = 'overlayfs';
const RUNTIME_TYPE = 'io.containerd.runc.v2';
const PAUSE_IMAGE = 'registry.k8s.io/pause:3.6';

export const IMAGE_FILESYSTEM = `${CONTAINERD_ROOT}/io.containerd.snapshotter.v1.${SNAPSHOTTER}`;

export function sandboxInfo(record: SandboxRecord): VerboseInfo {
  const { id, ready, pid, config, runtimeHandler, ip, onHostNetwork } = record;
  return toVerboseInfo({
    pid: ready ? pid : 0,
    processStatus: ready ? 'running' : 'deleted',
    netNamespaceClosed: !onHostNetwork && ip === undefined,
    image: PAUSE_IMAGE,
    snapshotKey: id,
    snapshotter: SNAPSHOTTER,
    runtimeHandler,
    runtimeType: RUNTIME_TYPE,
    config: toGoFields(config),
    runtimeSpec: { linux: { cgroupsPath: record.cgroup } },
    cniResult: ip === undefined ? null : { Interfaces: { eth0: { IPConfigs: [{ IP: ip, Gateway: '10.88.0.1' }] } } },
  });
}

export function containerInfo({ id, sandbox, lifecycle, isRemoving, config, cgroup }: ContainerRecord): VerboseInfo {
  return toVerboseInfo({
    sandboxID: sandbox.id,
    pid: lifecycle.state === 'running' ? lifecycle.pid : 0,
    removing: isRemoving,
    snapshotKey: id,
    snapshotter: SNAPSHOTTER,
    runtimeType: RUNTIME_TYPE,
    config: toGoFields(config),
    runtimeSpec: { process: { args: [...config.command, ...config.args] }, linux: { cgroupsPath: cgroup } },
  });
}

export function imageInfo({ id, repoTags }: Image): VerboseInfo {
  const [name = id] = repoTags;
  const layerDigest = computeDigest(`layer of ${repositoryName(name)}`);
  const imageSpec = {
    architecture: 'amd64',
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: [layerDigest] },
  };
  return toVerboseInfo({ chainID: layerDigest, imageSpec });
}

/**
 * Returns the verbose information about the runtime. `problem` is the reason why the network is not ready, or undefined
 * if it is ready.
 */
export function runtimeInfo(problem: string | undefined): VerboseInfo {
  const containerd = { snapshotter: SNAPSHOTTER, defaultRuntimeName: 'runc' };
  return {
    config: JSON.stringify({
      containerd,
      containerdRootDir: CONTAINERD_ROOT,
      sandboxImage: PAUSE_IMAGE,
      simulated: true,
    }),
    golang: JSON.stringify('none'),
    lastCNILoadStatus: problem ?? 'OK',
    'lastCNILoadStatus.default': problem ?? 'OK',
  };
}

function toVerboseInfo(fields: Record<string, unknown>): VerboseInfo {
  return { info: JSON.stringify(fields) };
}

/**
 * Converts a message to Go's JSON format, with snake-case names and without empty fields. Preserves the keys of maps.
 */
function toGoFields(message: unknown, isMap = false): unknown {
  if (typeof message === 'bigint') return Number(message);
  if (Buffer.isBuffer(message)) return message.toString();
  if (Array.isArray(message)) return message.map((item) => toGoFields(item));
  if (typeof message !== 'object' || message === null) return message;
  const fields = Object.entries(message).filter(([, field]) => !isEmpty(field));
  return Object.fromEntries(
    fields.map(([name, field]) => [isMap ? name : snakeCase(name), toGoFields(field, MAP_FIELDS.has(name))]),
  );
}

const MAP_FIELDS = new Set(['labels', 'annotations', 'sysctls', 'unified']);

function isEmpty(field: unknown): boolean {
  if (typeof field === 'object' && field !== null) return Object.keys(field).length === 0;
  return [undefined, null, '', 0, 0n, false].some((emptyValue) => field === emptyValue);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
