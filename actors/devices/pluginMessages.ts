/**
 * Encodes and decodes the messages of the device plugin API
 * (`staging/src/k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/api.proto`).
 */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import type { Method } from '../../cri/client/method.ts';
import type { PreferenceRequest } from '../../kubernetes/devices/chooseDevices.ts';
import type {
  ContainerEdits,
  DeviceMount,
  DeviceNode,
  PluginDevice,
  PluginOptions,
} from '../../kubernetes/devices/devices.ts';

/** Registration of a plugin with the node. */
export interface RegisterRequest {
  readonly version: string;
  /** Name of the plugin's socket, in the directory of device plugins. */
  readonly endpoint: string;
  readonly resourceName: string;
}

/** Functions that read the fields of a message into a decoder's variables, keyed by field number. */
type FieldReaders = Readonly<Record<number, (reader: BinaryReader) => void>>;

/** Reads a message of `length` bytes, or all bytes of the reader. Skips unknown fields. */
function readFields(reader: BinaryReader, fields: FieldReaders, length = reader.len - reader.pos): void {
  const end = reader.pos + length;
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    const readField = fields[number];
    if (readField === undefined) reader.skip(wireType, number);
    else readField(reader);
  }
}

const readEmbedded = (reader: BinaryReader, fields: FieldReaders): void => readFields(reader, fields, reader.uint32());

/** Returns the tag of a length-delimited field. */
const bytesTag = (number: number): number => number * 8 + 2;
/** Returns the tag of a varint field. */
const integerTag = (number: number): number => number * 8;

const finish = (writer: BinaryWriter): Buffer => Buffer.from(writer.finish());

/** Writes a string field. Omits an empty string, which is the default. */
function writeText(writer: BinaryWriter, number: number, text: string): void {
  if (text !== '') writer.uint32(bytesTag(number)).string(text);
}

function writeTexts(writer: BinaryWriter, number: number, texts: readonly string[]): void {
  for (const text of texts) writer.uint32(bytesTag(number)).string(text);
}

function writeFlag(writer: BinaryWriter, number: number, flag: boolean): void {
  if (flag) writer.uint32(integerTag(number)).bool(flag);
}

export function decodeRegisterRequest(bytes: Uint8Array): RegisterRequest {
  let [version, endpoint, resourceName] = ['', '', ''];
  readFields(new BinaryReader(bytes), {
    1: (reader) => {
      version = reader.string();
    },
    2: (reader) => {
      endpoint = reader.string();
    },
    3: (reader) => {
      resourceName = reader.string();
    },
  });
  return { version, endpoint, resourceName };
}

function decodeOptions(bytes: Uint8Array): PluginOptions {
  let [needsPreStart, hasPreferences] = [false, false];
  readFields(new BinaryReader(bytes), {
    1: (reader) => {
      needsPreStart = reader.bool();
    },
    2: (reader) => {
      hasPreferences = reader.bool();
    },
  });
  return { needsPreStart, hasPreferences };
}

/** Decodes a `ListAndWatchResponse`. If several devices have the same ID, the last one wins, as in the kubelet. */
function decodeDevices(bytes: Uint8Array): readonly PluginDevice[] {
  const deviceById = new Map<string, PluginDevice>();
  readFields(new BinaryReader(bytes), {
    1: (reader) => {
      const device = readDevice(reader);
      deviceById.set(device.id, device);
    },
  });
  return [...deviceById.values()];
}

function readDevice(reader: BinaryReader): PluginDevice {
  let [id, health] = ['', ''];
  const numaNodes: number[] = [];
  const readNode: FieldReaders = { 1: (each) => void numaNodes.push(Number(each.int64())) };
  const nodeCount: FieldReaders = {
    1: (each) => {
      const previousCount = numaNodes.length;
      readEmbedded(each, readNode);
      // A NUMA node without an ID is node 0, because proto3 does not encode zero values.
      if (numaNodes.length === previousCount) numaNodes.push(0);
    },
  };
  readEmbedded(reader, {
    1: (each) => {
      id = each.string();
    },
    2: (each) => {
      health = each.string();
    },
    3: (each) => readEmbedded(each, nodeCount),
  });
  return { id, isHealthy: health === 'Healthy', numaNodes: numaNodes.sort((first, second) => first - second) };
}

/** Encodes a `PreferredAllocationRequest` for one container. */
function encodePreferenceRequest({ available, mustInclude, count }: PreferenceRequest): Buffer {
  const writer = new BinaryWriter();
  writer.uint32(bytesTag(1)).fork();
  writeTexts(writer, 1, available);
  writeTexts(writer, 2, mustInclude);
  if (count !== 0) writer.uint32(integerTag(3)).int32(count);
  return finish(writer.join());
}

/** Decodes the preferred devices of the first container in a `PreferredAllocationResponse`. */
function decodePreferredDevices(bytes: Uint8Array): readonly string[] {
  const containers: string[][] = [];
  readFields(new BinaryReader(bytes), {
    1: (reader) => {
      const ids: string[] = [];
      readEmbedded(reader, { 1: (each) => void ids.push(each.string()) });
      containers.push(ids);
    },
  });
  return containers[0] ?? [];
}

/** Encodes an `AllocateRequest` for one container. */
function encodeAllocateRequest(devices: readonly string[]): Buffer {
  const writer = new BinaryWriter();
  writer.uint32(bytesTag(1)).fork();
  writeTexts(writer, 1, devices);
  return finish(writer.join());
}

