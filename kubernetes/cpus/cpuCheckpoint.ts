/**
 * Reads and writes the kubelet's checkpoint file of CPU assignments, `cpu_manager_state`
 * (`pkg/kubelet/cm/cpumanager/state`).
 */
import * as z from 'zod/mini';
import { fnv1a } from '../api/pods/containerHash.ts';
import type { CpuAssignment, CpuAssignments } from './cpuPolicy.ts';
import { type CpuSet, formatCpuSet, parseCpuSet } from './cpuSet.ts';

export type CpuPolicyName = 'none' | 'static';

const entriesSchema = z.record(z.string(), z.record(z.string(), z.string()));
const checkpointSchema = z.object({
  policyname: z._default(z.string(), ''),
  defaultcpuset: z._default(z.string(), ''),
  entries: z._default(entriesSchema, {}),
  checksum: z._default(z.number(), 0),
});

type Checkpoint = z.infer<typeof checkpointSchema>;

/**
 * Parses a checkpoint. Throws an error with the kubelet's message if the file is damaged or was written under a
 * different policy.
 */
export function parseCpuCheckpoint(text: string, policyName: CpuPolicyName): CpuAssignments {
  const checkpoint = checkpointSchema.parse(withLowerCaseKeys(JSON.parse(text)));
  // Ignore a missing checksum, as the kubelet does, because old versions wrote none.
  if (checkpoint.checksum !== 0 && checkpoint.checksum !== checksumOf(checkpoint))
    throw new Error('checkpoint is corrupted');
  if (checkpoint.policyname !== policyName) {
    throw new Error(
      `configured policy ${quote(policyName)} differs from state checkpoint policy ${quote(checkpoint.policyname)}`,
    );
  }
  return {
    shared: parseSet(checkpoint.defaultcpuset, (text) => `could not parse default cpu set ${quote(text)}`),
    exclusive: Object.entries(checkpoint.entries).flatMap(([podUid, containers]) =>
      Object.entries(containers).map(([container, cpus]): CpuAssignment => {
        const description = (text: string) =>
          `could not parse cpuset ${quote(text)} for container ${quote(container)} in pod ${quote(podUid)}`;
        return { podUid, container, cpus: parseSet(cpus, description) };
      }),
    ),
  };
}

/** Formats a checkpoint like the kubelet, with sorted keys and without white space. */
export function formatCpuCheckpoint(policyName: CpuPolicyName, { shared, exclusive }: CpuAssignments): string {
  const podUids = sortedNames(exclusive.map(({ podUid }) => podUid));
  const entries = Object.fromEntries(
    podUids.map((podUid) => {
      const assignments = exclusive.filter((each) => each.podUid === podUid);
      return [
        podUid,
        Object.fromEntries(
          assignments.map(({ container, cpus }) => [container, formatCpuSet(cpus)]).sort(compareByName),
        ),
      ];
    }),
  );
  const checkpoint = { policyname: policyName, defaultcpuset: formatCpuSet(shared), entries, checksum: 0 };
  return JSON.stringify({
    policyName,
    defaultCpuSet: checkpoint.defaultcpuset,
    ...(exclusive.length === 0 ? {} : { entries }),
    checksum: checksumOf(checkpoint),
  });
}

/**
 * Returns the hash of a checkpoint's fields in the text form of `k8s.io/utils/dump`, with the type name that Kubernetes
 * used before 1.36.
 */
function checksumOf({ policyname, defaultcpuset, entries }: Checkpoint): number {
  const pods = Object.entries(entries)
    .sort(compareByName)
    .map(([uid, containers]) => {
      const assignments = Object.entries(containers).sort(compareByName);
      return `${uid}:map[${assignments.map(([name, cpus]) => `${name}:${cpus}`).join(' ')}]`;
    });
  return fnv1a(
    `(*state.CPUManagerCheckpoint){PolicyName:(string)${policyname} DefaultCPUSet:(string)${defaultcpuset} Entries:(map[string]map[string]string)map[${pods.join(' ')}] Checksum:(checksum.Checksum)0}`,
  );
}

const compareByName = ([first = '']: readonly unknown[], [second = '']: readonly unknown[]): number =>
  String(first) < String(second) ? -1 : 1;

const sortedNames = (names: readonly string[]): string[] => [...new Set(names)].sort();

const quote = (text: string): string => JSON.stringify(text);

function parseSet(text: string, description: (text: string) => string): CpuSet {
  try {
    return parseCpuSet(text);
  } catch (cause) {
    throw new Error(`${description(text)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Returns an object with lower-case keys, because Go matches the keys of JSON without regard to case. */
const withLowerCaseKeys = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key.toLowerCase(), each]))
    : value;
