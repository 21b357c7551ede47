/**
 * Reads and writes the kubelet's checkpoint files of pod resources, so that this agent and the kubelet can use each
 * other's files (`pkg/kubelet/allocation/state`).
 */
import * as z from 'zod/mini';
import { lookUp } from '../../base/values/lookUp.ts';
import { parseJson } from '../../base/values/parseJson.ts';
import { fnv1a } from '../api/pods/containerHash.ts';
import { resourceRequirementsSchema } from '../api/schema/container.ts';
import type { PodResources } from './resize.ts';

/** The resources of pods, by UID. */
export type ResourceCheckpoint = ReadonlyMap<string, PodResources>;

/** Name of the file that contains the resources with which pods were admitted. */
export const ALLOCATED_CHECKPOINT = 'allocated_pods_state';
/** Name of the file that contains the resources actually applied to containers and to pod cgroups. */
export const ACTUATED_CHECKPOINT = 'actuated_pods_state';

const checkpointSchema = z.object({ data: z.string(), checksum: z.number() });

/** Entries by pod UID. Go encodes a nil map or pointer as null. */
const entriesSchema = z.record(
  z.string(),
  z.object({
    ContainerResources: z.optional(z.nullable(z.record(z.string(), resourceRequirementsSchema))),
    PodLevelResources: z.optional(z.nullable(resourceRequirementsSchema)),
  }),
);
const dataSchema = z.object({ entries: z.optional(z.nullable(entriesSchema)) });

/** Parses a checkpoint. Throws an error with the kubelet's message if its checksum is wrong. */
export function parseResourceCheckpoint(text: string): ResourceCheckpoint {
  const checkpoint = checkpointSchema.safeParse(parseJson(text));
  if (!checkpoint.success) throw new Error('expected a JSON object with data and checksum');
  const { data, checksum } = checkpoint.data;
  if (checksumOf(data) !== checksum) throw new Error('checkpoint is corrupted');
  const content = dataSchema.safeParse(parseJson(data));
  if (!content.success) throw new Error('expected the resources of pods by their UIDs in data');
  return new Map(
    Object.entries(content.data.entries ?? {}).map(([uid, { ContainerResources, PodLevelResources }]) => [
      uid,
      { ...(PodLevelResources ? { pod: PodLevelResources } : {}), containers: ContainerResources ?? {} },
    ]),
  );
}

/** Formats a checkpoint as the kubelet does, with sorted names and without whitespace. */
export function formatResourceCheckpoint(podResources: ResourceCheckpoint): string {
  const entries = Object.fromEntries(
    [...podResources.keys()].sort().map((uid) => [uid, checkpointEntry(podResources.get(uid))]),
  );
  const data = JSON.stringify(podResources.size === 0 ? {} : { entries });
  return JSON.stringify({ data, checksum: checksumOf(data) });
}

/** Returns the hash of a string, computed over its representation in the format of `k8s.io/utils/dump`. */
const checksumOf = (data: string): number => fnv1a(`(string)${data}`);

function checkpointEntry(resources: PodResources | undefined) {
  const { pod, containers = {} } = resources ?? {};
  const names = Object.keys(containers).sort();
  const sortedContainers = Object.fromEntries(names.map((name) => [name, lookUp(containers, name)]));
  return { ContainerResources: sortedContainers, PodLevelResources: pod ?? null };
}
