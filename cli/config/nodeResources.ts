/** The part of the configuration that says how a node shares itself out among its pods. */
import type { Reserved } from '../../pod/allocatable.ts';
import type { ResourceList } from '../../pod/schema/scalars.ts';
import type { ConfigFile } from './readFile.ts';

export interface NodeResources {
  readonly reserved: Reserved;
}

/** A node without any other line evicts below so much free memory. */
const EVICTION_MEMORY = '100Mi';

/** Reads it from the configuration file, with the kubelet's defaults. */
export function nodeResources(file: ConfigFile['config'] | undefined): NodeResources {
  const { evictionHard, mergeDefaultEvictionSettings = false } = file ?? {};
  // A file that names any signal leaves the others without a line, unless it asks for the defaults too.
  const otherwise = evictionHard === undefined || mergeDefaultEvictionSettings ? EVICTION_MEMORY : undefined;
  const evictionHardMemory = evictionHard?.['memory.available'] ?? otherwise;
  return Object.freeze({
    reserved: Object.freeze({
      kubeReserved: amounts(file?.kubeReserved),
      systemReserved: amounts(file?.systemReserved),
      ...(evictionHardMemory === undefined ? {} : { evictionHardMemory }),
    }),
  });
}

function amounts(named: Readonly<Record<string, string | undefined>> = {}): ResourceList {
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}
