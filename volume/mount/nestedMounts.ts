/**
 * Finds mount points inside read-only volumes. They must be created in advance, because the runtime cannot create them.
 */
import path from 'node:path';
import { containersOf } from '../../kubernetes/api/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';

/** Returns the outermost paths inside a volume, relative to it, at which a container of the pod mounts something. */
export function nestedMountPoints({ spec }: Pod, volume: string): string[] {
  const nestedPoints = containersOf(spec).flatMap(({ container: { volumeMounts = [] } }) => {
    const points = volumeMounts.map(({ mountPath }) => path.posix.join('/', mountPath));
    return volumeMounts.flatMap(({ name, mountPath }) =>
      name === volume ? outermostBelow(path.posix.join('/', mountPath), points) : [],
    );
  });
  return [...new Set(nestedPoints)];
}

function outermostBelow(point: string, points: readonly string[]): string[] {
  const nested = points.filter((candidate) => isBelow(candidate, point));
  const outermost = nested.filter((candidate) => !nested.some((container) => isBelow(candidate, container)));
  return outermost.map((candidate) => path.posix.relative(point, candidate));
}

const isBelow = (child: string, parent: string): boolean =>
  child.startsWith(parent === '/' ? parent : `${parent}/`) && child !== parent;
