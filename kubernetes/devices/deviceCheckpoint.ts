/**
 * Reads and writes the kubelet's checkpoint file of device allocations, `kubelet_internal_checkpoint`
 * (`pkg/kubelet/cm/devicemanager/checkpoint`).
 */
import * as z from 'zod/mini';
import { fnv1a } from '../api/pods/containerHash.ts';
import type { DeviceAllocation } from './devices.ts';

/** A device allocation with the plugin's response encoded as protobuf. */
interface CheckpointEntry extends Omit<DeviceAllocation, 'edits'> {
  readonly response: Uint8Array;
}

export interface DeviceCheckpoint {
  readonly entries: readonly CheckpointEntry[];
  /** The resources of all plugins, with their healthy devices. */
  readonly registered: readonly { readonly resource: string; readonly healthyIds: readonly string[] }[];
}

const idsSchema = z.nullish(z.array(z.string()));
const entrySchema = z.object({
  PodUID: z._default(z.string(), ''),
  ContainerName: z._default(z.string(), ''),
  ResourceName: z._default(z.string(), ''),
  DeviceIDs: z.nullish(z.record(z.string(), idsSchema)),
  AllocResp: z.nullish(z.base64()),
});
const checkpointSchema = z.object({
  Data: z.object({
    PodDeviceEntries: z.nullish(z.array(entrySchema)),
    RegisteredDevices: z.nullish(z.record(z.string(), idsSchema)),
  }),
  Checksum: z.number(),
});

type Entry = z.infer<typeof entrySchema>;
type CheckpointData = z.infer<typeof checkpointSchema>['Data'];

/** Parses a checkpoint. Throws an error with the kubelet's message if the file is damaged. */
export function parseDeviceCheckpoint(text: string): DeviceCheckpoint {
  const { Data: data, Checksum: checksum } = checkpointSchema.parse(JSON.parse(text));
  if (checksum !== checksumOf(data)) throw new Error('checkpoint is corrupted');
  return {
    entries: (data.PodDeviceEntries ?? []).map((entry) => ({
      podUid: entry.PodUID,
      container: entry.ContainerName,
      resource: entry.ResourceName,
      devicesByNode: sortedNodes(entry).map(([numaNode, ids]) => ({ numaNode, ids: ids ?? [] })),
      response: Buffer.from(entry.AllocResp ?? '', 'base64'),
    })),
    registered: sortedEntries(data.RegisteredDevices ?? {}).map(([resource, ids]) => ({
      resource,
      healthyIds: ids ?? [],
    })),
  };
}

export function formatDeviceCheckpoint({ entries, registered }: DeviceCheckpoint): string {
  const data: CheckpointData = {
    // Write null instead of an empty list, as the kubelet does, because this affects the checksum.
    PodDeviceEntries:
      entries.length === 0
        ? null
        : entries.map(({ podUid, container, resource, devicesByNode, response }) => ({
            PodUID: podUid,
            ContainerName: container,
            ResourceName: resource,
            DeviceIDs: Object.fromEntries(
              devicesByNode.map(({ numaNode, ids }) => [String(numaNode), [...ids]] as const),
            ),
            AllocResp: Buffer.from(response).toString('base64'),
          })),
    RegisteredDevices: Object.fromEntries(
      registered.map(({ resource, healthyIds }) => [resource, [...healthyIds]] as const),
    ),
  };
  return JSON.stringify({ Data: data, Checksum: checksumOf(data) });
}

/** Returns the hash of the data in the text form of `k8s.io/utils/dump`. */
function checksumOf({ PodDeviceEntries: entries, RegisteredDevices: registered }: CheckpointData): number {
  const registeredText = mapText(sortedEntries(registered ?? {}), registered);
  const text = `(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)${listText(entries?.map(entryText))} RegisteredDevices:(map[string][]string)${registeredText}}`;
  // Convert each UTF-8 byte to one character, because `fnv1a` hashes one byte per character.
  return fnv1a(Buffer.from(text).toString('latin1'));
}

function entryText(entry: Entry): string {
  const { PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp } = entry;
  const bytes = AllocResp === null || AllocResp === undefined ? undefined : [...Buffer.from(AllocResp, 'base64')];
  return `{PodUID:(string)${PodUID} ContainerName:(string)${ContainerName} ResourceName:(string)${ResourceName} DeviceIDs:(checkpoint.DevicesPerNUMA)${mapText(sortedNodes(entry), DeviceIDs)} AllocResp:([]uint8)${listText(bytes)}}`;
}

type Ids = readonly string[] | null | undefined;

function mapText(
  entries: readonly (readonly [key: string | number, ids: Ids])[],
  map: object | null | undefined,
): string {
  if (map === null || map === undefined) return '<nil>';
  return `map[${entries.map(([key, ids]) => `${key}:${listText(ids)}`).join(' ')}]`;
}

const listText = (items: readonly (string | number)[] | null | undefined): string =>
  items === null || items === undefined ? '<nil>' : `[${items.join(' ')}]`;

/** Returns the device IDs by NUMA node, in ascending order of the nodes. */
const sortedNodes = ({ DeviceIDs: idsByNode }: Entry): [numaNode: number, ids: Ids][] =>
  Object.entries(idsByNode ?? {})
    .map(([node, ids]): [number, Ids] => [Number(node), ids])
    .sort(([first], [second]) => first - second);

const sortedEntries = <T>(map: Readonly<Record<string, T>>): [string, T][] =>
  Object.entries(map).sort(([first], [second]) => (first < second ? -1 : 1));
