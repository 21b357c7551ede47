/** Encodes and decodes the messages of DRA drivers (`kubelet/pkg/apis/dra` and `kubelet/pkg/apis/dra-health`). */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import type { Method } from '../../cri/client/method.ts';
import type { ClaimDevice } from '../../kubernetes/claims/claimState.ts';
import type { ClaimReference, ClaimResult, DeviceHealthReport, PrepareResult } from './resourceDrivers.ts';

/** Returns the tag of a length-delimited field. */
const fieldTag = (number: number): number => number * 8 + 2;

/** Returns the tag of a varint field. */
const numberTag = (number: number): number => number * 8;

/** Encodes the request of a prepare or unprepare call, which is a list of claims. */
function encodeClaims(claims: readonly ClaimReference[]): Buffer {
  const writer = new BinaryWriter();
  for (const { namespace, uid, name } of claims) {
    writer.uint32(fieldTag(1)).fork();
    writer.uint32(fieldTag(1)).string(namespace).uint32(fieldTag(2)).string(uid).uint32(fieldTag(3)).string(name);
    writer.join();
  }
  return Buffer.from(writer.finish());
}

/** Calls `readField` for each field of a message. `readField` returns whether it has read the field. */
function readFields(bytes: Uint8Array, readField: (tag: number, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (!readField(tag, reader)) reader.skip(tag & 7);
  }
}

/** Decodes a map from claim UIDs to messages, which is the first field of the prepare and unprepare responses. */
function decodeClaimMap<Result>(bytes: Uint8Array, decodeResult: (uid: string, bytes: Uint8Array) => Result): Result[] {
  const results: Result[] = [];
  readFields(bytes, (tag, reader) => {
    if (tag !== fieldTag(1)) return false;
    let uid = '';
    let value: Uint8Array = new Uint8Array();
    readFields(reader.bytes(), (entryTag, entryReader) => {
      if (entryTag === fieldTag(1)) uid = entryReader.string();
      else if (entryTag === fieldTag(2)) value = entryReader.bytes();
      else return false;
      return true;
    });
    results.push(decodeResult(uid, value));
    return true;
  });
  return results;
}

function decodePrepareResult(uid: string, bytes: Uint8Array): PrepareResult {
  let error = '';
  const devices: ClaimDevice[] = [];
  readFields(bytes, (tag, reader) => {
    if (tag === fieldTag(1)) devices.push(decodeDevice(reader.bytes()));
    else if (tag === fieldTag(2)) error = reader.string();
    else return false;
    return true;
  });
  return { uid, error, devices };
}

function decodeDevice(bytes: Uint8Array): ClaimDevice {
  let [poolName, deviceName] = ['', ''];
  let shareId: string | undefined;
  const requestNames: string[] = [];
  const cdiIds: string[] = [];
  readFields(bytes, (tag, reader) => {
    if (tag === fieldTag(1)) requestNames.push(reader.string());
    else if (tag === fieldTag(2)) poolName = reader.string();
    else if (tag === fieldTag(3)) deviceName = reader.string();
    else if (tag === fieldTag(4)) cdiIds.push(reader.string());
    else if (tag === fieldTag(5)) shareId = reader.string();
    else return false;
    return true;
  });
  return { poolName, deviceName, shareId, requestNames, cdiIds };
}

function decodeUnprepareResult(uid: string, bytes: Uint8Array): ClaimResult {
  let error = '';
  readFields(bytes, (tag, reader) => {
    if (tag !== fieldTag(1)) return false;
    error = reader.string();
    return true;
  });
  return { uid, error };
}

/** Names of the health states, indexed by their enum value in the API. */
const HEALTH_STATUSES = ['Unknown', 'Healthy', 'Unhealthy'] as const;

function decodeHealthReport(bytes: Uint8Array): DeviceHealthReport {
  let report: DeviceHealthReport = {
    poolName: '',
    deviceName: '',
    status: 'Unknown',
    message: '',
    timeoutSeconds: 0,
  };
  readFields(bytes, (tag, reader) => {
    if (tag === fieldTag(1)) report = { ...report, ...decodeDeviceName(reader.bytes()) };
    else if (tag === numberTag(2)) report = { ...report, status: HEALTH_STATUSES[reader.int32()] ?? 'Unknown' };
    else if (tag === numberTag(4)) report = { ...report, timeoutSeconds: Number(reader.int64()) };
    else if (tag === fieldTag(5)) report = { ...report, message: reader.string() };
    else return false;
    return true;
  });
  return report;
}

function decodeDeviceName(bytes: Uint8Array): Pick<DeviceHealthReport, 'poolName' | 'deviceName'> {
  let [poolName, deviceName] = ['', ''];
  readFields(bytes, (tag, reader) => {
    if (tag === fieldTag(1)) poolName = reader.string();
    else if (tag === fieldTag(2)) deviceName = reader.string();
    else return false;
    return true;
  });
  return { poolName, deviceName };
}

function decodeHealthReports(bytes: Uint8Array): DeviceHealthReport[] {
  const reports: DeviceHealthReport[] = [];
  readFields(bytes, (tag, reader) => {
    if (tag !== fieldTag(1)) return false;
    reports.push(decodeHealthReport(reader.bytes()));
    return true;
  });
  return reports;
}

interface DriverMethods {
  readonly prepare: Method<readonly ClaimReference[], readonly PrepareResult[]>;
  readonly unprepare: Method<readonly ClaimReference[], readonly ClaimResult[]>;
}

const driverMethods = (version: string): DriverMethods => ({
  prepare: {
    path: `/k8s.io.kubelet.pkg.apis.dra.${version}.DRAPlugin/NodePrepareResources`,
    requestSerialize: encodeClaims,
    responseDeserialize: (bytes) => decodeClaimMap(bytes, decodePrepareResult),
  },
  unprepare: {
    path: `/k8s.io.kubelet.pkg.apis.dra.${version}.DRAPlugin/NodeUnprepareResources`,
    requestSerialize: encodeClaims,
    responseDeserialize: (bytes) => decodeClaimMap(bytes, decodeUnprepareResult),
  },
});

/**
 * Methods of the services that the node can call, keyed by the version that a plugin registers. The messages are the
 * same in all versions.
 */
export const DRIVER_SERVICES: ReadonlyMap<string, DriverMethods> = new Map([
  ['v1.DRAPlugin', driverMethods('v1')],
  ['v1beta1.DRAPlugin', driverMethods('v1beta1')],
]);

export const watchResources: Method<object, readonly DeviceHealthReport[]> = {
  path: '/v1alpha1.DRAResourceHealth/NodeWatchResources',
  requestSerialize: () => Buffer.alloc(0),
  responseDeserialize: decodeHealthReports,
};