/** Encodes a `PreStartContainerRequest`. */
function encodePreStartRequest(devices: readonly string[]): Buffer {
  const writer = new BinaryWriter();
  writeTexts(writer, 1, devices);
  return finish(writer);
}

/** Decodes the edits of each container in an `AllocateResponse`. */
function decodeAllocateResponse(bytes: Uint8Array): readonly ContainerEdits[] {
  const containers: ContainerEdits[] = [];
  readFields(new BinaryReader(bytes), { 1: (reader) => void containers.push(readEdits(reader, reader.uint32())) });
  return containers;
}

/** Decodes a `ContainerAllocateResponse` from a checkpoint. */
export function decodeEdits(bytes: Uint8Array): ContainerEdits {
  const reader = new BinaryReader(bytes);
  return readEdits(reader, reader.len);
}

function readEdits(reader: BinaryReader, length: number): ContainerEdits {
  const envs = new Map<string, string>();
  const annotations = new Map<string, string>();
  const mounts: DeviceMount[] = [];
  const devices: DeviceNode[] = [];
  const cdiDevices: string[] = [];
  readFields(
    reader,
    {
      1: (each) => readMapEntry(each, envs),
      2: (each) => void mounts.push(readMount(each)),
      3: (each) => void devices.push(readDeviceNode(each)),
      4: (each) => readMapEntry(each, annotations),
      5: (each) => readEmbedded(each, { 1: (name) => void cdiDevices.push(name.string()) }),
    },
    length,
  );
  return { envs: [...envs], mounts, devices, annotations: [...annotations], cdiDevices };
}

function readMapEntry(reader: BinaryReader, map: Map<string, string>): void {
  let [key, value] = ['', ''];
  readEmbedded(reader, {
    1: (each) => {
      key = each.string();
    },
    2: (each) => {
      value = each.string();
    },
  });
  map.set(key, value);
}

function readMount(reader: BinaryReader): DeviceMount {
  let [containerPath, hostPath, isReadOnly] = ['', '', false];
  readEmbedded(reader, {
    1: (each) => {
      containerPath = each.string();
    },
    2: (each) => {
      hostPath = each.string();
    },
    3: (each) => {
      isReadOnly = each.bool();
    },
  });
  return { containerPath, hostPath, isReadOnly };
}

function readDeviceNode(reader: BinaryReader): DeviceNode {
  let [containerPath, hostPath, permissions] = ['', '', ''];
  readEmbedded(reader, {
    1: (each) => {
      containerPath = each.string();
    },
    2: (each) => {
      hostPath = each.string();
    },
    3: (each) => {
      permissions = each.string();
    },
  });
  return { containerPath, hostPath, permissions };
}

/** Encodes a `ContainerAllocateResponse`, for a checkpoint. */
export function encodeEdits({ envs, mounts, devices, annotations, cdiDevices }: ContainerEdits): Buffer {
  const writer = new BinaryWriter();
  writeMap(writer, 1, envs);
  for (const { containerPath, hostPath, isReadOnly } of mounts) {
    writer.uint32(bytesTag(2)).fork();
    writeText(writer, 1, containerPath);
    writeText(writer, 2, hostPath);
    writeFlag(writer, 3, isReadOnly);
    writer.join();
  }
  for (const { containerPath, hostPath, permissions } of devices) {
    writer.uint32(bytesTag(3)).fork();
    writeText(writer, 1, containerPath);
    writeText(writer, 2, hostPath);
    writeText(writer, 3, permissions);
    writer.join();
  }
  writeMap(writer, 4, annotations);
  for (const name of cdiDevices) {
    writer.uint32(bytesTag(5)).fork();
    writeText(writer, 1, name);
    writer.join();
  }
  return finish(writer);
}

function writeMap(writer: BinaryWriter, number: number, entries: ContainerEdits['envs']): void {
  for (const [key, value] of entries) {
    writer.uint32(bytesTag(number)).fork();
    writer.uint32(bytesTag(1)).string(key).uint32(bytesTag(2)).string(value);
    writer.join();
  }
}

const encodeEmpty = (): Buffer => Buffer.alloc(0);

export const getOptions: Method<object, PluginOptions> = {
  path: '/v1beta1.DevicePlugin/GetDevicePluginOptions',
  requestSerialize: encodeEmpty,
  responseDeserialize: decodeOptions,
};

/** Streams all devices, initially and on each change. */
export const listAndWatch: Method<object, readonly PluginDevice[]> = {
  path: '/v1beta1.DevicePlugin/ListAndWatch',
  requestSerialize: encodeEmpty,
  responseDeserialize: decodeDevices,
};

export const getPreferredAllocation: Method<PreferenceRequest, readonly string[]> = {
  path: '/v1beta1.DevicePlugin/GetPreferredAllocation',
  requestSerialize: encodePreferenceRequest,
  responseDeserialize: decodePreferredDevices,
};

export const allocate: Method<readonly string[], readonly ContainerEdits[]> = {
  path: '/v1beta1.DevicePlugin/Allocate',
  requestSerialize: encodeAllocateRequest,
  responseDeserialize: decodeAllocateResponse,
};

export const preStartContainer: Method<readonly string[], object> = {
  path: '/v1beta1.DevicePlugin/PreStartContainer',
  requestSerialize: encodePreStartRequest,
  responseDeserialize: () => ({}),
};
