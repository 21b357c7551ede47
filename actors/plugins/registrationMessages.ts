/** Encodes and decodes the messages with which plugins register (`kubelet/pkg/apis/pluginregistration/v1`). */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import type { Method } from '../../cri/client/method.ts';

/** The self-description of a plugin. */
export interface PluginInfo {
  /** `CSIPlugin`, `DevicePlugin` or `DRAPlugin`. */
  readonly type: string;
  readonly name: string;
  /** The socket of the plugin's own service. */
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}

interface RegistrationStatus {
  readonly isRegistered: boolean;
  readonly error: string;
}

/** Returns the tag of a length-delimited field. */
const fieldTag = (number: number): number => number * 8 + 2;

function decodePluginInfo(bytes: Uint8Array): PluginInfo {
  const reader = new BinaryReader(bytes);
  let [type, name, endpoint] = ['', '', ''];
  const supportedVersions: string[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === fieldTag(1)) type = reader.string();
    else if (tag === fieldTag(2)) name = reader.string();
    else if (tag === fieldTag(3)) endpoint = reader.string();
    else if (tag === fieldTag(4)) supportedVersions.push(reader.string());
    else reader.skip(tag & 7);
  }
  return { type, name, endpoint, supportedVersions };
}

function encodeRegistrationStatus({ isRegistered, error }: RegistrationStatus): Buffer {
  const writer = new BinaryWriter();
  if (isRegistered) writer.uint32(8).bool(true);
  if (error !== '') writer.uint32(fieldTag(2)).string(error);
  return Buffer.from(writer.finish());
}

export const getInfo: Method<object, PluginInfo> = {
  path: '/pluginregistration.Registration/GetInfo',
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: decodePluginInfo,
};

export const notifyRegistrationStatus: Method<RegistrationStatus, object> = {
  path: '/pluginregistration.Registration/NotifyRegistrationStatus',
  requestSerialize: encodeRegistrationStatus,
  responseDeserialize: () => ({}),
};
