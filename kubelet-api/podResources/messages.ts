/**
 * Encodes the fields of pod-resources API messages that can be non-empty on this node
 * (`kubelet/pkg/apis/podresources`).
 */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import type { ClaimState } from '../../kubernetes/claims/claimState.ts';
import type { CpuSet } from '../../kubernetes/cpus/cpuSet.ts';
import type { MemoryBlock } from '../../kubernetes/numaMemory/memoryAssignments.ts';

/** A device and the NUMA node that it is on, if any. */
export interface ListedDevice {
  readonly resource: string;
  readonly id: string;
  readonly numaNode?: number | undefined;
}

interface ContainerResources {
  readonly name: string;
  readonly devices: readonly ListedDevice[];
  readonly cpus: CpuSet;
  readonly memory: readonly MemoryBlock[];
  readonly claims: readonly ClaimState[];
}

/** A pod and its containers. */
export interface PodResources {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly ContainerResources[];
}

/** Returns the tag of a length-delimited field. */
const fieldTag = (number: number): number => number * 8 + 2;

/** Returns the tag of a field that contains an integer. */
const varintTag = (number: number): number => number * 8;

/**
 * Encodes `ListPodResourcesResponse`, or `GetPodResourcesResponse` with one pod. The messages of v1alpha1 are the same.
 */
export function encodePods(pods: readonly PodResources[]): Buffer {
  const writer = new BinaryWriter();
  for (const pod of pods) {
    writer.uint32(fieldTag(1)).fork();
    for (const [number, text] of [
      [1, pod.name],
      [2, pod.namespace],
    ] as const)
      if (text !== '') writer.uint32(fieldTag(number)).string(text);
    for (const { name, devices, cpus, memory, claims } of pod.containers) {
      writer.uint32(fieldTag(3)).fork().uint32(fieldTag(1)).string(name);
      writeDevices(writer, 2, devices);
      writeCpus(writer, 3, cpus);
      writeMemory(writer, 4, memory);
      writeClaims(writer, claims);
      writer.join();
    }
    writer.join();
  }
  return Buffer.from(writer.finish());
}

/**
 * Encodes an `AllocatableResourcesResponse` with the devices, CPUs and memory that can be allocated exclusively to
 * containers.
 */
export function encodeAllocatable(
  devices: readonly ListedDevice[],
  cpus: CpuSet,
  memory: readonly MemoryBlock[],
): Buffer {
  const writer = new BinaryWriter();
  writeDevices(writer, 1, devices);
  writeCpus(writer, 2, cpus);
  writeMemory(writer, 3, memory);
  return Buffer.from(writer.finish());
}

/** Writes each device as a `ContainerDevices` message with its resource and its NUMA node. */
function writeDevices(writer: BinaryWriter, field: number, devices: readonly ListedDevice[]): void {
  for (const { resource, id, numaNode } of devices) {
    writer.uint32(fieldTag(field)).fork();
    writer.uint32(fieldTag(1)).string(resource).uint32(fieldTag(2)).string(id);
    if (numaNode !== undefined) {
      writer.uint32(fieldTag(3)).fork().uint32(fieldTag(1)).fork();
      // Omit node 0, because protobuf does not encode default values.
      if (numaNode > 0) writer.uint32(NODE_ID_TAG).int64(numaNode);
      writer.join().join();
    }
    writer.join();
  }
}

/** Tag of the `ID` field of a NUMA node, which is a varint. */
const NODE_ID_TAG = 8;

/** Writes the IDs of CPUs as a packed field. Omits the field if there are none. */
function writeCpus(writer: BinaryWriter, field: number, cpus: CpuSet): void {
  if (cpus.length === 0) return;
  writer.uint32(fieldTag(field)).fork();
  for (const cpu of cpus) writer.int64(cpu);
  writer.join();
}

/** Writes blocks as `ContainerMemory` messages with their kind, size and NUMA nodes. */
function writeMemory(writer: BinaryWriter, field: number, blocks: readonly MemoryBlock[]): void {
  for (const { resource, bytes, numaNodes } of blocks) {
    writer.uint32(fieldTag(field)).fork().uint32(fieldTag(1)).string(resource);
    if (bytes > 0) writer.uint32(varintTag(2)).uint64(bytes);
    writer.uint32(fieldTag(3)).fork();
    for (const id of numaNodes) {
      writer.uint32(fieldTag(1)).fork();
      if (id > 0) writer.uint32(varintTag(1)).int64(id);
      writer.join();
    }
    writer.join().join();
  }
}

/** Writes claims as `DynamicResource` messages, with the devices that the drivers have prepared for them. */
function writeClaims(writer: BinaryWriter, claims: readonly ClaimState[]): void {
  for (const { name, namespace, drivers } of claims) {
    writer.uint32(fieldTag(5)).fork().uint32(fieldTag(2)).string(name).uint32(fieldTag(3)).string(namespace);
    for (const driver of drivers)
      for (const { cdiIds, poolName, deviceName, shareId } of driver.devices) {
        writer.uint32(fieldTag(4)).fork();
        for (const id of cdiIds) writer.uint32(fieldTag(1)).fork().uint32(fieldTag(1)).string(id).join();
        writer.uint32(fieldTag(2)).string(driver.name).uint32(fieldTag(3)).string(poolName);
        writer.uint32(fieldTag(4)).string(deviceName);
        if (shareId !== undefined) writer.uint32(fieldTag(5)).string(shareId);
        writer.join();
      }
    writer.join();
  }
}

export interface RequestedPod {
  readonly name: string;
  readonly namespace: string;
}

/** Decodes `GetPodResourcesRequest`. Throws if the bytes are invalid. */
export function decodeRequestedPod(bytes: Uint8Array): RequestedPod {
  const reader = new BinaryReader(bytes);
  let [name, namespace] = ['', ''];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === fieldTag(1)) name = reader.string();
    else if (tag === fieldTag(2)) namespace = reader.string();
    else reader.skip(tag & 7);
  }
  return { name, namespace };
}
